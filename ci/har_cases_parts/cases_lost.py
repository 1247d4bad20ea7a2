"""HARs that lack the answer that the session came to: the recording ended while it came. What was asked for before is not it."""

import json

from case import DECLINED, FIRST, case, page, pick, typed
from goods import goods
from sites import data, html


def lose_last(log, says=""):
    """The last request that says so has an answer without a body, as browsers write it for what was aborted."""
    entry = next(it for it in reversed(log["entries"]) if says in it["request"]["url"] + it["request"].get("postData", {}).get("text", ""))
    response = entry["response"]
    response["content"] = {"size": -1, "mimeType": response["content"].get("mimeType", "")}
    response.update(bodySize=-1, _transferSize=-1, _failureText="net::ERR_ABORTED")


def unanswered(log):
    """The last request had no answer at all."""
    entry = log["entries"][-1]
    entry["response"].update(status=-1, statusText="", headers=[], content={"size": -1, "mimeType": "x-unknown"}, bodySize=-1)


def by(rows, order):
    return sorted(rows, key=lambda it: it[order])


def listing(site, order=None):
    def rows(query):
        found = goods(site, query)
        return pick(by(found, order) if order else found, "name", "price", "stock")

    return rows


def sortable(ask_code):
    """A page that lists what was typed, and lists it again in another order. `ask_code` asks for `v`, ordered by `o`."""
    code = (
        f"<script>let v='';const draw=async o=>{{const j=await({ask_code});document.getElementById('out').innerHTML=j.items.map(r=>`<li>${{r.name}} <b>${{r.price}}</b> <i>${{r.stock}}</i></li>`).join('');"
        "document.getElementById('by').textContent=o};"
        "document.forms[0].onsubmit=e=>{e.preventDefault();v=document.forms[0].elements[0].value;draw('')};document.getElementById('cheap').onclick=()=>draw('price')</script>"
    )
    body = f"<form><input type=search aria-label=Search><button>Go</button></form><p>by <span id=by></span></p><button id=cheap>€</button><ul id=out></ul>{code}"
    return html(page("Depot", body))


SORTED = [*typed("#out li"), {"click": {"css": "#cheap"}}, {"wait_for": {"text": "by price"}}]


def by_query(name, path):
    """A site whose order is a parameter of its query, and what it is to answer."""

    def site(ask):
        if ask.path == "/":
            return sortable(f"fetch('{path}?of='+encodeURIComponent(v)+(o&&'&sort='+o)).then(it=>it.json())")
        if ask.path == path:
            rows = goods(name, ask.query["of"])
            return data({"items": by(rows, ask.query["sort"]) if "sort" in ask.query else rows})
        return None

    return site, listing(name, "price")


@case("lost-query", "har", "List the parts for {query}, the cheapest first", ["clutch", "piston", "gasket", "camshaft"], steps=SORTED, expect=DECLINED, bend=lose_last)
def _():
    return by_query("lostquery", "/parts")


@case("lost-path", "har", "Liste les articles du rayon {query}, les moins chers d'abord", ["tissu", "laine", "ruban", "bouton"], steps=SORTED, expect=DECLINED, bend=lose_last)
def _():
    def site(ask):
        if ask.path == "/":
            return sortable("fetch('/rayon/'+encodeURIComponent(v)+(o&&'?tri='+o)).then(it=>it.json())")
        if ask.path.startswith("/rayon/"):
            rows = goods("rayon", ask.path[7:])
            return data({"items": by(rows, ask.query["tri"]) if "tri" in ask.query else rows})
        return None

    return site, listing("rayon", "price")


@case("lost-post", "har", "Find tools called {query}, cheapest first", ["chisel", "rasp", "auger", "adze"], steps=SORTED, expect=DECLINED, bend=lose_last)
def _():
    def site(ask):
        if ask.path == "/":
            return sortable("fetch('/api/tools/search',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({text:v,order:o||'name'})}).then(it=>it.json())")
        if ask.path == "/api/tools/search":
            asked = json.loads(ask.body)
            return data({"items": by(goods("losttools", asked["text"]), asked["order"])})
        return None

    return site, listing("losttools", "price")


@case("lost-unanswered", "har", "List the crates for {query} by price", ["apple", "plum", "quince", "pear"], steps=SORTED, expect=DECLINED, bend=unanswered)
def _():
    return by_query("crates", "/crates")


LINKED = [*typed("#out li", "input[name=q]"), {"click": {"css": "#cheap"}}, {"wait_for": {"text": "by price"}}]


@case("lost-document", "har", "Lista las piezas de {query}, primero las baratas", ["freno", "motor", "rueda", "faro"], steps=LINKED, expect=DECLINED, bend=lambda log: lose_last(log, "orden="))
def _():
    def site(ask):
        if ask.path not in ("/", "/lista"):
            return None
        query, order = ask.query.get("q", ""), ask.query.get("orden")
        rows = by(goods("piezas", query), order) if order else goods("piezas", query)
        lines = "".join(f"<li><b>{it['name']}</b> <i>{it['price']}</i> <u>{it['stock']}</u></li>" for it in rows)
        link = f'<p>by {order or "name"}</p><a id=cheap href="/lista?q={query}&orden=price">baratas</a>' if query else ""
        return html(page("Piezas", f"<form action=/lista><input name=q aria-label=Buscar><button>Ir</button></form>{link}<ul id=out>{lines}</ul>", lang="es"))

    return site, listing("piezas", "price")


REFRESHED = [*typed("#out li"), {"wait_for": {"text": "looked 2 times"}}]


