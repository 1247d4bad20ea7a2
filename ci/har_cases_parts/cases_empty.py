"""Nothing found: said plainly, said in other languages, and hidden behind substitutes."""

from case import ANY, case, page, pick, typed
from goods import goods
from sites import data, html

FORM = "<form action=/search><input type=search name=q aria-label=Search><button>Go</button></form>"
NOTHING = "quorv"


def found(site, *names):
    return lambda query: pick(goods(site, query, nothing=(NOTHING,)), *names)


def api(title, draw, path, lang="en"):
    code = f"<script>document.forms[0].onsubmit=async e=>{{e.preventDefault();const q=document.querySelector('input').value;const j=await(await fetch('{path}'+encodeURIComponent(q))).json();document.getElementById('out').innerHTML={draw}}}</script>"
    return html(page(title, f"<form><input type=search aria-label=Search></form><div id=out></div>{code}", lang=lang))


@case("popular-html", "empty", "Найди в каталоге {query}", ["насос", "кран", "бак", NOTHING], steps=typed("div.item"), empty_or_error=True)
def _():
    rows = found("popular", "name", "price")

    def card(it):
        return f'<div class="item"><a class="title" href="/i/{it["id"]}">{it["name"]}</a><span class="price">{it["price"]:.2f} ₽</span></div>'

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        hits = goods("popular", query, nothing=(NOTHING,))
        body = f"<h1>Найдено: {len(hits)}</h1><div class=list>{''.join(map(card, hits))}</div>" if hits else ""
        if query and not hits:
            body = f"<h1>По запросу «{query}» ничего нет</h1><h2>Популярные товары</h2><div class=list>{''.join(map(card, goods('popular', 'хит')))}</div>"
        return html(page("Каталог", FORM + body, lang="ru"))

    return site, rows


@case("fallback-json", "empty", "Search the store for {query}", ["mortar", "pestle", "funnel", NOTHING], steps=typed("#out p"), empty_or_error=True)
def _():
    rows = found("fallback", "name", "price")

    def site(ask):
        if ask.path == "/":
            return api("Store", "(j.fallback?'<h3>No matches. Try these:</h3>':'')+j.products.map(r=>`<p><b>${r.name}</b> ${r.price}</p>`).join('')", "/api/products?search=")
        if ask.path == "/api/products":
            hits = rows(ask.query["search"])
            return data({"fallback": not hits, "products": hits or pick(goods("fallback", "top"), "name", "price")})
        return None

    return site, rows


