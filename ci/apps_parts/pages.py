"""Small pages, each of one shape that real sites use: a server, and what each page shows.

`python3 pages.py PORT` serves them: `/NAME?q=…` is a page with a search field and, once something is searched, its results."""

import dataclasses
import functools
import html
import http.server
import json
import sys
import urllib.parse

import words

SHAPES = {}
FLEETS = ["Meridian", "Tempest", "Halcyon", "Sirius"]
NOTHING = "Zephyr"


@dataclasses.dataclass
class Shape:
    """A page's results for a query, and the rows that they show."""

    name: str
    draw: object
    sentence: str
    more: dict


def shape(name, sentence="Search the ships called {query}", **more):
    def keep(draw):
        SHAPES[name] = Shape(name, draw, sentence, more)
        return draw

    return keep


@functools.lru_cache(maxsize=64)
def ships(query, count=12):
    """Ships whose name begins with the query; the same each time."""
    if query == NOTHING:
        return ()
    by = words.seeded("ships", query)
    return tuple(
        {
            "id": by.randint(1000, 9999),
            "name": f"{query} {by.choice(words.SHIPS)} {at + 10}",
            "kind": by.choice(words.SHIPS),
            "port": by.choice(words.PORTS),
            "berth": by.randint(1, 400),
            "price": by.randint(11, 900) * 10,
            "year": by.randint(1931, 2019),
            "seen": f"2026-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
            "note": by.choice(["new engine", "dry dock", "for charter", "sails torn", ""]),
            "stars": by.randint(1, 5),
        }
        for at in range(count)
    )


def e(value):
    return html.escape(str(value))


def where(it):
    return f"Lies at pier {it['berth']} in {it['port']}"


def pick(rows, *names):
    """Facts of each row, by name; a name may also be a function."""
    return [{getattr(name, "__name__", name): name(it) if callable(name) else it[name] for name in names} for it in rows]


def listed(rows):
    return "".join(f'<li><h3><a href="/ship/{it["id"]}">{e(it["name"])}</a></h3><p>{e(where(it))}</p></li>' for it in rows)


@shape("plain")
def _(query):
    rows = ships(query)
    return f'<ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape("two-lists")
def _(query):
    rows = ships(query)
    lists = "".join(f'<h2>Group {at}</h2><ul class="r">{listed(it)}</ul>' for at, it in enumerate((rows[:6], rows[6:])))
    return lists, pick(rows, "name", where)


@shape("definitions")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<dt><a href="/ship/{it["id"]}">{e(it["name"])}</a></dt><dd class="s">{e(where(it))}</dd>'
        f"<dd>Asks <b>{it['price']}</b> crowns — seen {it['seen']}</dd>"
        for it in rows
    )
    return f'<dl id="results">{body}</dl>', pick(rows, "name", where, "price", "seen")


@shape("zebra")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<tr class="{"odd" if at % 2 else "even"}"><td class="n">{e(it["name"])}</td><td class="w">{e(where(it))}</td></tr>'
        for at, it in enumerate(rows)
    )
    return f'<table id="t"><tbody>{body}</tbody></table>', pick(rows, "name", where)


def cells(rows, *names):
    return "".join("<tr>" + "".join(f"<td>{e(it[name])}</td>" for name in names) + "</tr>" for it in rows)


@shape("table")
def _(query):
    rows = ships(query)
    head = "<tr><th>Name</th><th>Port</th><th>Price</th><th>Built</th></tr>"
    return f"<table>{head}{cells(rows, 'name', 'port', 'price', 'year')}</table>", pick(rows, "name", "port", "price", "year")


@shape("big-table")
def _(query):
    rows = ships(query, 300)
    body = "".join(
        f'<tr data-pad="{"y" * 60}"><td class="n">{e(it["name"])}</td><td class="w">{e(it["port"])}</td><td class="p">{it["price"]}</td></tr>'
        for it in rows
    )
    head = "<thead><tr><th>Name</th><th>Port</th><th>Price</th></tr></thead>"
    return f'<table class="wide">{head}<tbody>{body}</tbody></table>', pick(rows, "name", "port", "price")


