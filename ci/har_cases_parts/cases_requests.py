"""How requests are made of what was typed, and what HARs lack."""

from urllib.parse import parse_qsl

import json

from case import ANY, case, page, pick, typed
from goods import PLACES, goods
from sites import data, html, seeded


def app(path, draw="${r.name} <b>${r.price}</b> <i>${r.place}</i>", value="v", title="Catalogue", options="{}", field="<input type=search aria-label=Search>"):
    """A page that asks for its data. `path` is an expression of the script over `v`."""
    code = f"<script>document.forms[0].onsubmit=async e=>{{e.preventDefault();const v={value.replace('v', 'document.forms[0].elements[0].value', 1)};const j=await(await fetch({path},{options})).json();document.getElementById('out').innerHTML=j.items.map(r=>`<li>{draw}</li>`).join('')}}</script>"
    return html(page(title, f"<form>{field}<button>Go</button></form><ul id=out></ul>{code}"))


def listing(site, *names):
    return lambda query: pick(goods(site, query), *names)


@case("upper-case", "requests", "Show the goods of dock {query}", ["ab4", "cd7", "ef2", "gh9"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/dock/'+v+'/goods.json'", value="v.trim().toUpperCase()")
        parts = ask.path.strip("/").split("/")
        if parts[0] == "dock":
            return data({"items": goods("dock", parts[1].lower()) if parts[1] == parts[1].upper() else []})
        return None

    return site, listing("dock", "name", "price", "place")


@case("slug", "requests", "Which parts does the model {query} have?", ["Bramo Turbo 5", "Kesto Mini 2", "Vardo Plus 9", "Litra Max 4"], steps=typed("#out li"))
def _():
    def key(query):
        return query.lower().replace(" ", "-")

    def site(ask):
        if ask.path == "/":
            return app("'/models/'+v+'.json'", value="v.trim().toLowerCase().replace(/\\s+/g,'-')")
        if ask.path.startswith("/models/"):
            return data({"items": goods("slug", ask.path[8:-5])})
        return None

    return site, lambda query: pick(goods("slug", key(query)), "name", "price", "place")


@case("select-values", "requests", "List the goods stored in {query}", ["Nordhavn", "Sarvik", "Tremosa", "Kastelu"], steps=[{"fill": {"css": "select", "value": "{query}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "#out li"}}], expect=ANY)
def _():
    numbers = {place: 40 + 3 * at for at, place in enumerate(PLACES)}

    def rows(query):
        return pick(goods("stored", str(numbers[query]), free=True), "name", "price", "colour")

    def site(ask):
        if ask.path == "/":
            options = "".join(f"<option value={number}>{place}</option>" for place, number in numbers.items())
            return app("'/api/stored?place='+v", draw="${r.name} <b>${r.price}</b> <i>${r.colour}</i>", field=f"<select aria-label=Place><option value=''>Choose…</option>{options}</select>")
        if ask.path == "/api/stored":
            return data({"items": goods("stored", ask.query["place"], free=True) if ask.query["place"] in map(str, numbers.values()) else []})
        return None

    return site, rows


@case("select-form", "requests", "Zeige Termine in {query}", ["Ostbrück", "Dunmere", "Velmora", "Lindoka"], steps=[{"fill": {"css": "select", "value": "{query}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "table.t td"}}], expect=ANY)
def _():
    codes = {place: place[:2].lower() + str(at) for at, place in enumerate(PLACES)}

    def rows(query):
        return pick(goods("termine", codes[query], free=True), "day", "make", "stock")

    def site(ask):
        if ask.path not in ("/", "/termine"):
            return None
        options = "".join(f"<option value={code}{' selected' if ask.query.get('ort') == code else ''}>{place}</option>" for place, code in codes.items())
        lines = "".join(f"<tr><td>{it['day']}</td><td>{it['make']}</td><td>{it['stock']}</td></tr>" for it in (goods("termine", ask.query["ort"], free=True) if ask.query.get("ort") in codes.values() else []))
        table = f"<table class=t><thead><tr><th>Tag<th>Firma<th>Plätze</thead><tbody>{lines}</tbody></table>" if lines else ""
        return html(page("Termine", f"<form action=/termine><select name=ort aria-label=Ort>{options}</select><button>Los</button></form>{table}", lang="de"))

    return site, rows


@case("sorted", "requests", "List lamps of colour {colour} sorted by {order}", [{"colour": "amber", "order": "price"}, {"colour": "teal", "order": "name"}, {"colour": "zinc", "order": "price"}, {"colour": "coal", "order": "stock"}],
      steps=[{"fill": {"css": "#c", "value": "{colour}"}}, {"fill": {"css": "#o", "value": "{order}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "#out li"}}])
def _():
    def rows(colour, order):
        return pick(sorted(goods("lamps", colour), key=lambda it: it[order]), "name", "price", "stock")

    def site(ask):
        if ask.path == "/":
            code = "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/lamps?'+new URLSearchParams({colour:c.value,sort:o.value}))).json();document.getElementById('out').innerHTML=j.lamps.map(r=>`<li><b>${r.name}</b> ${r.price} (${r.stock})</li>`).join('')}</script>"
            return html(page("Lamps", f"<form><input id=c aria-label=Colour><input id=o aria-label=Order><button>Go</button></form><ul id=out></ul>{code}"))
        if ask.path == "/lamps":
            order = ask.query.get("sort", "id")
            return data({"lamps": sorted(goods("lamps", ask.query["colour"]), key=lambda it: it[order] if order in it else 0)})
        return None

    return site, rows


@case("post-french", "requests", "Chercher des annonces pour {query}", ["étagère", "câble", "forêt", "règle"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/recherche'", options="{method:'POST',headers:{'content-type':'application/x-www-form-urlencoded; charset=UTF-8'},body:new URLSearchParams({mots:v,tri:'date',categorie:''})}", title="Annonces")
        if ask.path == "/recherche" and ask.method == "POST":
            return data({"items": goods("annonces", ask.fields()["mots"])})
        return None

    return site, listing("annonces", "name", "price", "place")


@case("post-json-nested", "requests", "Wyszukaj oferty: {query}", ["pompa", "filtr", "zawór", "silnik"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/api/offers/_search'", options="{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({filter:{text:v,lang:'pl'},paging:{from:0,size:100}})}")
        if ask.path == "/api/offers/_search":
            return data({"took": 3, "items": goods("oferty", json.loads(ask.body)["filter"]["text"])})
        return None

    return site, listing("oferty", "name", "price", "place")


@case("multipart", "requests", "Search the registry for {query}", ["trowel", "mallet", "pliers", "awl"], steps=typed("#out li"))
def _():
    def part(ask, name):
        mark = ask.header("content-type").partition("boundary=")[2].encode()
        for it in ask.body.split(b"--" + mark):
            head, _, value = it.partition(b"\r\n\r\n")
            if f'name="{name}"'.encode() in head:
                return value.rstrip(b"\r\n").decode()
        return ""

    def site(ask):
        if ask.path == "/":
            return app("'/registry/query'", options="{method:'POST',body:(()=>{const f=new FormData;f.append('term',v);f.append('scope','all');return f})()}")
        if ask.path == "/registry/query":
            return data({"items": goods("registry", part(ask, "term"))})
        return None

    return site, listing("registry", "name", "price", "place")


@case("viewstate", "requests", "Hledej díly pro {query}", ["traktor", "sekačka", "čerpadlo", "kotel"], steps=typed("table.g td", "#t"))
def _():
    def rows(query):
        return pick(goods("dily", query), "name", "stock", "day")

    def site(ask):
        if ask.path != "/dily.aspx" and ask.path != "/":
            return None
        body, form = "", {}
        if ask.method == "POST":
            form = ask.fields()
            if not form.get("__VIEWSTATE", "").startswith("dDw4"):
                return html("<h1>Runtime error</h1>", status=500)
            lines = "".join(f"<tr><td>{it['name']}</td><td>{it['stock']}</td><td>{it['day']}</td></tr>" for it in rows(form["ctl00$t"]))
            body = f'<table class="g" rules=all><tr><th scope=col>Díl</th><th scope=col>Kusů</th><th scope=col>Termín</th></tr>{lines}</table>'
        state = "dDw4" + str(seeded("state", form.get("ctl00$t", "")).randint(10**20, 10**21))
        return html(page("Díly", f'<form method=post action="/dily.aspx"><input type=hidden name=__VIEWSTATE value="{state}"><input id=t name="ctl00$t"><input type=submit name="ctl00$b" value="Hledat"></form>{body}', lang="cs"))

    return site, rows


def no_document(log):
    log["entries"] = [it for it in log["entries"] if it.get("_resourceType") in ("fetch", "xhr") or "/api/" in it["request"]["url"]]
    log["pages"] = []
    for it in log["entries"]:
        it.pop("pageref", None)


def no_page_bodies(log):
    for it in log["entries"]:
        if "text/html" in it["response"]["content"].get("mimeType", ""):
            it["response"]["content"].pop("text", None)
            it["response"]["content"].pop("encoding", None)


def no_bodies(log):
    for it in log["entries"]:
        it["response"]["content"].pop("text", None)
        it["response"]["content"].pop("encoding", None)


@case("har-no-page", "har", "Search the index for {query}", ["lever", "pulley", "wedge", "crank"], steps=typed("#out li"), bend=no_document)
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/api/index?term='+encodeURIComponent(v)")
        return data({"items": goods("index", ask.query["term"]), "facets": [{"name": it, "count": 3} for it in PLACES]}) if ask.path == "/api/index" else None

    return site, listing("index", "name", "price", "place")


@case("har-page-empty", "har", "Trova pezzi di {query}", ["ruota", "telaio", "sella", "pedale"], steps=typed("#out li"), bend=no_page_bodies)
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/pezzi?nome='+encodeURIComponent(v)")
        return data({"items": goods("pezzi", ask.query["nome"])}) if ask.path == "/pezzi" else None

    return site, listing("pezzi", "name", "price", "place")


@case("har-bodies-gone", "har", "Look up bearings of type {query}", ["6203", "6305", "6408", "6007"], steps=typed("#out li"), bend=no_bodies, expect=ANY)
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/bearings?type='+encodeURIComponent(v)")
        return data({"items": goods("bearings", ask.query["type"])}) if ask.path == "/bearings" else None

    return site, listing("bearings", "name", "price", "place")


@case("rpc-batch", "requests", "Find stands named {query}", ["cobalt", "indigo", "maroon", "ochre"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            code = (
                "<form><input type=search aria-label=Search></form><ul id=out></ul><script>document.forms[0].onsubmit=async e=>{e.preventDefault();const v=document.querySelector('input').value;"
                "const j=await(await fetch('/trpc/auth.me,stands.search?batch=1&input='+encodeURIComponent(JSON.stringify({0:{json:null},1:{json:{name:v,limit:40}}})))).json();"
                "document.getElementById('out').innerHTML=j[1].result.data.json.map(r=>`<li><b>${r.name}</b> ${r.place} ${r.stars}</li>`).join('')}</script>"
            )
            return html(page("Stands", code))
        if ask.path.startswith("/trpc/"):
            asked = json.loads(ask.query["input"])
            told = [{"result": {"data": {"json": None}}} if name == "auth.me" else {"result": {"data": {"json": goods("stands", asked[str(at)]["json"]["name"])}}} for at, name in enumerate(ask.path[6:].split(","))]
            return data(told)
        return None

    return site, listing("stands", "name", "place", "stars")


@case("two-params", "requests", "Search {category} in {place}", [{"category": "timber", "place": "sarvik"}, {"category": "gravel", "place": "dunmere"}, {"category": "glass", "place": "sarvik"}, {"category": "timber", "place": "velmora"}],
      steps=[{"fill": {"css": "#k", "value": "{category}"}}, {"fill": {"css": "#p", "value": "{place}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": ".hit"}}])
def _():
    def rows(category, place):
        return pick(goods("two", f"{category} {place}"), "name", "price")

    def site(ask):
        found = dict(parse_qsl(ask.raw_query))
        hits = "".join(f"<div class=hit><h3>{it['name']}</h3><b>{it['price']:.2f}</b></div>" for it in (rows(found["k"], found["p"]) if "k" in found else []))
        return html(page("Search", f"<form action=/find><input id=k name=k><input id=p name=p><button>Find</button></form>{hits}")) if ask.path in ("/", "/find") else None

    return site, rows
