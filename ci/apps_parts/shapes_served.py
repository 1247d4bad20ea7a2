"""Lists whose pages are served: each kind of way on that sites have, asked for whole."""

import html
import urllib.parse

from shapes import listed, pick, shape, ships, where
from shapes_paging import COUNTS, SIZE, drawn

ALL = "List all the ships called {query}"


def rows_of(query):
    return ships(query, COUNTS.get(query, 0))


def cut(rows, start):
    return list(rows[start : start + SIZE])


def by_page(rows, get, **more):
    number = int(get("page") or 1)
    return {"ships": cut(rows, (number - 1) * SIZE), **{name: make(rows, number * SIZE) for name, make in more.items()}}


def mark(at):
    return f"m{at * 7919:x}"


def by_cursor(rows, get):
    start = next((at for at in range(len(rows)) if mark(at) == get("after")), 0)
    end = start + SIZE
    return {"ships": cut(rows, start), "paging": {"after": mark(end) if end < len(rows) else None}}


def by_address(rows, get):
    start = int(get("skip") or 0)
    onward = "?" + urllib.parse.urlencode({"q": get("q"), "skip": start + SIZE}) if start + SIZE < len(rows) else None
    return {"ships": cut(rows, start), "links": {"next": onward and f"/api/served-address{onward}"}}


# What each interface answers, from the rows and the parameters: the document and its headers.
APIS = {
    "served-total": lambda rows, get: (by_page(rows, get, found=lambda rows, _: len(rows)), {}),
    "served-flag": lambda rows, get: (by_page(rows, get, hasMore=lambda rows, end: end < len(rows)), {}),
    "served-offset": lambda rows, get: ({"ships": cut(rows, int(get("offset") or 0)), "count": len(rows)}, {}),
    "served-plain": lambda rows, get: ({"ships": cut(rows, int(get("offset") or 0))}, {}),
    "served-cursor": lambda rows, get: (by_cursor(rows, get), {}),
    "served-address": lambda rows, get: (by_address(rows, get), {}),
    "served-header": lambda rows, get: (
        cut(rows, (int(get("page") or 1) - 1) * SIZE),
        {"link": f'</api/served-header?q={urllib.parse.quote(get("q"))}&page={int(get("page") or 1) + 1}>; rel="next"'}
        if int(get("page") or 1) * SIZE < len(rows)
        else {},
    ),
}


def api(name, get):
    return APIS[name](rows_of(get("q")), get)


for name, ask in (
    ("served-total", "&page=1"),
    ("served-flag", "&page=1"),
    ("served-offset", "&offset=0&limit=6"),
    ("served-plain", "&offset=0&limit=6"),
    ("served-cursor", ""),
    ("served-address", ""),
    ("served-header", ""),
):
    more = "<button>Load more</button>" if name == "served-plain" else ""
    shape(name, ALL, script=drawn(name, ask, more=more))(lambda query: ("", pick(rows_of(query), "name", "port", "price")))


def numbered(name, link):
    """A page of the server's own with a way to the others; `link` draws it from the query, the number, and that of the last page."""

    def draw(query, get=lambda name: ""):
        rows = rows_of(query)
        number, count = int(get("page") or 1), -(-len(rows) // SIZE)
        shown = f'<ul class="r">{listed(cut(rows, (number - 1) * SIZE))}</ul>'
        return f'{shown}<p class="on">{link(html.escape(query), number, count)}</p>', pick(rows, "name", where)

    shape(name, ALL, pages=True)(draw)


def numbers(query, number, count):
    return " ".join(f'<a href="?q={query}&amp;page={it}">{it}</a>' if it != number else str(it) for it in range(1, count + 1))


def onward(query, number, count):
    return f'<a rel="next" href="?q={query}&amp;page={number + 1}">Weiter</a>' if number < count else ""


numbered("served-numbers", numbers)
numbered("served-next", onward)