@shape("big-list")
def _(query):
    rows = ships(query, 300)
    body = "".join(f'<li data-pad="{"y" * 60}"><h3><a href="/ship/{it["id"]}">{e(it["name"])}</a></h3><p>{e(where(it))}</p></li>' for it in rows)
    return f'<ul class="r">{body}</ul>', pick(rows, "name", where)


@shape("one", "Show the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = (
        f'<article><h2>{e(it["name"])}</h2><p class="lead">{e(where(it))}</p>'
        f"<table><tr><th>Price</th><td>{it['price']}</td></tr><tr><th>Built</th><td>{it['year']}</td></tr></table></article>"
    )
    return body, pick([it], "name", where, "price", "year")


@shape("hashed")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div class="css-{at}x9q8z7"><span class="css-1q2w3e4r">{e(it["name"])}</span>'
        f'<span class="css-9o8i7u6y">{e(it["port"])}</span><span class="css-5t6y7u8i">{it["price"]}</span></div>'
        for at, it in enumerate(rows)
    )
    return f'<div class="sc-1a2b3c4d">{body}</div>', pick(rows, "name", "port", "price")


@shape("row-span", "List the ships called {query} with their ports")
def _(query):
    rows = sorted(ships(query), key=lambda it: it["port"])
    body = ""
    for at, it in enumerate(rows):
        first = at == 0 or rows[at - 1]["port"] != it["port"]
        span = sum(other["port"] == it["port"] for other in rows)
        port = f'<td rowspan="{span}">{e(it["port"])}</td>' if first else ""
        body += f"<tr>{port}<td>{e(it['name'])}</td><td>{it['price']}</td></tr>"
    head = "<thead><tr><th>Port</th><th>Name</th><th>Price</th></tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "port", "price")


@shape("col-span", "List the ships called {query} with their prices")
def _(query):
    rows = sorted(ships(query), key=lambda it: it["port"])
    body = ""
    for at, it in enumerate(rows):
        if at == 0 or rows[at - 1]["port"] != it["port"]:
            body += f'<tr class="part"><th colspan="3">{e(it["port"])}</th></tr>'
        body += f"<tr><td>{e(it['name'])}</td><td>{it['price']}</td><td>{it['year']}</td></tr>"
    head = "<thead><tr><th>Name</th><th>Price</th><th>Built</th></tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "price", "year")


@shape("several-dd")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<dt>{e(it['name'])}</dt><dd>{e(it['port'])}</dd><dd>{it['price']}</dd>" + (f"<dd>{e(it['note'])}</dd>" if it["note"] else "") for it in rows
    )
    return f"<dl>{body}</dl>", pick(rows, "name", "port", "price", "note")


@shape("cards")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div class="_col_1x8rt"><div class="_card_k3v9q"><a class="_media_a81kz" href="/ship/{it["id"]}"><img src="/i/{it["id"]}.png" alt=""></a>'
        f'<div class="_body_mm2p1"><div class="_title_q0z7e">{e(it["name"])}</div><div class="_meta_w5s2b"><span>{e(it["port"])}</span> · '
        f'<span>{it["year"]}</span></div><div class="_price_h4d6n">€ {it["price"]:,}</div><button>Save</button></div></div></div>'
        for it in rows
    )
    return f'<div class="_grid_t7y3u">{body}</div>', pick(rows, "name", "port", "year", "price")


@shape("groups", "Find the ships called {query}")
def _(query):
    rows = sorted(ships(query), key=lambda it: it["port"])
    ports = sorted({it["port"] for it in rows})
    body = "".join(f'<section><h2>{e(port)}</h2><ul>{listed([it for it in rows if it["port"] == port])}</ul></section>' for port in ports)
    return body, pick(rows, "name", where)


