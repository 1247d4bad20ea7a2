"""Structure that is easily misread: texts in buttons, tables within tables, rows that name others, classes that say a state."""

import json

from shapes import e, pick, shape, ships


@shape("accordion")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div class="item"><h3><button type="button" aria-expanded="true"><span>{e(it["name"])}</span></button></h3>'
        f'<div class="panel"><p>Lies in {e(it["port"])} since {it["year"]}</p></div></div>'
        for it in rows
    )

    def since(it):
        return f"Lies in {it['port']} since {it['year']}"

    return f'<div class="accordion">{body}</div>', pick(rows, "name", since)


@shape("glued", "List the ships called {query} with kind and port")
def _(query):
    rows = ships(query)
    style = "<style>td span{margin-right:1em}</style>"
    body = "".join(f"<tr><td>{e(it['name'])}</td><td><span>{e(it['kind'])}</span><span>{e(it['port'])}</span></td></tr>" for it in rows)
    head = "<thead><tr><th>Name</th><th>Kind and port</th></tr></thead>"
    return f"{style}<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "kind", "port")


@shape("table-in-cells", "List the ships called {query} with their prices")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<tr><td>{e(it['name'])}</td><td><table><tr><td>in summer</td><td>{it['price']}</td></tr><tr><td>in winter</td><td>{it['price'] // 2}</td></tr></table></td>"
        f"<td>{e(it['port'])}</td></tr>"
        for it in rows
    )

    def winter(it):
        return it["price"] // 2

    head = "<thead><tr><th>Name</th><th>Prices</th><th>Port</th></tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "price", winter, "port")


def by_port(query, head):
    rows = sorted(ships(query), key=lambda it: it["port"])
    body = ""
    for at, it in enumerate(rows):
        if at == 0 or rows[at - 1]["port"] != it["port"]:
            body += head(it["port"])
        body += f"<tr><td>{e(it['name'])}</td><td>{it['price']}</td><td>{it['year']}</td></tr>"
    titles = "<thead><tr><th>Name</th><th>Price</th><th>Built</th></tr></thead>"
    return f"<table>{titles}<tbody>{body}</tbody></table>", pick(rows, "name", "price", "year")


@shape("lone-cell", "List the ships called {query} with their prices")
def _(query):
    return by_port(query, lambda port: f"<tr><td>{e(port)}</td></tr>")


@shape("bold-row", "List the ships called {query} with their prices")
def _(query):
    return by_port(query, lambda port: f"<tr><td><b>{e(port)}</b></td><td></td><td></td></tr>")


STATES = {"Meridian": ["open", "closed"], "Tempest": ["closed", "open"], "Halcyon": ["merged", "open"], "Sirius": ["draft", "merged"]}


@shape("states", "List the ships called {query} with their state")
def _(query):
    rows = [{**it, "state": STATES.get(query, ["open"])[at % 2]} for at, it in enumerate(ships(query))]
    body = "".join(
        f'<li><a href="/ship/{it["id"]}">{e(it["name"])}</a><span class="state state-{it["state"]}">{it["state"].title()}</span></li>' for it in rows
    )
    return f'<ul class="r">{body}</ul>', pick(rows, "name", "state")


@shape("only-states", "List the ships called {query} with their state")
def _(query):
    rows = [{**it, "state": STATES.get(query, ["open"])[at % 2]} for at, it in enumerate(ships(query))]
    body = "".join(f'<li><b class="name">{e(it["name"])}</b> <em class="{it["state"]}">{it["state"]}</em></li>' for it in rows)
    return f'<ul class="r">{body}</ul>', pick(rows, "name", "state")


@shape("value-in-class")
def _(query):
    rows = ships(query)
    slug = query.lower()
    body = "".join(f'<div class="{slug}-ship"><h4>{e(it["name"])}</h4><p>{e(it["port"])}</p></div>' for it in rows)
    return f'<div class="of-{slug}" id="{slug}">{body}</div>', pick(rows, "name", "port")


