"""Typed values that stand in the request in another form."""

import base64
import json
import re

from case import ANY, case, page, pick, typed
from cases_requests import listing
from cases_sends import ROW, plain
from goods import PLACES, goods
from sites import data, html


def built(name, sentence, inputs, address, found, expect="whole", options="{}", lang="en"):
    """A site whose script builds the address from the value `v`. `found(ask)` gives the word that the site takes from the request."""

    @case(name, "inputs", sentence, inputs, steps=typed("#out li"), expect=expect)
    def _():
        def site(ask):
            if ask.path == "/":
                return plain(sentence, f"const j=await(await fetch({address},{options})).json();o.innerHTML=j.rows.map(r=>{ROW}).join('')", lang=lang)
            if not ask.path.startswith("/data"):
                return None
            return data({"rows": goods(name, found(ask) or "-")})

        return site, listing(name, "name", "price", "place")


def inside(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else ""


built("lucene", "Search the archive for {query}", ["drum", "flute", "horn", "viola"], "'/data/select?wt=json&q='+encodeURIComponent('title:('+v+') AND state:open')", lambda ask: inside(r"title:\((.*?)\) AND state:open", ask.query.get("q", "")))
built("odata-filter", "Znajdź urządzenia {query}", ["tokarka", "frezarka", "wiertarka", "piła"], "'/data/Machines?$filter='+encodeURIComponent(\"contains(Name,'\"+v+\"')\")", lambda ask: inside(r"contains\(Name,'(.*?)'\)", ask.query.get("$filter", "")), lang="pl")
built("rison", "Find dashboards about {query}", ["intake", "outlet", "boiler", "chiller"], "'/data/board?_a=(page:0,query:'+encodeURIComponent(v)+',sort:!(name))'", lambda ask: inside(r"query:(.*?),sort", ask.query.get("_a", "")))
built("wildcards", "Look for serials like {query}", ["ZK4", "QM7", "XD2", "WB9"], "'/data/serials?like='+encodeURIComponent('%'+v+'%')", lambda ask: inside(r"^%(.*)%$", ask.query.get("like", "")))
built("base64-state", "Open the list of {query}", ["spades", "rakes", "hoes", "forks"], "'/data/list?s='+btoa(JSON.stringify({k:v,p:0}))", lambda ask: json.loads(base64.b64decode(ask.query["s"])).get("k"), expect=ANY)
built("title-case", "Montre les pièces de la marque {query}", ["brumo", "kestrix", "valdor", "pontex"], "'/data/marques/'+v[0].toUpperCase()+v.slice(1)", lambda ask: ask.path.split("/")[3].lower() if ask.path.split("/")[3][:1].isupper() else "", lang="fr")
built("json-array-param", "Show stock for article {query}", ["A-701", "A-802", "A-903", "A-604"], "'/data/stock?filters='+encodeURIComponent(JSON.stringify([['sku','=',v],['active','=',1]]))", lambda ask: json.loads(ask.query["filters"])[0][2])
built("plus-prefix", "Søg efter dele: {query}", ["hjul", "kæde", "sadel", "bremse"], "'/data/find?q=%2B'+encodeURIComponent(v)+'&lang=da'", lambda ask: ask.query["q"].lstrip("+") if ask.query.get("q", "").startswith("+") else "", lang="da")
built("path-pair", "Which parts fit the {query} series?", ["orbit", "comet", "meteor", "nova"], "'/data/series/'+v+'/parts/series-'+v+'.json'", lambda ask: ask.path.split("/")[3] if ask.path.split("/")[5] == f"series-{ask.path.split('/')[3]}.json" else "")


@case("date-format", "inputs", "Show the harbour log of {day}", [{"day": "2026-03-05"}, {"day": "2026-04-17"}, {"day": "2026-05-28"}, {"day": "2026-06-09"}],
      steps=[{"fill": {"css": "#d", "value": "{day}"}}, {"press": "Enter"}, {"wait_for": {"selector": "#out li"}}], expect=ANY)
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Log", "const [y,m,d]=v.split('-');const j=await(await fetch(`/log?datum=${d}.${m}.${y}`)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')", field="<input id=d aria-label=Day>")
        if ask.path == "/log":
            day = "-".join(reversed(ask.query["datum"].split(".")))
            return data(goods("harbour", day))
        return None

    return site, lambda day: pick(goods("harbour", day), "name", "price", "place")


@case("joined", "inputs", "Find {kind} in {town}", [{"kind": "cranes", "town": "sarvik"}, {"kind": "docks", "town": "velmora"}, {"kind": "cranes", "town": "dunmere"}, {"kind": "ferries", "town": "sarvik"}],
      steps=[{"fill": {"css": "#k", "value": "{kind}"}}, {"fill": {"css": "#t", "value": "{town}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "#out li"}}])
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Find", "const j=await(await fetch('/find?q='+encodeURIComponent(v+' in '+document.getElementById('t').value))).json();o.innerHTML=j.map(r=>" + ROW + ").join('')", field="<input id=k aria-label=Kind><input id=t aria-label=Town>")
        if ask.path == "/find":
            kind, _, town = ask.query["q"].partition(" in ")
            return data(goods("joined", f"{kind} {town}"))
        return None

    return site, lambda kind, town: pick(goods("joined", f"{kind} {town}"), "name", "price", "place")


@case("price-range", "inputs", "List {item} between {low} and {high}", [{"item": "pumps", "low": "100", "high": "600"}, {"item": "vents", "low": "300", "high": "900"}, {"item": "pumps", "low": "200", "high": "900"}, {"item": "fans", "low": "0", "high": "500"}],
      steps=[{"fill": {"css": "#i", "value": "{item}"}}, {"fill": {"css": "#l", "value": "{low}"}}, {"fill": {"css": "#h", "value": "{high}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "#out li"}}])
def _():
    def rows(item, low, high):
        return [it for it in goods("range", item, 10, 11) if int(low) <= it["price"] <= int(high)]

    def site(ask):
        if ask.path == "/":
            return plain("Range", "const j=await(await fetch('/range?item='+v+'&price='+l.value+'..'+h.value)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')", field="<input id=i aria-label=Item><input id=l aria-label=From><input id=h aria-label=To>")
        if ask.path == "/range":
            low, _, high = ask.query["price"].partition("..")
            return data(rows(ask.query["item"], low, high))
        return None

    return site, lambda item, low, high: pick(rows(item, low, high), "name", "price", "place")


@case("ids-in-page", "inputs", "Show the measurements at {query}", ["Nordhavn", "Velmora", "Lindoka", "Dunmere"], steps=typed("#out li", "#place"), expect=ANY)
def _():
    numbers = {place: f"st{310 + 7 * at}" for at, place in enumerate(PLACES)}

    def site(ask):
        if ask.path == "/":
            options = "".join(f'<option data-id="{number}" value="{place}">' for place, number in numbers.items())
            return plain("Measure", "const id=document.querySelector(`option[value='${v}']`).dataset.id;const j=await(await fetch('/measure/'+id)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')", field=f"<input id=place list=l aria-label=Place><datalist id=l>{options}</datalist>")
        if ask.path.startswith("/measure/"):
            return data(goods("measure", ask.path[9:], free=True) if ask.path[9:] in numbers.values() else [])
        return None

    return site, lambda query: pick(goods("measure", numbers[query], free=True), "name", "price", "place")


@case("sort-label", "inputs", "List valves of {metal} sorted by {order}", [{"metal": "bronze", "order": "Price"}, {"metal": "brass", "order": "Units"}, {"metal": "steel", "order": "Price"}, {"metal": "bronze", "order": "Units"}],
      steps=[{"fill": {"css": "#m", "value": "{metal}"}}, {"fill": {"css": "select", "value": "{order}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "tbody td"}}], expect=ANY)
def _():
    keys = {"p": "price", "u": "stock", "n": "name"}

    def rows(metal, key):
        return pick(sorted(goods("valves", metal), key=lambda it: it[key]), "name", "price", "stock")

    def site(ask):
        if ask.path not in ("/", "/valves"):
            return None
        found = rows(ask.query["m"], keys[ask.query["o"]]) if "m" in ask.query else []
        lines = "".join(f"<tr><td>{it['name']}</td><td>{it['price']}</td><td>{it['stock']}</td></tr>" for it in found)
        form = "<form action=/valves><input id=m name=m aria-label=Metal><select name=o aria-label=Sort><option value=n>Name</option><option value=p>Price</option><option value=u>Units</option></select><button>Go</button></form>"
        return html(page("Valves", f"{form}<table><thead><tr><th>Valve<th>Price<th>Units</thead><tbody>{lines}</tbody></table>"))

    return site, lambda metal, order: rows(metal, {"Price": "price", "Units": "stock"}[order])
