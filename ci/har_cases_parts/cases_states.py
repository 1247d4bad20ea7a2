"""Pages that ask several times for what was typed: sorted, filtered and narrowed afterwards, by the same endpoint. The last state is meant."""

import json

from case import FIRST, case, page, pick
from goods import goods, many
from sites import data, html


def grid(ask, buttons, row="<td>${r.name}</td><td>${r.price}</td>"):
    """A table that asks as one types and whenever a button is pressed. `ask` is an expression of the script over `q` and the state `s`."""
    code = f"""<script>
const s={{}};let timer;
async function load(){{const q=document.forms[0].elements[0].value;const j=await({ask}).then(it=>it.json());const rows=j.rows||j.data.rows;
document.getElementById('out').dataset.state=Object.entries(s).join(';');document.getElementById('out').innerHTML=rows.map(r=>`<tr>{row}</tr>`).join('')}}
document.forms[0].onsubmit=e=>e.preventDefault();document.forms[0].elements[0].oninput=()=>{{clearTimeout(timer);timer=setTimeout(load,120)}};
for(const it of document.querySelectorAll('button'))it.onclick=()=>{{const[k,v]=it.value.split('=');s[k]=v==='turn'?(s[k]==='asc'?'desc':'asc'):v;load()}};
load()</script>"""
    return html(page("Stock", f"<form><input type=search aria-label=Search></form>{buttons}<table><tbody id=out></tbody></table>{code}"))


def driven(*states):
    """Types the value, then brings the page into each state: the button, and what the table says of its state."""
    steps = [{"wait_for": {"selector": "#out tr"}}, {"fill": {"css": "input", "value": "{query}"}}, {"wait_for": {"text": "{query}"}}]
    for button, state in states:
        steps += [{"click": {"css": f"button.{button}"}}, {"wait_for": {"selector": f'#out[data-state="{state}"] tr'}}]
    return steps


TURN = "<button class=price value=price=turn>Price</button>"
DEAREST = driven(("price", "price,asc"), ("price", "price,desc"))
CHEAPEST = driven(("price", "price,asc"), ("price", "price,desc"), ("price", "price,asc"))


def by_price(site, reverse):
    return lambda query: pick(sorted(goods(site, query), key=lambda it: it["price"], reverse=reverse), "name", "price")


def listed(site, query, order="", keep=lambda it: True):
    found = [it for it in (goods(site, query) if query else goods(site, "all", free=True)) if keep(it)]
    return sorted(found, key=lambda it: it["price"], reverse=order == "desc") if order else found


@case("turned-get", "states", "List the winches of kind {query}, the dearest first", ["hand", "drum", "boat", "cable"], steps=DEAREST)
def _():
    def site(ask):
        if ask.path == "/":
            return grid("fetch('/winches?'+new URLSearchParams({q,by:s.price?'price':'',dir:s.price||''}))", TURN)
        if ask.path == "/winches":
            return data({"rows": listed("winches", ask.query.get("q", ""), ask.query.get("dir", ""))})
        return None

    return site, by_price("winches", True)


@case("turned-json", "states", "List the buoys of kind {query}, the dearest first", ["lateral", "mooring", "marker", "rescue"], steps=DEAREST)
def _():
    def site(ask):
        if ask.path == "/":
            return grid(
                "fetch('/api/buoys/search',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({text:q,sort:s.price?[{field:'price',dir:s.price}]:[]})})", TURN
            )
        if ask.path == "/api/buoys/search":
            sent = json.loads(ask.body)
            return data({"rows": listed("buoys", sent["text"], sent["sort"][0]["dir"] if sent["sort"] else "")})
        return None

    return site, by_price("buoys", True)


@case("turned-back-form", "states", "List the planks of wood {query}, cheapest first", ["oak", "larch", "cedar", "ash"], steps=CHEAPEST)
def _():
    def site(ask):
        if ask.path == "/":
            return grid("fetch('/search/planks',{method:'POST',body:new URLSearchParams({text:q,order:s.price?'price '+s.price:''})})", TURN)
        if ask.path == "/search/planks":
            sent = ask.fields()
            return data({"rows": listed("planks", sent.get("text", ""), sent.get("order", "").partition(" ")[2])})
        return None

    return site, by_price("planks", False)


@case("turned-query", "states", "Welche Anker vom Typ {query} gibt es? Die teuersten zuerst", ["Pilz", "Draggen", "Stock", "Klapp"], steps=DEAREST)
def _():
    query = "query($t:String!,$o:Order){rows(text:$t,order:$o){name price}}"

    def site(ask):
        if ask.path == "/":
            sends = json.dumps(query)
            return grid(f"fetch('/graphql',{{method:'POST',headers:{{'content-type':'application/json'}},body:JSON.stringify({{query:{sends},variables:{{t:q,o:s.price?s.price.toUpperCase():null}}}})}})", TURN)
        if ask.path == "/graphql":
            sent = json.loads(ask.body)["variables"]
            return data({"data": {"rows": pick(listed("anker", sent["t"], (sent["o"] or "").lower()), "name", "price")}})
        return None

    return site, by_price("anker", True)