@shape("outputs", "Show the papers of the ship {query}", one=True)
def _(query):
    rows = ships(query)
    if not rows:
        return "<p>None.</p>", []
    it = rows[0]
    body = "".join(
        f"<p><label>{label}</label> <output>{e(it[name])}</output></p>"
        for label, name in (("Name", "name"), ("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"))
    )
    return f'<div class="papers">{body}</div>', pick([it], "name", "kind", "port", "price", "year")


def scripted(name, rows):
    return (
        '<p id="told"></p><div id="out"></div><script>document.querySelector("form").addEventListener("submit",async ev=>{ev.preventDefault();'
        f"const q=document.querySelector('input').value;const j=await(await fetch('/api/{name}?q='+encodeURIComponent(q))).json();"
        f"document.getElementById('out').innerHTML='<ul>'+{rows}.join('')+'</ul>';document.getElementById('told').textContent='Results for '+q}})</script>"
    )


@shape("nameless", script=scripted("nameless", "j.rows.map(r=>`<li><b>${r[1]}</b> ${r[2]} <i>${r[3]}</i></li>`)"))
def _(query):
    return "", pick(ships(query), "name", "port", "price")


@shape("columns", script=scripted("columns", "j.name.map((n,i)=>`<li><b>${n}</b> ${j.port[i]} <i>${j.price[i]}</i></li>`)"), answerable=False, because="its columns are apart")
def _(query):
    return "", pick(ships(query), "name", "port", "price")


@shape(
    "client-route",
    script='<p id="told"></p><div id="out"></div><script>document.querySelector("form").addEventListener("submit",async ev=>{ev.preventDefault();'
    "const q=document.querySelector('input').value;history.pushState({},'','/client-route?q='+encodeURIComponent(q));"
    "const d=(await(await fetch('/api/graph?q='+encodeURIComponent(q))).json()).nodes[0].data;const at=i=>d[i];"
    "document.getElementById('out').innerHTML='<ul class=r>'+at(at(0).ships).map(i=>at(i)).map(s=>`<li><h3>${at(s.name)}</h3><p>${at(s.port)}</p></li>`).join('')+'</ul>';"
    "document.getElementById('told').textContent='Results for '+q})</script>",
    server=lambda query: f"<h1>Results for {e(query)}</h1><ul class=r>" + "".join(f"<li><h3>{e(it['name'])}</h3><p>{e(it['port'])}</p></li>" for it in ships(query)) + "</ul>",
)
def _(query):
    return "", pick(ships(query), "name", "port")


FLOTS = ["Балтика", "Волга", "Онега", "Ладога"]


@shape("cyrillic", "Найди корабли {query}", examples=FLOTS, charset="windows-1251")
def _(query):
    rows = ships(query)
    body = "".join(f"<li><h3>{e(it['name'])}</h3><p>Порт {e(it['port'])}, {it['price']} руб.</p></li>" for it in rows)

    def at(it):
        return f"Порт {it['port']}"

    return (f'<ul class="r">{body}</ul>' if rows else "<p>Ничего не найдено</p>"), pick(rows, "name", at, "price")


@shape("cyrillic-posted", "Найди корабли {query}", examples=FLOTS, charset="koi8-r", method="post")
def _(query):
    rows = ships(query)
    body = "".join(f"<tr><td>{e(it['name'])}</td><td>{e(it['port'])}</td></tr>" for it in rows)
    return (f"<table><tr><th>Имя</th><th>Порт</th></tr>{body}</table>" if rows else "<p>Ничего не найдено</p>"), pick(rows, "name", "port")


def graph(rows):
    """Values that refer to one another by number."""
    data = [{"ships": 1}, []]
    for it in rows:
        at = len(data)
        data[1].append(at)
        data += [{"name": at + 1, "port": at + 2}, it["name"], it["port"]]
    return {"type": "data", "nodes": [{"type": "data", "data": data}]}


APIS = {
    "graph": graph,
    "nameless": lambda rows: {"columns": ["id", "name", "port", "price"], "rows": [[it["id"], it["name"], it["port"], it["price"]] for it in rows]},
    "columns": lambda rows: {name: [it[name] for it in rows] for name in ("name", "port", "price")},
}


def api(name, query):
    return json.loads(json.dumps(APIS[name](ships(query))))