@shape("two-rows")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<tr class="thing" id="{it["id"]}"><td class="rank">{at}.</td><td class="title"><a href="/ship/{it["id"]}">{e(it["name"])}</a></td></tr>'
        f'<tr><td></td><td class="sub"><span class="score">{it["price"]} points</span> in <a>{e(it["port"])}</a> | <a>hide</a></td></tr>'
        f'<tr class="spacer" style="height:5px"></tr>'
        for at, it in enumerate(rows, 1)
    )
    return f'<table class="list"><tbody>{body}</tbody></table>', pick(rows, "name", "price", "port")


@shape("nested")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<li><strong>{e(it['name'])}</strong><ul><li>{e(it['port'])}</li><li>berth {it['berth']}</li><li>built {it['year']}</li></ul></li>" for it in rows
    )
    return f'<ul class="tree">{body}</ul>', pick(rows, "name", "port", "berth", "year")


@shape("microdata")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div itemscope itemtype="https://schema.test/Product"><h3 itemprop="name">{e(it["name"])}</h3><span itemprop="category">{e(it["kind"])}</span>'
        f' <span itemprop="offers" itemscope><meta itemprop="priceCurrency" content="EUR"><span itemprop="price" content="{it["price"]}">{it["price"]} euro</span></span></div>'
        for it in rows
    )
    return body, pick(rows, "name", "kind", "price")


@shape("json-ld")
def _(query):
    rows = ships(query)
    items = [{"@type": "ListItem", "position": at, "name": it["name"], "url": f"/ship/{it['id']}"} for at, it in enumerate(rows, 1)]
    linked = json.dumps({"@context": "https://schema.test", "@type": "ItemList", "itemListElement": items})
    body = "".join(f'<article><h3>{e(it["name"])}</h3><p>{e(where(it))}</p><p class="p">{it["price"]}</p></article>' for it in rows)
    return f'<script type="application/ld+json">{linked}</script><div class="hits">{body}</div>', pick(rows, "name", where, "price")


@shape("rdfa")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div typeof="Vehicle" resource="/ship/{it["id"]}"><span property="name">{e(it["name"])}</span> <span property="fuelType">{e(it["kind"])}</span> '
        f'<span property="price" content="{it["price"]}">€ {it["price"]}</span></div>'
        for it in rows
    )
    return f'<div vocab="https://schema.test/">{body}</div>', pick(rows, "name", "kind", "price")


@shape("times", "Search the ships called {query} and when each was seen")
def _(query):
    rows = ships(query)
    months = "January February March April May June July August September October November December".split()

    def seen(it):
        year, month, day = it["seen"].split("-")
        return {it["seen"], f"{int(day)} {months[int(month) - 1]} {year}"}

    def shown(it):
        year, month, day = it["seen"].split("-")
        return f"{int(day)} {months[int(month) - 1]} {year}"

    body = "".join(
        f'<article class="hit"><h3>{e(it["name"])}</h3><p>Seen on <time datetime="{it["seen"]}T08:00:00Z">{shown(it)}</time> in {e(it["port"])}</p></article>'
        for it in rows
    )
    return f'<div class="hits">{body}</div>', pick(rows, "name", seen, "port")


@shape("data-attributes")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div class="hit" data-id="{it["id"]}" data-price="{it["price"]}" data-port="{e(it["port"])}"><b>{e(it["name"])}</b>'
        f"<i>{e(it['port'])}</i><em>{it['price']} €</em></div>"
        for it in rows
    )
    return f'<div id="hits" data-total="{len(rows)}">{body}</div>', pick(rows, "name", "port", "price")


