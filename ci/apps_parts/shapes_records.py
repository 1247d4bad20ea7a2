"""One record on a page."""

from shapes import e, pick, shape, ships, where


@shape("one", "Show the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = (
        f'<article><h2>{e(it["name"])}</h2><p class="lead">{e(where(it))}</p>'
        f"<table><tr><th>Price</th><td>{it['price']}</td></tr><tr><th>Built</th><td>{it['year']}</td></tr></table></article>"
    )
    return body, pick([it], "name", where, "price", "year")


@shape("record-dl", "Show the papers of the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = f"<h2>{e(it['name'])}</h2><dl>" + "".join(
        f"<dt>{label}</dt><dd>{e(it[name])}</dd>"
        for label, name in (("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"), ("Last seen", "seen"))
    )
    return body + "</dl>", pick([it], "name", "kind", "port", "price", "year", "seen")


@shape("record-table", "Show the papers of the ship {query}", one=True)
def _(query):
    it = ships(query)[0]
    body = (
        '<table class="infobox"><caption>'
        + e(it["name"])
        + "</caption><tbody>"
        + "".join(
            f'<tr><th scope="row">{label}</th><td>{e(it[name])}</td></tr>'
            for label, name in (("Kind", "kind"), ("Port", "port"), ("Price", "price"), ("Built", "year"), ("Last seen", "seen"))
        )
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


@shape(
    "slug",
    "Show the port {port}",
    param="port",
    examples=["Old Harbour", "North Quay", "Fish Market", "Stone Pier"],
    field="links",
    one=True,
)
def _(query):
    it = ships(query)[3]
    body = f"<p>Guide to {e(query)}</p><dl><dt>Depth</dt><dd>{it['berth']} feet</dd><dt>Fee</dt><dd>{it['price']} crowns</dd><dt>Opened</dt><dd>{it['year']}</dd></dl>"
    return body, [{"name": query, "depth": it["berth"], "fee": it["price"], "opened": it["year"]}]
