"""Lists that go on: totals, next links, buttons, cursors, full pages."""

from case import FIRST, case, page, pick, typed
from goods import many
from sites import data, html

FORM = "<form action=/search><input type=search name=q aria-label=Search><button>Go</button></form>"


def sizes(query, short=6):
    """Lists of several lengths; the fourth input has less than a page."""
    return {"oak": 37, "elm": 45, "fir": 52, "yew": short}.get(query, 0)


QUERIES = ["oak", "elm", "fir", "yew"]


def wood(site):
    return lambda query: pick(many(site, query, sizes(query)), "name", "place", "price")


@case("total-json", "pages", "List all boards of {query}", QUERIES, steps=typed("#out li"), expect=FIRST)
def _():
    rows = wood("total")

    def site(ask):
        if ask.path == "/":
            code = "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/api/boards?wood='+document.querySelector('input').value+'&page=1&per_page=10')).json();document.getElementById('out').innerHTML=j.items.map(r=>`<li><b>${r.name}</b> ${r.place} ${r.price}</li>`).join('');document.getElementById('n').textContent=j.total+' boards'}</script>"
            return html(page("Boards", f"<form><input type=search aria-label=Wood></form><p id=n></p><ul id=out></ul>{code}"))
        if ask.path == "/api/boards":
            at, size = int(ask.query.get("page", 1)), min(int(ask.query.get("per_page", 10)), 10)
            found = rows(ask.query["wood"])
            return data({"total": len(found), "page": at, "items": found[(at - 1) * size : at * size]})
        return None

    return site, rows


@case("next-link", "pages", "Alle Balken aus {query} auflisten", QUERIES, steps=typed("tbody tr"), expect=FIRST)
def _():
    rows = wood("next")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query, at = ask.query.get("q", ""), int(ask.query.get("seite", 1))
        found = rows(query) if query else []
        lines = "".join(f"<tr><td>{it['name']}</td><td>{it['place']}</td><td>{it['price']} €</td></tr>" for it in found[(at - 1) * 12 : at * 12])
        more = f'<nav><a rel="next" href="/search?q={query}&amp;seite={at + 1}">Weiter »</a></nav>' if len(found) > at * 12 else ""
        return html(page("Balken", FORM + (f"<table><thead><tr><th>Name<th>Ort<th>Preis</thead><tbody>{lines}</tbody></table>{more}" if query else ""), lang="de"))

    return site, rows


@case("more-button", "pages", "Tous les panneaux de {query}", QUERIES, steps=typed("article"), expect=FIRST)
def _():
    rows = wood("more")

    def site(ask):
        query = ask.query.get("q", "")
        found, at = (rows(query) if query else []), int(ask.query.get("offset", 0))
        cards = "".join(f"<article><h3>{it['name']}</h3><p>{it['place']} — {it['price']} €</p></article>" for it in found[at : at + 9])
        if ask.path == "/fragment":
            return html(cards)
        button = f'<button id="plus" data-offset="9" data-q="{query}">Voir plus</button>' if len(found) > 9 else ""
        code = "<script>const b=document.getElementById('plus');if(b)b.onclick=async()=>{document.getElementById('g').insertAdjacentHTML('beforeend',await(await fetch(`/fragment?q=${b.dataset.q}&offset=${b.dataset.offset}`)).text());b.dataset.offset=+b.dataset.offset+9}</script>"
        return html(page("Panneaux", FORM + f"<div id=g>{cards}</div>{button}{code}", lang="fr")) if ask.path in ("/", "/search") else None

    return site, rows


@case("full-page", "pages", "Give me all planks of {query}", QUERIES, steps=typed("#out li"), expect=FIRST)
def _():
    rows = wood("full")

    def site(ask):
        if ask.path == "/":
            code = "<script>let at=0;const go=async()=>{const j=await(await fetch('/planks?wood='+document.querySelector('input').value+'&skip='+at+'&take=20')).json();at+=j.length;document.getElementById('out').insertAdjacentHTML('beforeend',j.map(r=>`<li>${r.name}, <i>${r.place}</i>, ${r.price}</li>`).join(''))};document.forms[0].onsubmit=e=>{e.preventDefault();at=0;document.getElementById('out').innerHTML='';go()};onscroll=()=>{if(innerHeight+scrollY>document.body.scrollHeight-40)go()}</script>"
            return html(page("Planks", f"<form><input type=search aria-label=Wood></form><ul id=out style='line-height:5em'></ul>{code}"))
        if ask.path == "/planks":
            at, size = int(ask.query.get("skip", 0)), min(int(ask.query.get("take", 20)), 20)
            return data(rows(ask.query["wood"])[at : at + size])
        return None

    return site, rows


@case("cursor", "pages", "全ての{query}の板を表示", QUERIES, steps=typed("#out li"), expect=FIRST)
def _():
    rows = wood("cursor")

    def site(ask):
        if ask.path == "/":
            code = "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/v2/list?kind='+document.querySelector('input').value)).json();document.getElementById('out').innerHTML=j.result.map(r=>`<li><b>${r.name}</b> ${r.place} ${r.price}円</li>`).join('');document.getElementById('more').hidden=!j.next_cursor}</script>"
            return html(page("板", f"<form><input type=search aria-label=木></form><ul id=out></ul><button id=more hidden>もっと見る</button>{code}", lang="ja"))
        if ask.path == "/v2/list":
            at = int(ask.query.get("cursor", "c0")[1:])
            found = rows(ask.query["kind"])
            return data({"result": found[at : at + 8], "next_cursor": f"c{at + 8}" if len(found) > at + 8 else None})
        return None

    return site, rows


@case("of-statement", "pages", "Szukaj desek z gatunku {query}", QUERIES, steps=typed("li.deska"), expect=FIRST)
def _():
    rows = wood("of")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query, at = ask.query.get("q", ""), int(ask.query.get("s", 1))
        found = rows(query) if query else []
        shown = found[(at - 1) * 10 : at * 10]
        items = "".join(f"<li class=deska><strong>{it['name']}</strong> <span>{it['place']}</span> <em>{it['price']} zł</em></li>" for it in shown)
        said = f"<p>Wyniki {(at - 1) * 10 + 1}–{(at - 1) * 10 + len(shown)} z {len(found)}</p>" if shown else ""
        return html(page("Deski", FORM + f"{said}<ul>{items}</ul>", lang="pl"))

    return site, rows


@case("short-lists", "pages", "List all beams of {query}", ["ash", "box", "cork", "teak"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(many("short", query, {"ash": 5, "box": 8, "cork": 3, "teak": 10}.get(query, 0)), "name", "place", "price")

    def site(ask):
        if ask.path == "/":
            code = "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/api/beams?q='+document.querySelector('input').value+'&limit=50')).json();document.getElementById('out').innerHTML=j.beams.map(r=>`<li>${r.name} <b>${r.place}</b> ${r.price}</li>`).join('')}</script>"
            return html(page("Beams", f"<form><input type=search aria-label=Wood></form><ul id=out></ul>{code}"))
        if ask.path == "/api/beams":
            return data({"count": len(rows(ask.query["q"])), "beams": rows(ask.query["q"])})
        return None

    return site, rows
