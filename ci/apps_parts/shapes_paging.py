"""Lists that go on: ways in which sites give a first page and say that more follow. Each stands twice: as a search, which is
verified and says that it is a first page, and as "all", which one request does not answer."""

import dataclasses

from shapes import SHAPES, listed, pick, shape, ships, where

SIZE = 6
COUNTS = {"Meridian": 15, "Tempest": 22, "Halcyon": 9, "Sirius": 17}
GOES_ON = "the list goes on"


def rows_of(query):
    return ships(query, COUNTS.get(query, 0))


def first(query):
    return rows_of(query)[:SIZE]


def both(name, **more):
    """A shape, and the same asked for all of it."""

    def keep(draw):
        shape(name, page=SIZE, **more)(draw)
        SHAPES[f"{name}-all"] = dataclasses.replace(
            SHAPES[name],
            name=f"{name}-all",
            sentence="List all the ships called {query}",
            more={**SHAPES[name].more, "answerable": False, "because": GOES_ON, "page": None},
        )
        return draw

    return keep


def page(query, before="", after=""):
    rows = rows_of(query)
    return f'{before}<ul class="r">{listed(rows[:SIZE])}</ul>{after}', pick(rows, "name", where)


@both("paged-numbers")
def _(query):
    count = len(rows_of(query))
    links = " ".join(f'<a href="?q={query}&amp;page={it}">{it}</a>' for it in range(2, -(-count // SIZE) + 1))
    return page(query, after=f'<p class="pages">1 {links}</p>')


@both("paged-next")
def _(query):
    return page(query, after=f'<a rel="next" href="/paged-next/{ships(query)[SIZE]["id"] if ships(query) else 0}">Weiter</a>')


@both("paged-stated")
def _(query):
    count = len(rows_of(query))
    return page(query, before=f"<p>{min(SIZE, count)} von {count} Treffern</p>" if count else "<p>Keine Treffer</p>")


@both("paged-rows")
def _(query):
    count = len(rows_of(query))
    return page(query, before=f"<h2>{count} ships whose name holds {query}</h2>")


def drawn(name, ask, more="", head=""):
    """A page whose script asks for the first page and draws it; `ask` is the query string after the words."""
    return (
        '<p id="told"></p><div id="out"></div><div id="after"></div><script>'
        f"document.querySelector('form').addEventListener('submit',async ev=>{{ev.preventDefault();const q=document.querySelector('input').value;"
        f"const a=await fetch('/api/{name}?q='+encodeURIComponent(q)+'{ask}');const j=await a.json();const r=j.ships||j;"
        "document.getElementById('out').innerHTML='<ul>'+r.map(s=>`<li><b>${s.name}</b> ${s.port} <i>${s.price} €</i></li>`).join('')+'</ul>';"
        f"document.getElementById('after').innerHTML=`{more}`;"
        f"document.getElementById('told').textContent='Results for '+q{head}}})</script>"
    )


def scripted(query):
    return "", pick(rows_of(query), "name", "port", "price")


# What each interface answers: the document and its headers.
APIS = {
    "json-total": lambda rows, page: ({"ships": page, "summe": len(rows)}, {}),
    "json-offset": lambda rows, page: ({"ships": page}, {}),
    "json-cursor": lambda rows, page: ({"ships": page, "paging": {"next": "b3Jk" if len(rows) > len(page) else None}}, {}),
    "json-link": lambda rows, page: (page, {"link": '</api/json-link?page=2>; rel="next"'} if len(rows) > len(page) else {}),
    "json-flag": lambda rows, page: ({"ships": page, "meta": {"hasMore": len(rows) > len(page)}}, {}),
    "json-button": lambda rows, page: ({"ships": page}, {}),
    "json-stated": lambda rows, page: ({"ships": page}, {"total-here": str(len(rows))}),
    "json-whole": lambda rows, page: ({"ships": list(rows)}, {}),
}


def api(name, query, start, size):
    rows = rows_of(query)
    return APIS[name](rows, list(rows[start : start + (size or SIZE)]))


both("json-total", script=drawn("json-total", ""))(scripted)
both("json-offset", script=drawn("json-offset", "&offset=0&limit=6"))(scripted)
both("json-cursor", script=drawn("json-cursor", ""))(scripted)
both("json-link", script=drawn("json-link", ""))(scripted)
both("json-flag", script=drawn("json-flag", ""))(scripted)
both("json-button", script=drawn("json-button", "", more="<button>Load more</button>"))(scripted)
both("json-stated", script=drawn("json-stated", "", more="1–6 / ${a.headers.get('total-here')}"))(scripted)
# The page turns over what it has: the answer is all of it.
shape(
    "json-whole",
    "List all the ships called {query}",
    script=drawn("json-whole", "", more="1–6 of ${r.length} <button>Next</button>").replace("r.map", "r.slice(0,6).map"),
)(scripted)
