"""Results in lists and cards."""

import words
from shapes import NOTHING, e, listed, pick, shape, ships, where


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


@shape("big-list")
def _(query):
    rows = ships(query, 300)
    body = "".join(
        f'<li data-pad="{"y" * 60}"><h3><a href="/ship/{it["id"]}">{e(it["name"])}</a></h3><p>{e(where(it))}</p></li>'
        for it in rows
    )
    return f'<ul class="r">{body}</ul>', pick(rows, "name", where)


@shape("hashed")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<div class="css-{at}x9q8z7"><span class="css-1q2w3e4r">{e(it["name"])}</span>'
        f'<span class="css-9o8i7u6y">{e(it["port"])}</span><span class="css-5t6y7u8i">{it["price"]}</span></div>'
        for at, it in enumerate(rows)
    )
    return f'<div class="sc-1a2b3c4d">{body}</div>', pick(rows, "name", "port", "price")


@shape("several-dd")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<dt>{e(it['name'])}</dt><dd>{e(it['port'])}</dd><dd>{it['price']}</dd>"
        + (f"<dd>{e(it['note'])}</dd>" if it["note"] else "")
        for it in rows
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
    body = "".join(
        f"<section><h2>{e(port)}</h2><ul>{listed([it for it in rows if it['port'] == port])}</ul></section>" for port in ports
    )
    return body, pick(rows, "name", where)


@shape("nested")
def _(query):
    rows = ships(query)
    body = "".join(
        f"<li><strong>{e(it['name'])}</strong><ul><li>{e(it['port'])}</li><li>berth {it['berth']}</li><li>built {it['year']}</li></ul></li>"
        for it in rows
    )
    return f'<ul class="tree">{body}</ul>', pick(rows, "name", "port", "berth", "year")


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
        + f"<h4>{e(it['name'])}</h4>"
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


@shape("empty", examples=["Meridian", "Tempest", "Halcyon", NOTHING])
def _(query):
    rows = ships(query)
    if not rows:
        return f'<p class="none">No results for “{e(query)}”. Try another name.</p>', []
    return f'<p class="count">{len(rows)} ships</p><ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)
