"""How sites say that a list goes on, and numbers that say nothing of it."""

import json

from case import FIRST, case, page, pick, typed
from cases_records import searched
from cases_requests import listing
from cases_sends import ROW, plain
from goods import goods, many, only_known
from sites import data, html, seeded

WOODS = ["oak", "elm", "fir", "yew"]
COUNTS = {"oak": 34, "elm": 27, "fir": 41, "yew": 4}


def wood(site):
    return lambda query: pick(many(site, query, COUNTS.get(query, 0)), "name", "price", "place")


def json_pages(name, sentence, path, answer, items, size=10, more="", lang="en"):
    """A list by JSON. `answer(found, at, size, ask)` makes the document, `items` is where the script finds the rows."""

    @case(name, "lengths", sentence, WOODS, steps=typed("#out li"), expect=FIRST)
    def _():
        rows = wood(name)

        def site(ask):
            if ask.path == "/":
                return plain(sentence, f"const j=await(await fetch('{path}?wood='+v{more})).json();o.innerHTML={items}.map(r=>{ROW}).join('')", lang=lang)
            if ask.path == path:
                at = int(ask.query.get("page", 1)) - 1 if "page" in ask.query else int(ask.query.get("offset", ask.query.get("$skip", 0))) // size
                return data(answer(rows(ask.query["wood"]), at, size, ask))
            return None

        return site, rows


def part(found, at, size):
    return found[at * size : (at + 1) * size]