@shape("images")
def _(query):
    rows = ships(query)

    def rated(it):
        return f"{it['stars']} of 5 stars"

    body = "".join(
        f'<li><img src="/i/{it["id"]}.jpg" alt="{e(it["name"])}" width="80" height="60"><span>{e(it["port"])}</span>'
        f'<img src="/stars/{it["stars"]}.svg" alt="{rated(it)}" width="50" height="10"></li>'
        for it in rows
    )
    return f'<ul class="gallery">{body}</ul>', pick(rows, "name", "port", rated)


@shape("optional")
def _(query):
    rows = ships(query)
    body = "".join(
        '<div class="hit">'
        + ('<span class="badge">Top</span>' if it["stars"] == 5 else "")
        + f'<h4>{e(it["name"])}</h4>'
        + (f'<p class="note">{e(it["note"])}</p>' if it["note"] else "")
        + f'<span class="port">{e(it["port"])}</span>'
        + (f'<span class="old">{it["price"] + 100}</span>' if it["stars"] < 3 else "")
        + f'<span class="price">{it["price"]}</span></div>'
        for it in rows
    )

    def old(it):
        return it["price"] + 100 if it["stars"] < 3 else ""

    return f'<div class="hits">{body}</div>', pick(rows, "name", "note", "port", "price", old)


@shape("marked")
def _(query):
    rows = ships(query)
    body = ""
    for at, it in enumerate(rows):
        name = e(it["name"]).replace(e(query), f"<mark>{e(query)}</mark>") if at % 3 else e(it["name"])
        text = e(where(it)).replace("berth", "<b>berth</b>") if at % 2 else e(where(it))
        body += f'<li><a href="/ship/{it["id"]}">{name}</a><p>{text}</p></li>'
    return f'<ol class="hits">{body}</ol>', pick(rows, "name", where)


@shape("record-dl", "Show the papers of the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = f"<h2>{e(it['name'])}</h2><dl>" + "".join(
        f"<dt>{label}</dt><dd>{e(it[name])}</dd>" for label, name in (("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"), ("Last seen", "seen"))
    )
    return body + "</dl>", pick([it], "name", "kind", "port", "price", "year", "seen")


@shape("record-table", "Show the papers of the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = '<table class="infobox"><caption>' + e(it["name"]) + "</caption><tbody>" + "".join(
        f'<tr><th scope="row">{label}</th><td>{e(it[name])}</td></tr>'
        for label, name in (("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"), ("Last seen", "seen"))
    )
    return body + "</tbody></table>", pick([it], "name", "kind", "port", "price", "year", "seen")


@shape("record-divs", "Show the papers of the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = f'<div class="panel"><h1 class="t">{e(it["name"])}</h1>' + "".join(
        f'<div class="row"><div class="label">{label}</div><div class="value">{e(it[name])}</div></div>'
        for label, name in (("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"), ("Last seen", "seen"))
    )
    return body + "</div>", pick([it], "name", "kind", "port", "price", "year", "seen")


@shape("shadow")
def _(query):
    rows = ships(query)
    body = "".join(f"<ship-card><template shadowrootmode=open><h3>{e(it['name'])}</h3><p>{e(where(it))}</p></template></ship-card>" for it in rows)
    return f"<ship-list>{body}</ship-list>", pick(rows, "name", where)


@shape("frame")
def _(query):
    return f'<iframe title="Results" src="/inner/plain?q={urllib.parse.quote(query)}" width="800" height="600"></iframe>', pick(ships(query), "name", where)


@shape("links")
def _(query):
    rows = ships(query)
    side = "".join(f'<li><a href="/port/{it}">{it}</a></li>' for it in words.PORTS)
    body = "".join(f'<li><a href="/ship/{it["id"]}">{e(it["name"])}</a></li>' for it in rows)
    return f'<aside><ul>{side}</ul></aside><ul class="found">{body}</ul>', pick(rows, "name")