@case("did-you-mean", "empty", "Search spare parts for {query}", ["clutch", "mudguard", "dynamo", "klutsch"], steps=typed("#out li"), empty_or_error=True)
def _():
    def rows(query):
        return [] if query == "klutsch" else pick(goods("mean", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return api("Parts", "(j.corrected?`<p>Showing results for <b>${j.corrected}</b></p>`:'')+'<ul>'+j.hits.map(r=>`<li>${r.name} <i>${r.price}</i> ${r.place}</li>`).join('')+'</ul>'", "/api/find?q=")
        if ask.path == "/api/find":
            query = ask.query["q"]
            right = query if query in ("clutch", "mudguard", "dynamo") else "clutch" if query.endswith("utsch") else None
            hits = goods("mean", right) if right else []
            return data({"query": query, "corrected": right if right and right != query else None, "hits": pick(hits, "name", "price", "place")})
        return None

    return site, rows


@case("mean-other", "empty", "Search the parts list for {query}", ["spindle", "bobbin", "treadle", "tredle"], steps=typed("#out li"), empty_or_error=True)
def _():
    def rows(query):
        return [] if query == "tredle" else pick(goods("other", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return api("Parts", "(j.meta.used!=j.meta.asked?`<p>Did you mean <b>${j.meta.used}</b>?</p>`:'')+'<ul>'+j.rows.map(r=>`<li>${r.name} <i>${r.price}</i> ${r.place}</li>`).join('')+'</ul>'", "/api/v1/parts?text=")
        if ask.path == "/api/v1/parts":
            asked = ask.query["text"]
            used = "treadle" if asked == "tredle" else asked
            return data({"meta": {"asked": asked, "used": used}, "rows": pick(goods("other", used), "name", "price", "place")})
        return None

    return site, rows


@case("mean-html", "empty", "Suche im Lager nach {query}", ["Flansch", "Muffe", "Niete", "Flannsch"], steps=typed("tr.t"), empty_or_error=True)
def _():
    def rows(query):
        return [] if query == "Flannsch" else pick(goods("meinten", query), "name", "stock", "place")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        right = "Flansch" if query.startswith("Flann") else query
        known = right in ("Flansch", "Muffe", "Niete")
        lines = "".join(f"<tr class=t><td>{it['name']}</td><td>{it['stock']}</td><td>{it['place']}</td></tr>" for it in (goods("meinten", right) if known else []))
        said = f'<p>Ergebnisse für <a href="/search?q={right}">{right}</a> statt {query}</p>' if known and right != query else f"<p>Ergebnisse für {query}</p>" if known else f"<p>Zu {query} gibt es keinen Eintrag.</p>"
        return html(page("Lager", FORM + (f"{said}<table><tr><th>Name<th>Stück<th>Ort</tr>{lines}</table>" if query else ""), lang="de"))

    return site, rows


@case("plain-empty", "empty", "Zoek in de voorraad naar {query}", ["moer", "bout", "ring", NOTHING], steps=typed("ul.r li"))
def _():
    rows = found("voorraad", "name", "stock")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        hits = rows(query)
        items = "".join(f"<li><b>{it['name']}</b> <span>{it['stock']} stuks</span></li>" for it in hits)
        return html(page("Voorraad", FORM + (f"<ul class=r>{items}</ul>" if hits else "<div class=leeg>Helaas, hier ligt niets van.</div>" if query else ""), lang="nl"))

    return site, rows


@case("empty-json", "empty", "Buscar piezas de {query}", ["cobre", "zinc", "plomo", NOTHING], steps=typed("#out p"))
def _():
    rows = found("piezas", "name", "stock", "place")

    def site(ask):
        if ask.path == "/":
            return api("Piezas", "j.length?j.map(r=>`<p><b>${r.name}</b> ${r.stock} <i>${r.place}</i></p>`).join(''):'<em>Sin piezas</em>'", "/piezas.json?m=", lang="es")
        return data(rows(ask.query["m"])) if ask.path == "/piezas.json" else None

    return site, rows


@case("second-empty", "empty", "Look for tyres of size {query}", ["205-55", NOTHING, "195-65", "225-40"], steps=typed("ul.r li"), expect=ANY)
def _():
    rows = found("tyres", "name", "stock")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        hits = rows(query)
        items = "".join(f"<li><b>{it['name']}</b> <span>{it['stock']} in stock</span></li>" for it in hits)
        return html(page("Tyres", FORM + (f"<ul class=r>{items}</ul>" if hits else "<p>No tyres of this size.</p>" if query else "")))

    return site, rows


@case("always-beside", "empty", "Find rooms in {query}", ["velmora", "dunmere", "sarvik", NOTHING], steps=typed("section.hits article"), empty_or_error=True)
def _():
    rows = found("rooms", "name", "price")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        card = lambda it: f"<article><h4>{it['name']}</h4><span>{it['price']:.2f}</span></article>"  # noqa: E731
        hits = f"<section class=hits><h2>Rooms in {query}</h2>{''.join(map(card, rows(query))) or '<p>Sorry, sold out</p>'}</section>" if query else ""
        seen = f"<section class=promo><h2>Featured</h2>{''.join(map(card, goods('rooms', 'feature')))}</section>"
        return html(page("Rooms", FORM + hits + seen))

    return site, rows
