"""Results that say more in their markup than in their text, or hide in it."""

import json
import urllib.parse

from shapes import e, pick, shape, ships, where


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


@shape("shadow")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<ship-card><template shadowrootmode=open><h3>{e(it['name'])}</h3><p>{e(where(it))}</p></template></ship-card>"
        for it in rows
    )
    return f"<ship-list>{body}</ship-list>", pick(rows, "name", where)


@shape("frame")
def _(query):
    return f'<iframe title="Results" src="/inner/plain?q={urllib.parse.quote(query)}" width="800" height="600"></iframe>', pick(
        ships(query), "name", where
    )
