"""Variants of the kinds that went wrong: lists of terms, totals in tables, accounts, POST searches of other languages, noise."""

import datetime
import json

from case import ANY, DECLINED, case, page, pick, typed
from cases_records import searched
from cases_requests import listing
from cases_sends import ROW, plain
from goods import goods, only_known
from sites import data, html, seeded


@case("dl-many-dd", "markup", "Suche im Verzeichnis nach {query}", ["Mühle", "Sägewerk", "Gießerei", "Ziegelei"], steps=typed("dl.verz dt"))
def _():
    def rows(query):
        return pick(goods("verz", query), "name", "place", "day")

    def draw(query):
        return '<dl class="verz">' + "".join(f"<dt>{it['name']}</dt><dd>{it['place']}</dd><dd>seit {it['day']}</dd>" for it in rows(query)) + "</dl>"

    return searched("Verzeichnis", draw, "de"), rows


@case("dl-sections", "markup", "Search the yard for {query}", ["barge", "ferry", "dinghy", "tug"], steps=typed("section.boat"))
def _():
    def rows(query):
        return pick(goods("yard", query), "name", "stock", "colour", "day")

    def draw(query):
        return "".join(
            f'<section class="boat"><h2>{it["name"]}</h2><dl class="row"><dt class="col-3">Berth</dt><dd class="col-9">{it["stock"]}</dd><dt class="col-3">Paint</dt><dd class="col-9">{it["colour"]}</dd><dt class="col-3">Since</dt><dd class="col-9">{it["day"]}</dd></dl></section>'
            for it in rows(query)
        )

    return searched("Yard", draw), rows


@case("label-cards", "markup", "Trouver des locaux à {query}", ["velmora", "sarvik", "dunmere", "kastelu"], steps=typed("div.local"))
def _():
    def rows(query):
        return pick(goods("locaux", query), "name", "price", "stock")

    def draw(query):
        return "".join(f'<div class="local"><h3>{it["name"]}</h3><p><b>Loyer :</b> {it["price"]:.2f} €</p><p><b>Surface :</b> {it["stock"]} m²</p></div>' for it in rows(query))

    return searched("Locaux", draw, "fr"), rows


@case("bold-total", "tables", "Zeige die Posten der Rechnung {query}", ["R-1101", "R-1202", "R-1303", "R-1404"], start="/rechnung/{query}")
def _():
    def rows(query):
        return pick(goods("posten", query), "make", "stock", "price")

    def site(ask):
        if not ask.path.startswith("/rechnung/"):
            return None
        found = rows(ask.path[10:])
        lines = "".join(f"<tr><td>{it['make']}</td><td>{it['stock']}</td><td>{it['price']:.2f}</td></tr>" for it in found)
        total = f"<tr><td><b>Summe</b></td><td></td><td><b>{sum(it['price'] for it in found):.2f}</b></td></tr>"
        return html(page("Rechnung", f"<h1>{ask.path[10:]}</h1><table><tr><th>Posten</th><th>Menge</th><th>Preis</th></tr>{lines}{total}</table>", lang="de"))

    return site, rows