@shape("ads")
def _(query):
    rows = ships(query)
    body = ""
    for at, it in enumerate(rows):
        body += f'<li class="hit"><h3>{e(it["name"])}</h3><p>{e(where(it))}</p></li>'
        if at % 4 == 3:
            body += '<li class="ad"><h3>Ropes and paint</h3><p>Sponsored. Everything for the deck.</p></li>'
    return f'<ul class="r">{body}</ul>', pick(rows, "name", where)


@shape("several-tables", "List the ships called {query} with their prices")
def _(query):
    rows = ships(query)
    ports = words.seeded("traffic", query).sample(words.PORTS, 6)
    tides = "<table class='side'><tr><th>Port</th><th>Tide</th></tr>" + "".join(f"<tr><td>{it}</td><td>{len(it)}:30</td></tr>" for it in ports) + "</table>"
    menu = "<table class='menu'><tr><td>Home</td><td>Ships</td><td>Ports</td></tr></table>"
    main = f"<table class='main'><tr><th>Name</th><th>Price</th><th>Built</th></tr>{cells(rows, 'name', 'price', 'year')}</table>"
    legend = "<table class='legend'><tr><th>Sign</th><th>Meaning</th></tr><tr><td>*</td><td>for sale</td></tr><tr><td>+</td><td>for charter</td></tr></table>"
    return menu + tides + main + legend, pick(rows, "name", "price", "year")


@shape("empty", examples=["Meridian", "Tempest", "Halcyon", NOTHING])
def _(query):
    rows = ships(query)
    if not rows:
        return f'<p class="none">No results for “{e(query)}”. Try another name.</p>', []
    return f'<p class="count">{len(rows)} ships</p><ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape("calendar", "Show in a calendar when ships called {query} sail")
def _(query):
    by = words.seeded("calendar", query)
    days = {it: (f"{it}", by.choice(words.SHIPS), by.choice(words.PORTS)) if by.random() < 0.7 else (f"{it}",) for it in range(1, 36)}
    weeks = [[days[week * 7 + day] for day in range(1, 8)] for week in range(5)]
    body = "".join(
        "<tr>"
        + "".join(f'<td><span class="d">{it[0]}</span>' + (f"<div>{it[1]} to {it[2]}</div>" if len(it) > 1 else "") + "</td>" for it in week)
        + "</tr>"
        for week in weeks
    )
    head = "<thead><tr>" + "".join(f"<th>{it}</th>" for it in "Mon Tue Wed Thu Fri Sat Sun".split()) + "</tr></thead>"
    as_weeks = [{f"day {it[0]}": f"{it[0]} {it[1]} to {it[2]}" if len(it) > 1 else it[0] for it in week} for week in weeks]
    as_days = [{"day": it[0], "sails": f"{it[1]} to {it[2]}" if len(it) > 1 else ""} for week in weeks for it in week]
    return f'<table class="month">{head}<tbody>{body}</tbody></table>', (as_weeks, as_days, [it for it in as_days if it["sails"]])


@shape("two-headers", "List the ships called {query} with their prices")
def _(query):
    rows = ships(query)
    head = '<thead><tr><th rowspan="2">Name</th><th colspan="2">Money</th><th rowspan="2">Built</th></tr><tr><th>Price</th><th>Fee</th></tr></thead>'
    body = "".join(f"<tr><td>{e(it['name'])}</td><td>{it['price']}</td><td>{it['price'] // 10}</td><td>{it['year']}</td></tr>" for it in rows)
    total = sum(it["price"] for it in rows)
    foot = f"<tfoot><tr><th>Total</th><td>{total}</td><td>{total // 10}</td><td></td></tr></tfoot>"

    def fee(it):
        return it["price"] // 10

    return f"<table>{head}<tbody>{body}</tbody>{foot}</table>", pick(rows, "name", "price", fee, "year")


