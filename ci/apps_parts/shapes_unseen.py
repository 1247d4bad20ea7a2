"""Pages that were written after everything else was done and measured as they are: nothing is tuned to them."""

from shapes import e, pick, shape, ships


def drawn(name, rows, draw, ask="?q='+encodeURIComponent(q)+'"):
    return (
        '<p id="told"></p><section id="out"></section><script>document.querySelector("form").addEventListener("submit",async ev=>{ev.preventDefault();'
        f"const q=document.querySelector('input').value;const j=await(await fetch('/api/{name}{ask}')).json();"
        f"document.getElementById('out').innerHTML={rows}.map(r=>{draw}).join('');document.getElementById('told').textContent='Results for '+q}})</script>"
    )


@shape("json-api", script=drawn("json-api", "j.data", "`<article><h3>${r.attributes.name}</h3><p>${r.attributes.port}</p></article>`"))
def _(query):
    return "", pick(ships(query), "name", "port")


@shape("hal", script=drawn("hal", "j._embedded.ships", "`<div class=row><a href='${r._links.self.href}'>${r.name}</a> <span>${r.year}</span></div>`"))
def _(query):
    return "", pick(ships(query), "name", "year")


@shape("elastic", script=drawn("elastic", "j.hits.hits", "`<li><b>${r._source.name}</b> ${r._source.port}</li>`"))
def _(query):
    return "", pick(ships(query), "name", "port")


@shape("by-id", script=drawn("by-id", "Object.values(j.ships)", "`<p><b>${r.name}</b> built ${r.year}</p>`"))
def _(query):
    return "", pick(ships(query), "name", "year")


@shape("relay", script=drawn("relay", "j.data.search.edges", "`<div class=card><h4>${r.node.name}</h4><small>${r.node.port}</small></div>`"))
def _(query):
    return "", pick(ships(query), "name", "port")


@shape("timeline", "Show when the ships called {query} were seen")
def _(query):
    rows = ships(query)
    body = "".join(f'<li><time datetime="{it["seen"]}">{it["seen"]}</time><div><strong>{e(it["name"])}</strong> in {e(it["port"])}</div></li>' for it in rows)
    return f'<ol class="timeline">{body}</ol>', pick(rows, "seen", "name", "port")


@shape("details")
def _(query):
    rows = ships(query)
    body = "".join(f"<details open><summary>{e(it['name'])}</summary><p>{e(it['port'])}, {it['price']} crowns</p></details>" for it in rows)
    return f"<div>{body}</div>", pick(rows, "name", "port", "price")


@shape("grid-roles")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div role="row"><span role="cell">{e(it["name"])}</span><span role="cell">{e(it["port"])}</span><span role="cell">{it["year"]}</span></div>' for it in rows
    )
    head = '<div role="row"><span role="columnheader">Name</span><span role="columnheader">Port</span><span role="columnheader">Built</span></div>'
    return f'<div role="table">{head}{body}</div>', pick(rows, "name", "port", "year")


@shape("figures")
def _(query):
    rows = ships(query)
    body = "".join(f'<figure><img src="/i/{it["id"]}.png" alt=""><figcaption>{e(it["name"])}<br>{e(it["port"])}</figcaption></figure>' for it in rows)
    return f"<div class=wall>{body}</div>", pick(rows, "name", "port")


@shape("pre-lines")
def _(query):
    rows = ships(query)
    body = "".join(f'<p class="line"><tt>{it["id"]}</tt> <a href="/ship/{it["id"]}">{e(it["name"])}</a> &mdash; {e(it["port"])} ({it["year"]})</p>' for it in rows)
    return f"<div>{body}<hr></div>", pick(rows, "id", "name", "port", "year")


APIS = {
    "json-api": lambda rows: {
        "jsonapi": {"version": "1.1"},
        "data": [{"type": "ship", "id": str(it["id"]), "attributes": {name: it[name] for name in ("name", "port", "year")}} for it in rows],
        "meta": {"count": len(rows)},
    },
    "hal": lambda rows: {
        "_links": {"self": {"href": "/"}},
        "_embedded": {"ships": [{"name": it["name"], "year": it["year"], "_links": {"self": {"href": f"/ship/{it['id']}"}}} for it in rows]},
        "page": {"size": 20, "totalElements": len(rows), "totalPages": 1, "number": 0},
    },
    "elastic": lambda rows: {
        "took": 4,
        "hits": {"total": {"value": len(rows), "relation": "eq"}, "hits": [{"_id": it["id"], "_score": 1.5, "_source": {"name": it["name"], "port": it["port"]}} for it in rows]},
    },
    "by-id": lambda rows: {"ships": {str(it["id"]): {"name": it["name"], "year": it["year"]} for it in rows}, "order": [it["id"] for it in rows]},
    "relay": lambda rows: {
        "data": {
            "search": {
                "totalCount": len(rows),
                "pageInfo": {"hasNextPage": False, "endCursor": "Y3Vy"},
                "edges": [{"cursor": f"c{at}", "node": {"name": it["name"], "port": it["port"]}} for at, it in enumerate(rows)],
            }
        }
    },
}
