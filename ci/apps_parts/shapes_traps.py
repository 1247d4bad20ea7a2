"""Shapes whose obvious reading loses a part: heads that count, columns that only lay out, words lit up, what a script writes."""

import datetime

from shapes import cells, e, pick, shape, ships


@shape("counted-head")
def _(query):
    rows = ships(query)
    count = len(rows) * 3 + len(query)
    head = f"<tr><th>Total: {count} ships in port</th><th>Port</th><th>Price</th></tr>"
    return f'<table class="data">{head}{cells(rows, "name", "port", "price")}</table>', pick(rows, "name", "port", "price")


@shape("layout-columns")
def _(query):
    rows = ships(query, 7 + len(query) % 3)

    def entry(it):
        tags = "".join(f'<span class="tag">{e(tag)}</span> ' for tag in (it["kind"], it["year"]))
        return f'<div class="entry"><div class="name"><a href="/ship/{it["id"]}">{e(it["name"])}</a></div><p>{e(it["port"])}</p><div>{tags}</div></div>'

    thirds = (rows[:1], rows[1:4], rows[4:])
    body = "".join(f'<div class="third">{"".join(map(entry, it))}</div>' for it in thirds)
    return f'<div class="day">{body}</div>', pick(rows, "name", "port", "kind", "year")


@shape("lit-tags")
def _(query):
    rows = ships(query)

    def tag(text, is_lit):
        text = f'<span class="lit-word">{e(text)}</span>' if is_lit else e(text)
        return f'<span class="label"><a href="/tag/x">{text}</a></span>'

    def item(at, it):
        tags = [tag(it["kind"], at % 4 == 1), tag(it["port"], at % 5 == 2), tag(it["year"], False)][: 2 + at % 2]
        return f'<div class="item"><h3>{e(it["name"])}</h3><div class="tags">{" &middot; ".join(tags)}</div></div>'

    body = "".join(item(at, it) for at, it in enumerate(rows))
    return f'<div class="items">{body}</div>', pick(rows, "name", "kind", "port")


@shape("written-dates")
def _(query):
    rows = ships(query)
    write = '<script>function seen(t){document.write("<i>Seen: "+new Date(t*1000).toISOString().slice(0,10)+"</i>")}</script>'

    def item(it):
        when = datetime.datetime.fromisoformat(it["seen"]).replace(hour=12, tzinfo=datetime.UTC)
        stamp = f"<script>seen({int(when.timestamp())})</script><noscript><i>Seen: {it['seen']}</i></noscript>"
        return f"<tr><td>{stamp}<br>Berth {it['berth']}</td><td><b>{e(it['name'])}</b><br>{e(it['port'])}</td></tr>"

    return f'{write}<table class="r">{"".join(map(item, rows))}</table>', pick(rows, "name", "port", "berth", "seen")


@shape("dated-run")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<dt>{at}. <a href="/ship/{it["id"]}">{e(it["name"])}</a></dt><dd><b>Date</b>: <em>Sat, {it["berth"] % 28 + 1} Jan {it["year"]} 22:31:00</em></dd>'
        f"<dd>{e(it['port'])}</dd>"
        for at, it in enumerate(rows, 1)
    )
    return f"<dl>{body}</dl>", pick(rows, "name", "port", "year")