@shape("load-more")
def _(query):
    rows = ships(query, 30)
    body = f'<ul class="r" id="r">{listed(rows[:10])}</ul><button id="more">Load more</button>'
    script = (
        "<script>let p=1;document.getElementById('more').onclick=async()=>{const a=await fetch('/part/load-more?page='+(++p)+'&q='+encodeURIComponent("
        + json.dumps(query)
        + "));document.getElementById('r').insertAdjacentHTML('beforeend',await a.text())}</script>"
    )
    return body + script, pick(rows[:10], "name", where)


def from_json(name, draw):
    """A page whose script asks `/api/NAME` and draws what comes."""
    return (
        '<p id="told"></p><div id="out"></div><script>const draw=r=>'
        + draw
        + f";document.querySelector('form').addEventListener('submit',async ev=>{{ev.preventDefault();const q=document.querySelector('input').value;"
        f"const a=await fetch('/api/{name}?q='+encodeURIComponent(q));const j=await a.json();document.getElementById('out').innerHTML=draw(j.ships);"
        "document.getElementById('told').textContent='Results for '+q})</script>"
    )


@shape("client", script=from_json("client", "'<ul>'+r.map(s=>`<li><b>${s.name}</b> ${s.port} <i>${s.price} €</i></li>`).join('')+'</ul>'"))
def _(query):
    return "", pick(ships(query), "name", "port", "price")