json_pages(
    "page-of-pages", "List all slats of {query}", "/api/slats",
    lambda found, at, size, ask: {"data": part(found, at, size), "meta": {"pagination": {"current_page": at + 1, "total_pages": -(-len(found) // size)}}}, "j.data", more="+'&page=1'",
)
json_pages(
    "total-as-text", "Liste toutes les lattes de {query}", "/api/lattes",
    lambda found, at, size, ask: {"total": str(len(found)), "offset": str(at * size), "limit": str(size), "lattes": part(found, at, size)}, "j.lattes", more="+'&offset=0&limit=10'", lang="fr",
)
json_pages(
    "truncated-flag", "Get every rail of {query}", "/rails/find",
    lambda found, at, size, ask: {"truncated": len(found) > size, "rails": found[:size]}, "j.rails",
)
json_pages(
    "elastic-total", "Find posts of {query}", "/posts/_search",
    lambda found, at, size, ask: {"took": 4, "timed_out": False, "hits": {"total": {"value": len(found), "relation": "eq"}, "hits": [{"_id": str(n), "_source": it} for n, it in enumerate(part(found, at, size))]}}, "j.hits.hits.map(h=>h._source)",
)
json_pages(
    "odata-next", "List all frames of {query}", "/odata/Frames",
    lambda found, at, size, ask: {"@odata.context": "$metadata#Frames", "value": part(found, at, size), **({"@odata.nextLink": f"http://odata-next.test/odata/Frames?wood={ask.query['wood']}&$skip={(at + 1) * size}"} if len(found) > (at + 1) * size else {})}, "j.value",
)


@case("page-info", "lengths", "Alle Dielen aus {query}", WOODS, steps=typed("#out li"), expect=FIRST)
def _():
    rows = wood("dielen")

    def site(ask):
        if ask.path == "/":
            return plain("Dielen", "const j=await(await fetch('/graphql',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({query:'query Dielen($holz: String!, $after: String) { dielen(holz: $holz, first: 8, after: $after) { nodes { name price place } pageInfo { hasNextPage endCursor } } }',variables:{holz:v,after:null}})})).json();o.innerHTML=j.data.dielen.nodes.map(r=>" + ROW + ").join('')", lang="de")
        if ask.path == "/graphql":
            asked = json.loads(ask.body)["variables"]
            found, at = rows(asked["holz"]), int((asked.get("after") or "c0")[1:])
            return data({"data": {"dielen": {"nodes": found[at : at + 8], "pageInfo": {"hasNextPage": len(found) > at + 8, "endCursor": f"c{at + 8}" if found else None}}}})
        return None

    return site, rows


def html_pages(name, sentence, note, size=10, lang="en"):
    """A list as a page with something below it: `note(query, total, shown)`."""

    @case(name, "lengths", sentence, WOODS, steps=typed("li.w"), expect=FIRST)
    def _():
        rows = wood(name)

        def draw(query):
            found = rows(query)
            shown = found[:size]
            items = "".join(f'<li class="w"><h4>{it["name"]}</h4><p>{it["place"]}</p><span class="price">{it["price"]}</span></li>' for it in shown)
            return f"<ul>{items}</ul>{note(query, len(found), len(shown))}"

        return searched(sentence, draw, lang), rows


html_pages("page-x-of-y", "Busca tablas de {query}", lambda query, total, shown: f"<p>Página 1 de {-(-total // 10)}</p>" if total > 10 else "", lang="es")
html_pages("and-more", "Find battens of {query}", lambda query, total, shown: f'<a class="rest" href="/all?q={query}">and {total - shown} more</a>' if total > shown else "")
html_pages("refine-please", "Najdi prkna z dřeva {query}", lambda query, total, shown: "<p class=info>Zobrazeno je jen prvních 10 záznamů, upřesněte hledání.</p>" if total > shown else "", lang="cs")
html_pages("next-attribute", "Show veneers of {query}", lambda query, total, shown: f'<div class="js-infinite" data-next-url="/search?q={query}&amp;page=2" data-total-pages="{-(-total // 10)}"></div>' if total > shown else "")


@case("top-ten", "lengths", "Show the ten best rated tools for {query}", ["drilling", "sanding", "planing", "turning"], start="/top/{query}")
def _():
    def rows(query):
        return pick(many("topten", query, 10 if query in ("drilling", "sanding", "planing", "turning") else 0), "name", "price", "place")

    def site(ask):
        if not ask.path.startswith("/top/"):
            return None
        lines = "".join(f"<tr><td>{at}</td><td>{it['name']}</td><td>{it['price']}</td><td>{it['place']}</td></tr>" for at, it in enumerate(rows(ask.path[5:]), 1))
        return html(page("Top", f"<h1>Top 10: {ask.path[5:]}</h1><p>Rated by 48213 members.</p><table><thead><tr><th>Rank<th>Tool<th>Price<th>Maker town</thead><tbody>{lines}</tbody></table>"))

    return site, rows


@case("week-rows", "lengths", "Get the tide table of {query} for this week", ["sarvik", "velmora", "dunmere", "kastelu"], start="/tides/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("tides", query)
        return [{"day": day, "high": f"{by.randint(0, 11):02}:{by.randint(10, 59)}", "level": f"{by.randint(100, 600)} cm"} for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]

    def site(ask):
        if ask.path.startswith("/api/tides/"):
            return data({"station": ask.path[11:], "days": rows(ask.path[11:])})
        code = "<script>fetch('/api/tides/'+location.pathname.slice(7)).then(r=>r.json()).then(j=>{t.innerHTML=j.days.map(d=>`<tr><td>${d.day}<td>${d.high}<td>${d.level}`).join('')})</script>"
        return html(page("Tides", f"<h1>Tides</h1><table><thead><tr><th>Day<th>High<th>Level</thead><tbody id=t></tbody></table>{code}")) if ask.path.startswith("/tides/") else None

    return site, rows


@case("numbers-around", "lengths", "List the stops of line {query}", ["L12", "L24", "L36", "L48"], start="/line/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("stops", query)
        return [{"stop": f"Stop {by.choice('ABCDEFGH')}{at}", "minute": by.randint(1, 59), "zone": f"Zone {by.randint(1, 4)}"} for at in range(by.randint(5, 11))]

    def site(ask):
        if not ask.path.startswith("/line/"):
            return None
        by = seeded("around", ask.path)
        items = "".join(f'<li><span class="s">{it["stop"]}</span> <span class="m">{it["minute"]}</span> <span class="z">{it["zone"]}</span></li>' for it in rows(ask.path[6:]))
        return html(page("Line", f"<h1>Line {ask.path[6:]}</h1><p>Length {by.randint(12, 60)} km, {by.randint(12, 40)} vehicles</p><ol class=stops>{items}</ol><footer>Call 0800 {by.randint(10, 99)} {by.randint(10, 99)} · © 2026</footer>"))

    return site, rows


@case("all-shown", "lengths", "Zeige alle Schrauben aus {query}", ["Messing", "Stahl", "Titan", "Nylon"], steps=typed("tbody tr"))
def _():
    def rows(query):
        return pick(goods("schrauben", query), "name", "stock", "price")

    def draw(query):
        found = rows(query)
        lines = "".join(f"<tr><td>{it['name']}</td><td>{it['stock']}</td><td>{it['price']}</td></tr>" for it in found)
        return f"<p>{len(found)} von {len(found)} Schrauben</p><table><thead><tr><th>Name<th>Stück<th>Preis</thead><tbody>{lines}</tbody></table>"

    return searched("Schrauben", draw, "de"), rows


@case("two-totals", "lengths", "Search parts and guides about {query}", ["brakes", "lights", "wheels", "gears"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Search", "const j=await(await fetch('/api/search?term='+v)).json();document.title=j.parts.total+' parts, '+j.guides.total+' guides';o.innerHTML=j.parts.items.map(r=>" + ROW + ").join('')")
        if ask.path == "/api/search":
            found = goods("twototals", ask.query["term"])
            return data({"catalog_size": 18442, "parts": {"total": len(found), "items": found}, "guides": {"total": 3 * len(found) + 2, "items": [{"title": f"Guide {at}"} for at in range(2)]}})
        return None

    return site, listing("twototals", "name", "price", "place")