@case("narrowed-get", "states", "List the hooks for {query} that cost less than 300", ["doors", "walls", "boats", "coats"], steps=driven(("low", "max,300")))
def _():
    def site(ask):
        if ask.path == "/":
            return grid("fetch('/hooks?'+new URLSearchParams({q,...s}))", "<button class=low value=max=300>below 300</button>")
        if ask.path == "/hooks":
            most = float(ask.query.get("max", "inf"))
            return data({"rows": listed("hooks", ask.query.get("q", ""), keep=lambda it: it["price"] < most)})
        return None

    return site, lambda query: pick(listed("hooks", query, keep=lambda it: it["price"] < 300), "name", "price")


@case("narrowed-json", "states", "Quelles voiles de type {query} sont en stock à Sarvik ou ailleurs pour moins de 500 ?", ["foc", "génois", "spi", "trinquette"], steps=driven(("low", "max,500")))
def _():
    def site(ask):
        if ask.path == "/":
            return grid(
                "fetch('/api/voiles/_search',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({texte:q,filtres:s})})", "<button class=low value=max=500>moins de 500</button>"
            )
        if ask.path == "/api/voiles/_search":
            sent = json.loads(ask.body)
            most = float(sent["filtres"].get("max", "inf"))
            return data({"rows": listed("voiles", sent["texte"], keep=lambda it: it["price"] < most)})
        return None

    return site, lambda query: pick(listed("voiles", query, keep=lambda it: it["price"] < 500), "name", "price")


@case("narrowed-twice", "states", "List the blue lamps for {query}, the dearest first", ["decks", "halls", "roads", "caves"], steps=driven(("teal", "colour,teal"), ("price", "colour,teal;price,asc"), ("price", "colour,teal;price,desc")))
def _():
    def kept(query, order="", colour=""):
        rows = listed("lanterns", query, order)
        return [{**it, "colour": "teal" if at % 2 else "rust"} for at, it in enumerate(rows)] if not colour else [it for at, it in enumerate(rows) if it["id"] % 2]

    def site(ask):
        if ask.path == "/":
            return grid("fetch('/lanterns?'+new URLSearchParams({q,...s}))", TURN + "<button class=teal value=colour=teal>Blue</button>")
        if ask.path == "/lanterns":
            return data({"rows": kept(ask.query.get("q", ""), ask.query.get("price", ""), ask.query.get("colour", ""))})
        return None

    return site, lambda query: pick(kept(query, "desc", "teal"), "name", "price")


def pages_of(site, query, at, size=6):
    found = many(site, query or "all", 20) if query else goods(site, "all", free=True)
    return found[(at - 1) * size : at * size]


NEXT = "<button class=next value=page=2>Next</button>"
ONWARD = driven(("next", "page,2"))


def onward(name, of, queries, address, read):
    """A list whose second page was asked for. `address` is an expression of the page's script; `read` takes word and page out of a request."""

    @case(f"onward-{name}", "states", f"List the {of} for {{query}}", queries, steps=ONWARD, expect=FIRST)
    def _():
        def site(ask):
            if ask.path == "/":
                return grid(f"fetch({address})", NEXT)
            if ask.path.startswith(f"/{of}"):
                query, at = read(ask)
                return data({"rows": pages_of(of, query, int(at))})
            return None

        return site, lambda query: pick(many(of, query, 20), "name", "price")


def from_query(name):
    return lambda ask: (ask.query.get("q", ""), ask.query.get(name, 1))


def from_path(ask):
    _, query, at = ask.path.strip("/").split("/")
    return "" if query == "all" else query, at


onward("get", "sails", ["dinghies", "yachts", "barges", "cutters"], "'/sails?'+new URLSearchParams({q,page:1,...s})", from_query("page"))
onward("only-once", "pumps", ["bilges", "wells", "tanks", "pools"], "'/pumps?'+new URLSearchParams({q,...s})", from_query("page"))
onward("odd-name", "keels", ["sloops", "ketches", "yawls", "prams"], "'/keels?'+new URLSearchParams({q,blad:s.page||1})", from_query("blad"))
onward("in-path", "masts", ["rigs", "poles", "spars", "booms"], "'/masts/'+(q||'all')+'/'+(s.page||1)", from_path)


@case("onward-json", "states", "List the cleats for {query}", ["jibs", "docks", "halyards", "sheets"], steps=ONWARD, expect=FIRST)
def _():
    def site(ask):
        if ask.path == "/":
            return grid("fetch('/api/cleats/search',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({text:q,from:s.page?6:0,size:6})})", NEXT)
        if ask.path == "/api/cleats/search":
            sent = json.loads(ask.body)
            if not isinstance(sent["from"], int):
                return data({"error": "from is a number"}, status=400)
            return data({"rows": pages_of("cleats", sent["text"], sent["from"] // 6 + 1), "total": 20})
        return None

    return site, lambda query: pick(many("cleats", query, 20), "name", "price")