@case("lost-refresh", "har", "Show the stock of {query} right now", ["barley", "millet", "sorghum", "oats"], steps=REFRESHED, bend=lose_last)
def _():
    """What was lost is the same once more: the page looks again by itself."""

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>let n=0;document.forms[0].onsubmit=e=>{e.preventDefault();const v=document.forms[0].elements[0].value;const look=async()=>{"
                "const j=await(await fetch('/stock?q='+encodeURIComponent(v)+'&_='+Date.now())).json();"
                "document.getElementById('out').innerHTML=j.items.map(r=>`<li>${r.name} <b>${r.price}</b> <i>${r.stock}</i></li>`).join('');"
                "document.getElementById('n').textContent='looked '+(++n)+' times';if(n<2)setTimeout(look,150)};look()}</script>"
            )
            return html(page("Stock", f"<form><input type=search aria-label=Search></form><p id=n></p><ul id=out></ul>{code}"))
        return data({"items": goods("stock", ask.query["q"])}) if ask.path == "/stock" else None

    return site, listing("stock")


NEXT = [*typed("#out li"), {"click": {"css": "#more"}}, {"wait_for": {"text": "part 2"}}]


@case("lost-second-page", "har", "List the ledgers about {query}", ["tin", "copper", "zinc", "nickel"], steps=NEXT, expect=FIRST, bend=lose_last)
def _():
    """What was lost is the next page."""

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>let v='',p=0;const draw=async()=>{p++;const j=await(await fetch('/ledgers?q='+encodeURIComponent(v)+'&page='+p)).json();"
                "document.getElementById('out').innerHTML+=j.items.map(r=>`<li>${r.name} <b>${r.price}</b> <i>${r.stock}</i></li>`).join('');document.getElementById('n').textContent='part '+p};"
                "document.forms[0].onsubmit=e=>{e.preventDefault();v=document.forms[0].elements[0].value;draw()};document.getElementById('more').onclick=draw</script>"
            )
            return html(page("Ledgers", f"<form><input type=search aria-label=Search></form><p id=n></p><ul id=out></ul><button id=more>More</button>{code}"))
        if ask.path == "/ledgers":
            at = int(ask.query["page"])
            return data({"items": goods("ledgers", ask.query["q"])[4 * at - 4 : 4 * at]})
        return None

    return site, listing("ledgers")


SUGGESTED = [{"fill": {"css": "input[type=search]", "value": "{query}"}}, {"wait_for": {"selector": "#hint li"}}, {"press": "Enter"}, {"wait_for": {"selector": "#out li"}}]


def suggesting(kind, title):
    """A page that suggests things while one types, and lists others once it is sent."""
    code = (
        "<script>const f=document.forms[0],i=f.elements[0],at=id=>document.getElementById(id);"
        "i.oninput=async()=>{const v=i.value,j=await(await fetch('/" + kind + "/hints?q='+encodeURIComponent(v))).json();if(i.value===v)at('hint').innerHTML=j.items.map(r=>`<li>${r.name} <b>${r.stock}</b></li>`).join('')};"
        "f.onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/" + kind + "/find?q='+encodeURIComponent(i.value))).json();at('hint').innerHTML='';"
        "at('out').innerHTML=j.items.map(r=>`<li>${r.name} <b>${r.price}</b> <i>${r.place}</i></li>`).join('')}</script>"
    )
    return html(page(title, f"<form><input type=search aria-label=Search></form><ul id=hint></ul><ul id=out></ul>{code}"))


@case("lost-behind-hints", "har", "Find the lots of {query} with price and place", ["walnut", "cedar", "larch", "maple"], steps=SUGGESTED, expect=DECLINED, bend=lambda log: lose_last(log, "/find?"))
def _():
    """Only what was suggested is left."""

    def site(ask):
        if ask.path == "/":
            return suggesting("lots", "Lots")
        if ask.path == "/lots/hints":
            return data({"items": pick(goods("lothints", ask.query["q"]), "name", "stock")})
        return data({"items": goods("lots", ask.query["q"])}) if ask.path == "/lots/find" else None

    return site, lambda query: pick(goods("lots", query), "name", "price", "place")


@case("lost-record", "har", "Look up the file of vessel {query}", ["mv-110", "mv-121", "mv-132", "mv-143"], start="/vessels/{query}", steps=[{"wait_for": {"selector": "dd"}}], expect=DECLINED, one=True, bend=lambda log: lose_last(log, "/file"))
def _():
    """The record is lost, a list beside it is not."""

    def record(query):
        return {name: it for name, it in zip(("name", "price", "day"), pick(goods("vessel", query), "name", "price", "day")[0].values(), strict=True)}

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] == "vessels" and len(parts) == 2:
            code = (
                f"<script>(async()=>{{const n=await(await fetch('/api/vessels/{parts[1]}/near')).json();document.getElementById('near').innerHTML=n.near.map(r=>`<li>${{r.make}} ${{r.place}}</li>`).join('');"
                f"const v=await(await fetch('/api/vessels/{parts[1]}/file')).json();document.getElementById('v').innerHTML=`<dt>Name</dt><dd>${{v.name}}</dd><dt>Dues</dt><dd>${{v.price}}</dd><dt>Seen</dt><dd>${{v.day}}</dd>`}})()</script>"
            )
            return html(page("Vessel", f"<dl id=v></dl><h2>Near</h2><ul id=near></ul>{code}"))
        if parts[:2] == ["api", "vessels"] and goods("vessel", parts[2]):
            return data({"near": pick(goods("near", parts[2]), "make", "place")} if parts[3] == "near" else record(parts[2]))
        return None

    return site, lambda query: [record(query)]