@case("subtotals", "tables", "Get the shifts of team {query}", ["early", "late", "night", "spare"], start="/team/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("shifts", query)
        return [{"day": f"{day} {at}", "hall": f"Hall {by.randint(1, 9)}", "hours": by.randint(2, 12)} for day in ("Mon", "Tue", "Wed") for at in range(1, by.randint(2, 4))]

    def site(ask):
        if not ask.path.startswith("/team/"):
            return None
        found, lines = rows(ask.path[6:]), ""
        for day in ("Mon", "Tue", "Wed"):
            of = [it for it in found if it["day"].startswith(day)]
            lines += "".join(f"<tr><td>{it['day']}</td><td>{it['hall']}</td><td>{it['hours']}</td></tr>" for it in of)
            lines += f'<tr class="subtotal"><td colspan="2">Total {day}</td><td>{sum(it["hours"] for it in of)}</td></tr>'
        return html(page("Shifts", f"<h1>{ask.path[6:]}</h1><table><thead><tr><th>Shift<th>Place<th>Hours</thead><tbody>{lines}</tbody></table>"))

    return site, rows


@case("json-login", "depend", "List my tools of size {query}", ["small", "medium", "large", "giant"], expect=DECLINED,
      steps=[{"fill": {"css": "#user", "value": "tester-88"}}, {"fill": {"css": "#pass", "value": "fixture-pass-88"}}, {"click": {"css": "#in"}}, {"wait_for": {"selector": "#needle"}}, *typed("#out li", "#needle")])
def _():
    def site(ask):
        if ask.path == "/":
            code = (
                "<script>let me;document.getElementById('login').onsubmit=async e=>{e.preventDefault();me=await(await fetch('/api/session',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({name:user.value,password:pass.value})})).json();"
                "app.innerHTML='<form id=f><input type=search id=needle></form><ul id=out></ul>';f.onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/api/people/'+me.person+'/tools?size='+needle.value)).json();out.innerHTML=j.map(r=>" + ROW + ").join('')}}</script>"
            )
            return html(page("Tools", f"<div id=app><form id=login><input id=user><input id=pass type=password><button id=in>Log in</button></form></div>{code}"))
        if ask.path == "/api/session":
            return data({"person": 41877, "token": "t" + "8" * 30}, set_cookie="sid=88zz; Path=/; HttpOnly")
        if ask.path.startswith("/api/people/"):
            return data(goods("people" + ask.path.split("/")[3], ask.query["size"]))
        return None

    return site, listing("people41877", "name", "price", "place")


@case("email-in-query", "depend", "Show my parcels from {query}", ["velmora", "sarvik", "dunmere", "tremosa"], start="/in", expect=DECLINED,
      steps=[{"fill": {"css": "[name=email]", "value": "tester99@parcels.test"}}, {"fill": {"css": "[name=pw]", "value": "fixture-pass-99"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "input[type=search]"}}, *typed("tbody td")])
def _():
    def site(ask):
        if ask.path == "/in":
            if ask.method == "POST":
                return 303, {"location": "/parcels", "set-cookie": ["mail=" + ask.fields()["email"].replace("@", "%40") + "; Path=/", "sid=99; Path=/; HttpOnly"]}, b""
            return html(page("In", "<form method=post><input name=email type=email><input name=pw type=password><button>In</button></form>"))
        if ask.path == "/parcels":
            query, mail = ask.query.get("from", ""), ask.query.get("of") or ask.cookies().get("mail", "").replace("%40", "@")
            lines = "".join(f"<tr><td>{it['name']}<td>{it['day']}<td>{it['stock']}</tr>" for it in goods("parcels" + mail, query))
            table = f"<table><thead><tr><th>Parcel<th>Day<th>Weight</thead><tbody>{lines}</tbody></table>" if lines else ""
            return html(page("Parcels", f'<form action=/parcels><input type=hidden name=of value="{mail}"><input type=search name=from></form>{table}'))
        return None

    return site, listing("parcelstester99@parcels.test", "name", "day", "stock")


def post_search(name, sentence, inputs, path, field, button, lang, title):
    @case(name, "requests", sentence, inputs, steps=typed("table.t td", f"[name={field}]"))
    def _():
        def site(ask):
            form = f'<form method="post" action="{path}"><input name="{field}"><input type="submit" value="{button}"></form>'
            if ask.path == "/":
                return html(page(title, form, lang=lang))
            if ask.path == path and ask.method == "POST":
                lines = "".join(f"<tr><td>{it['name']}</td><td>{it['stock']}</td><td>{it['place']}</td></tr>" for it in goods(name, ask.fields()[field]))
                return html(page(title, f"{form}<table class=t>{lines}</table>", lang=lang))
            return None

        return site, listing(name, "name", "stock", "place")


post_search("post-turkish", "Katalogda {query} ara", ["pompa", "vana", "conta", "dişli"], "/ara.php", "kelime", "Ara", "tr", "Katalog")
post_search("post-hungarian", "Keresés a raktárban: {query}", ["csavar", "anya", "rugó", "tömítés"], "/kereses", "szo", "Keresés", "hu", "Raktár")
post_search("post-russian", "Поиск деталей: {query}", ["втулка", "шайба", "муфта", "вал"], "/poisk.php", "slovo", "Искать", "ru", "Детали")
post_search("post-chinese", "查询{query}的库存", ["轴承", "齿轮", "弹簧", "螺母"], "/chaxun.jsp", "mc", "查询", "zh", "库存")
post_search("post-greek", "Αναζήτηση ειδών {query}", ["βίδα", "κλειδί", "σφυρί", "πριόνι"], "/anazitisi", "leksi", "Αναζήτηση", "el", "Είδη")


@case("lead-facts", "markup", "Show the state of lock {query}", ["lk-1", "lk-2", "lk-3", "lk-4"], start="/lock/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("lock", query)
        return [{"upper": f"{by.randint(100, 900)} cm", "lower": f"{by.randint(10, 99)} cm", "gate": by.choice(["open", "closed", "moving"]), "queue": f"{by.randint(1, 30)} boats"}]

    def site(ask):
        if not ask.path.startswith("/lock/"):
            return None
        it = record(ask.path[6:])[0]
        return html(page("Lock", f"<h1>Lock {ask.path[6:]}</h1><p>Upper level: <strong>{it['upper']}</strong></p><p>Lower level: <strong>{it['lower']}</strong></p><p>Gate: <strong>{it['gate']}</strong></p><p>Waiting: <strong>{it['queue']}</strong></p><p>Locks are operated from 6 to 22 h.</p>"))

    return site, record


@case("stat-tiles", "markup", "Get the figures of plant {query}", ["pl-a", "pl-b", "pl-c", "pl-d"], start="/plant/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("plant", query)
        return [{"output": f"{by.randint(100, 999)}", "share": f"{by.randint(10, 90)} %", "staff": f"{by.randint(11, 99)}"}]

    def site(ask):
        if not ask.path.startswith("/plant/"):
            return None
        it = record(ask.path[7:])[0]
        tile = lambda number, caption: f'<div class="stat"><div class="stat-number">{number}</div><div class="stat-caption">{caption}</div></div>'  # noqa: E731
        return html(page("Plant", f"<h1>Plant {ask.path[7:]}</h1><div class=stats>{tile(it['output'], 'Tons a day')}{tile(it['share'], 'Recycled')}{tile(it['staff'], 'Workers')}</div>"))

    return site, record


@case("table-in-json", "shapes", "Pobierz rozkład przystanku {query}", ["P10", "P20", "P30", "P40"], steps=typed("#out td"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Rozkład", "const j=await(await fetch('/ajax/rozklad?p='+v)).json();o.innerHTML=j.content", lang="pl")
        if ask.path == "/ajax/rozklad":
            lines = "".join(f"<tr><td>{it['make']}</td><td>{it['place']}</td><td>{it['stock']}</td></tr>" for it in goods("rozklad", ask.query["p"]))
            return data({"status": "ok", "content": f"<table><thead><tr><th>Linia</th><th>Kierunek</th><th>Minuty</th></tr></thead><tbody>{lines}</tbody></table>"})
        return None

    return site, listing("rozklad", "make", "place", "stock")


@case("next-route", "graphs", "Show the catalogue page of {query}", ["lamps", "rugs", "desks", "vases"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Catalogue", "const j=await(await fetch('/_next/data/b7QdX2/c/'+v+'.json?slug='+v)).json();o.innerHTML=j.pageProps.items.map(r=>" + ROW + ").join('')")
        if ask.path.startswith("/_next/data/b7QdX2/c/"):
            return data({"pageProps": {"slug": ask.query["slug"], "items": goods("next", ask.query["slug"]), "nav": [{"t": it} for it in ("Home", "Sale", "Help", "Cart")]}, "__N_SSG": True})
        return None

    return site, listing("next", "name", "price", "place")


@case("ld-json", "graphs", "List the events in {query}", ["nordhavn", "lindoka", "kastelu", "velmora"], start="/events/{query}")
def _():
    def rows(query):
        return pick(goods("events", query), "name", "day", "place")

    def site(ask):
        if not ask.path.startswith("/events/"):
            return None
        found = rows(ask.path[8:])
        graph = {"@context": "https://schema.org", "@type": "ItemList", "itemListElement": [{"@type": "ListItem", "position": at + 1, "item": {"@type": "Event", "name": it["name"], "startDate": it["day"]}} for at, it in enumerate(found)]}
        items = "".join(f'<a class="event" href="#"><span class="t">{it["name"]}</span><span class="d">{it["day"]}</span><span class="v">{it["place"]}</span></a>' for it in found)
        return html(page("Events", f'<script type="application/ld+json">{json.dumps(graph)}</script><div class=list>{items}</div>', "<style>.event{display:flex;gap:1em}</style>"))

    return site, rows


@case("sr-only-cells", "tables", "Search the tariff for {query}", ["steam", "power", "water", "waste"], steps=typed("tbody td"))
def _():
    def rows(query):
        return pick(goods("tariff", query), "make", "price", "day")

    def draw(query):
        cell = lambda label, value: f'<td><span class="sr-only">{label}: </span>{value}</td>'  # noqa: E731
        lines = "".join(f"<tr>{cell('Supplier', it['make'])}{cell('Price', it['price'])}{cell('From', it['day'])}</tr>" for it in rows(query))
        return f"<table><thead><tr><th>Supplier<th>Price<th>From</thead><tbody>{lines}</tbody></table>"

    return searched("Tariff", draw, head="<style>.sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>"), rows


@case("typeahead", "requests", "Search the warehouse for {query}", ["girder", "beam", "strut", "purlin"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            extra = "<script>document.querySelector('input').addEventListener('input',e=>{fetch('/suggest?q='+e.target.value);navigator.sendBeacon('/collect','event=type&term='+e.target.value)})</script>"
            status, headers, out = plain("Warehouse", "fetch('/collect',{method:'POST',body:'event=search&term='+v});const j=await(await fetch('/warehouse/search?q='+v)).json();o.innerHTML=j.hits.map(r=>" + ROW + ").join('')")
            return status, headers, out.replace(b"</body>", extra.encode() + b"</body>")
        if ask.path == "/suggest":
            return data({"suggestions": [ask.query["q"] + it for it in ("", "s", " set", " kit")]})
        if ask.path == "/collect":
            return 204, {}, b""
        return data({"hits": goods("warehouse", ask.query["q"])}) if ask.path == "/warehouse/search" else None

    return site, listing("warehouse", "name", "price", "place")


@case("no-accents", "requests", "Trouve les stocks de {query}", ["Étagère", "Câblé", "Façade", "Réglé"], steps=typed("#out li"), expect=ANY)
def _():
    flat = {"etagere": "Étagère", "cable": "Câblé", "facade": "Façade", "regle": "Réglé"}

    def site(ask):
        if ask.path == "/":
            return plain("Stocks", "const k=v.normalize('NFD').replace(/[\\u0300-\\u036f]/g,'').toLowerCase();const j=await(await fetch('/stocks/'+k)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')", lang="fr")
        if ask.path.startswith("/stocks/"):
            return data(goods("stocks", flat.get(ask.path[8:], "")))
        return None

    return site, listing("stocks", "name", "price", "place")


@case("day-path", "depend", "Show the arrivals at {query} today", ["velmora", "sarvik", "dunmere", "lindoka"], steps=typed("#out li"), expect=DECLINED)
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Arrivals", "const d=new Date(),p=n=>String(n).padStart(2,'0');const j=await(await fetch(`/arrivals/${d.getUTCFullYear()}/${p(d.getUTCMonth()+1)}/${p(d.getUTCDate())}/`+v)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')")
        return data(goods("arrivals" + "".join(ask.path.split("/")[2:5]), ask.path.split("/")[5])) if ask.path.startswith("/arrivals/") else None

    return site, lambda query: pick(goods("arrivals" + datetime.date.today().strftime("%Y%m%d"), query), "name", "price", "place")