@shape(
    "fragment",
    script="<p id='told'></p><div id='out'></div><script>document.querySelector('form').addEventListener('submit',async ev=>{ev.preventDefault();"
    "const q=document.querySelector('input').value;const a=await fetch('/part/plain?q='+encodeURIComponent(q),{headers:{'x-requested-with':'fetch'}});"
    "document.getElementById('out').innerHTML=await a.text();document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(ships(query), "name", where)


@shape("posted", method="post")
def _(query):
    rows = ships(query)
    return f'<ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape("embedded")
def _(query):
    rows = ships(query)
    state = json.dumps({"build": "b1", "props": {"query": query, "ships": [{name: it[name] for name in ("id", "name", "port", "price")} for it in rows]}})
    script = (
        "<script>const s=JSON.parse(document.getElementById('state').textContent);document.getElementById('out').innerHTML='<ul>'+"
        "s.props.ships.map(it=>`<li><b>${it.name}</b> ${it.port}, ${it.price} €</li>`).join('')+'</ul>'</script>"
    )
    return f'<div id="out"></div><script type="application/json" id="state">{state}</script>{script}', pick(rows, "name", "port", "price")


@shape("choice", "List the ships in {port}", param="port", examples=["Gdynia", "Malmo", "Trieste", "Bilbao"], field="select")
def _(query):
    rows = ships(query)
    return f'<ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape("slug", "Show the port {port}", param="port", examples=["Old Harbour", "North Quay", "Fish Market", "Stone Pier"], field="links", one=True)
def _(query):
    it = ships(query)[3]
    body = f"<p>Guide to {e(query)}</p><dl><dt>Depth</dt><dd>{it['berth']} feet</dd><dt>Fee</dt><dd>{it['price']} crowns</dd><dt>Opened</dt><dd>{it['year']}</dd></dl>"
    return body, [{"name": query, "depth": it["berth"], "fee": it["price"], "opened": it["year"]}]


@shape(
    "in-the-browser",
    answerable=False,
    because="the page searches an index that it loads whole",
    script="<p id='told'></p><div id='out'></div><script>let all;fetch('/api/all').then(a=>a.json()).then(j=>all=j.ships);"
    "document.querySelector('form').addEventListener('submit',ev=>{ev.preventDefault();const q=document.querySelector('input').value;"
    "document.getElementById('out').innerHTML='<ul>'+all.filter(s=>s.name.includes(q)).map(s=>`<li><b>${s.name}</b> ${s.port}</li>`).join('')+'</ul>';"
    "document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(ships(query), "name", "port")


@shape("change", "Put the ship {query} on my list", answerable=False, because="it changes something", method="post", min_items=None)
def _(query):
    return "<p>Added. Your list has one more ship.</p>", []


@shape(
    "two-calls",
    "Show the log of the ship {query}",
    answerable=False,
    because="the second request needs an id that the first one gave",
    script="<p id='told'></p><div id='out'></div><script>document.querySelector('form').addEventListener('submit',async ev=>{ev.preventDefault();"
    "const q=document.querySelector('input').value;const f=await (await fetch('/api/find?q='+encodeURIComponent(q))).json();"
    "const j=await (await fetch('/api/log/'+f.ref)).json();document.getElementById('out').innerHTML='<ul>'+j.log.map(s=>`<li><b>${s.day}</b> ${s.what}</li>`).join('')+'</ul>';"
    "document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(logbook(query), "day", "what")


def logbook(query):
    by = words.seeded("log", query)
    return [{"day": f"2026-03-{it:02}", "what": f"{by.choice(words.GEAR)} checked in {by.choice(words.PORTS)}"} for it in range(1, 10)]


def ref(query):
    return f"{words.seeded('ref', query).getrandbits(48):012x}"


def slug(text):
    return text.lower().replace(" ", "-")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="text/html; charset=utf-8", status=200):
        body = body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        self.answer(urllib.parse.parse_qs(self.rfile.read(length).decode()))

    def do_GET(self):
        self.answer(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query))

    def answer(self, query):
        parts = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        asked = (query.get("q") or query.get("port") or [""])[0]
        first, last = parts[0], parts[-1]
        if first == "api":
            return self.send(json.dumps(self.api(last, asked)), "application/json")
        if first == "part":
            at = int((query.get("page") or ["0"])[0])
            rows = ships(asked, 30)[10 * at - 10 : 10 * at] if at else ships(asked)
            return self.send(listed(rows) if at else f'<ul class="r">{listed(rows)}</ul>')
        if first == "inner":
            return self.send(f"<!doctype html><html lang=en><title>Results</title><body><ul class=r>{listed(ships(asked))}</ul></body></html>")
        if first in SHAPES:
            return self.send(self.page(SHAPES[first], last if len(parts) > 1 else "", asked))
        return self.send("<!doctype html><title>Nothing here</title>", status=404 if first else 200)

    @staticmethod
    def api(last, asked):
        if last == "all":
            return {"ships": [it for fleet in FLEETS for it in ships(fleet)]}
        if last == "find":
            return {"ref": ref(asked)}
        known = {ref(it): it for it in FLEETS}
        if last in known:
            return {"log": logbook(known[last])}
        return {"ships": ships(asked), "took": 3}

    @staticmethod
    def page(it, last, asked):
        examples = it.more.get("examples", FLEETS)
        field = it.more.get("field", "search")
        if field == "select":
            # The value that is sent is no word of the page.
            options = "".join(f'<option value="{100 + 7 * at}">{name}</option>' for at, name in enumerate(words.PORTS))
            form = f'<form><label>Port <select name="port">{options}</select></label><button>Show</button></form>'
            asked = words.PORTS[(int(asked) - 100) // 7] if asked else ""
        elif field == "links":
            form = "<ul>" + "".join(f'<li><a href="/{it.name}/{slug(name)}">{name}</a></li>' for name in examples) + "</ul>"
            asked = next((name for name in examples if slug(name) == last), "")
        else:
            method = it.more.get("method", "get")
            form = f'<form method="{method}" action="/{it.name}"><input type="search" name="q" aria-label="Search"><button>Go</button></form>'
        script = it.more.get("script", "")
        body = f"<h1>Results for {e(asked)}</h1>{it.draw(asked)[0]}" if asked and not script else "<h1>Find</h1>"
        return (
            f'<!doctype html><html lang="en"><head><title>{it.name}</title></head><body><header><nav><a href="/">Home</a> <a href="/about">About</a></nav>'
            f"</header><main>{form}{body}{script}</main><footer><a href='/terms'>Terms</a></footer></body></html>"
        )


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
