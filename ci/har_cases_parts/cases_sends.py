"""More answers and requests: forms of JSON, feeds of lines, headers, chains, accounts and lengths."""

import json

from case import ANY, DECLINED, FIRST, case, page, pick, typed
from cases_requests import app, listing
from goods import PLACES, goods, many, only_known
from sites import data, html, script, seeded


def plain(title, code, field="<input type=search aria-label=Search>", head="", lang="en"):
    """A page whose script answers its form. `code` has the value as `v` and the place for results as `o`."""
    run = f"<script>document.forms[0].onsubmit=async e=>{{e.preventDefault();const v=document.forms[0].elements[0].value,o=document.getElementById('out');{code}}}</script>"
    return html(page(title, f"<form>{field}<button>Go</button></form><ul id=out></ul>{run}", head, lang))


ROW = "`<li><b>${r.name}</b> ${r.price} <i>${r.place}</i></li>`"


@case("map-by-id", "shapes", "Find vehicles of type {query}", ["wagon", "tanker", "hopper", "trailer"], steps=typed("#out li"), ordered=False)
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Vehicles", "const j=await(await fetch('/api/vehicles?type='+v)).json();o.innerHTML=j.ids.map(i=>j.entities[i]).map(r=>" + ROW + ").join('')")
        if ask.path == "/api/vehicles":
            found = goods("vehicles", ask.query["type"])
            return data({"ids": [str(it["id"]) for it in found], "entities": {str(it["id"]): it for it in found}})
        return None

    return site, listing("vehicles", "name", "price", "place")


@case("groups-json", "shapes", "Lista dos artigos de {query} por setor", ["papel", "tinta", "metal", "couro"], steps=typed("#out h3"))
def _():
    @only_known
    def groups(query):
        by = seeded("setores", query)
        return [{"sector": f"Setor {name}", "articles": [{"name": f"{query} {by.randint(100, 999)}", "units": by.randint(1, 90)} for _ in range(by.randint(1, 4))]} for name in by.sample("ABCDEF", by.randint(2, 4))]

    def site(ask):
        if ask.path == "/":
            return plain("Artigos", "const j=await(await fetch('/api/artigos?q='+v)).json();o.innerHTML=j.groups.map(g=>`<section><h3>${g.sector}</h3><ul>${g.articles.map(a=>`<li>${a.name} <b>${a.units}</b></li>`).join('')}</ul></section>`).join('')", lang="pt")
        return data({"groups": groups(ask.query["q"])}) if ask.path == "/api/artigos" else None

    def truth(query):
        return [{"sector": it["sector"], "articles": tuple(value for one in it["articles"] for value in one.values())} for it in groups(query)]

    return site, truth


@case("json-in-string", "shapes", "Search the branch list for {query}", ["anvil", "bellow", "crucible", "forge"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Branches", "const j=await(await fetch('/Branch.asmx/Find',{method:'POST',headers:{'content-type':'application/json; charset=utf-8'},body:JSON.stringify({text:v})})).json();o.innerHTML=JSON.parse(j.d).map(r=>" + ROW + ").join('')")
        if ask.path == "/Branch.asmx/Find":
            return data({"d": json.dumps(pick(goods("branch", json.loads(ask.body)["text"]), "name", "price", "place"))})
        return None

    return site, listing("branch", "name", "price", "place")


@case("html-in-json", "shapes", "Cherche les fiches : {query}", ["orge", "seigle", "avoine", "millet"], steps=typed("#out li.fiche"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Fiches", "const j=await(await fetch('/ajax/fiches?mot='+encodeURIComponent(v))).json();o.innerHTML=j.data.html", lang="fr")
        if ask.path == "/ajax/fiches":
            items = "".join(f'<li class="fiche"><h3>{it["name"]}</h3><span class="lieu">{it["place"]}</span> <em>{it["stock"]}</em></li>' for it in goods("fiches", ask.query["mot"]))
            return data({"success": True, "data": {"html": items, "found": items.count("<li")}})
        return None

    return site, listing("fiches", "name", "place", "stock")


@case("admin-ajax", "requests", "Znajdź produkty: {query}", ["farba", "klej", "lakier", "grunt"], steps=typed("#out li"))
def _():
    nonces = set()

    def site(ask):
        if ask.path == "/":
            nonce = f"{seeded('nonce', len(nonces)).randint(16**9, 16**10):x}"
            nonces.add(nonce)
            head = f'<script>var shop_vars = {{"ajax_url":"/wp-admin/admin-ajax.php","nonce":"{nonce}","lang":"pl"}};</script>'
            return plain("Produkty", "const j=await(await fetch(shop_vars.ajax_url,{method:'POST',body:new URLSearchParams({action:'shop_search',nonce:shop_vars.nonce,s:v})})).json();o.innerHTML=j.data.map(r=>" + ROW + ").join('')", head=head, lang="pl")
        if ask.path == "/wp-admin/admin-ajax.php":
            form = ask.fields()
            if form.get("nonce") not in nonces or form.get("action") != "shop_search":
                return data("-1", status=403)
            return data({"success": True, "data": pick(goods("produkty", form["s"]), "name", "price", "place")})
        return None

    return site, listing("produkty", "name", "price", "place")


@case("ndjson", "shapes", "Stream the readings of probe {query}", ["p-ash", "p-oak", "p-fir", "p-elm"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Probes", "const t=await(await fetch('/stream?probe='+v)).text();o.innerHTML=t.trim().split('\\n').map(JSON.parse).map(r=>" + ROW + ").join('')")
        if ask.path == "/stream":
            return data("".join(json.dumps(it) + "\n" for it in goods("probes", ask.query["probe"])), kind="application/x-ndjson")
        return None

    return site, listing("probes", "name", "price", "place")


@case("while-one", "shapes", "Look for crates labelled {query}", ["fragile", "heavy", "frozen", "hollow"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Crates", "const t=await(await fetch('/crates?label='+v)).text();o.innerHTML=JSON.parse(t.slice(9)).list.map(r=>" + ROW + ").join('')")
        return data("while(1);" + json.dumps({"list": goods("crates", ask.query["label"])})) if ask.path == "/crates" else None

    return site, listing("crates", "name", "price", "place")


@case("csv-table", "shapes", "Download the parts list of {query}", ["hull", "mast", "deck", "keel"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Parts lists", "const t=await(await fetch('/lists/'+v+'.csv')).text();o.innerHTML=t.trim().split('\\r\\n').slice(1).map(l=>l.split(';')).map(c=>`<li><b>${c[0]}</b> ${c[1]} <i>${c[2]}</i></li>`).join('')")
        if ask.path.startswith("/lists/"):
            found = goods("lists", ask.path[7:-4])
            return data("Name;Price;Place\r\n" + "".join(f"{it['name']};{it['price']:.2f};{it['place']}\r\n" for it in found), kind="text/csv") if found else None
        return None

    return site, listing("lists", "name", "price", "place")


@case("xml-attributes", "shapes", "Liste die Sender der Region {query}", ["nord", "sued", "ost", "west"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Sender", "const t=await(await fetch('/xml/sender?region='+v)).text();o.innerHTML=[...new DOMParser().parseFromString(t,'text/xml').querySelectorAll('sender')].map(n=>`<li>${n.getAttribute('name')} <b>${n.getAttribute('ort')}</b> ${n.getAttribute('seit')}</li>`).join('')", lang="de")
        if ask.path == "/xml/sender":
            items = "".join(f'<sender name="{it["name"]}" ort="{it["place"]}" seit="{it["day"]}"/>' for it in goods("sender", ask.query["region"]))
            return 200, {"content-type": "text/xml; charset=utf-8"}, f'<?xml version="1.0"?><antwort>{items}</antwort>'.encode()
        return None

    return site, listing("sender", "name", "place", "day")


@case("cache-buster", "requests", "Check prices of {query}", ["copper", "nickel", "cobalt", "zinc"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/prices?metal='+v+'&_='+Date.now()+'&rnd='+Math.random()")
        return data({"items": goods("metals", ask.query["metal"]), "served": seeded(ask.query["rnd"]).randint(1, 10**9)}) if ask.path == "/prices" else None

    return site, listing("metals", "name", "price", "place")


@case("signed", "requests", "Search signed offers for {query}", ["clay", "loam", "marl", "peat"], steps=typed("#out li"), expect=ANY)
def _():
    def sign(text):
        out = 7
        for it in text + "k3y":
            out = (out * 31 + ord(it)) % 2**32
        return str(out)

    def site(ask):
        if ask.path == "/":
            return plain("Offers", "let h=7;for(const c of v+'k3y')h=(Math.imul(h,31)+c.charCodeAt(0))>>>0;const j=await(await fetch('/offers?q='+v+'&sig='+h)).json();o.innerHTML=j.items.map(r=>" + ROW + ").join('')")
        if ask.path == "/offers":
            return data({"items": goods("signed", ask.query["q"])}) if ask.query.get("sig") == sign(ask.query["q"]) else data({"error": "bad signature"}, status=403)
        return None

    return site, listing("signed", "name", "price", "place")


@case("id-first", "requests", "Show the stock of the shop {query}", ["velmora", "sarvik", "dunmere", "tremosa"], steps=typed("#out li"))
def _():
    numbers = {place.lower(): 900 + 17 * at for at, place in enumerate(PLACES)}

    def rows(query):
        return pick(goods("shop", str(numbers[query]), free=True), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return plain("Stock", "const s=await(await fetch('/api/shops?name='+v)).json();const j=await(await fetch('/api/shops/'+s.shops[0].id+'/stock')).json();o.innerHTML=j.stock.map(r=>" + ROW + ").join('')")
        if ask.path == "/api/shops":
            found = numbers.get(ask.query["name"])
            return data({"shops": [{"id": found, "name": ask.query["name"]}] if found else []})
        if ask.path.startswith("/api/shops/"):
            return data({"stock": goods("shop", ask.path.split("/")[3], free=True)})
        return None

    return site, rows


@case("needs-accept", "depend", "Get entries of volume {query}", ["v11", "v22", "v33", "v44"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/volumes/'+v+'/entries'", options="{headers:{accept:'application/vnd.api+json'}}")
        if ask.path.startswith("/volumes/"):
            if ask.header("accept") != "application/vnd.api+json":
                return html(page("406", "<h1>Not acceptable</h1>"), status=406)
            return data({"items": goods("volumes", ask.path.split("/")[2])}, kind="application/vnd.api+json")
        return None

    return site, listing("volumes", "name", "price", "place")


@case("by-agent", "depend", "Sök lediga platser i {query}", ["velmora", "sarvik", "kastelu", "lindoka"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return app("'/platser?ort='+v")
        if ask.path == "/platser":
            found = goods("platser", ask.query["ort"])
            return data({"items": found if "Chrome/" in ask.header("user-agent") else found[:2]})
        return None

    return site, listing("platser", "name", "price", "place")


@case("who-am-i", "depend", "List my bookings of kind {query}", ["boat", "bike", "cart", "sled"], steps=typed("#out li"), expect=DECLINED,
      login={"url": "http://who-am-i.test/login", "steps": [{"fill": {"css": "[name=user]", "value": "tester-77"}}, {"fill": {"css": "[name=pass]", "value": "fixture-pass-77"}}, {"click": {"css": "button"}}]})
def _():
    def site(ask):
        if ask.path == "/login":
            if ask.method == "POST":
                return 302, {"location": "/", "set-cookie": "session=q77q; Path=/; HttpOnly"}, b""
            return html(page("Log in", "<form method=post><input name=user><input name=pass type=password><button>Log in</button></form>"))
        if ask.path == "/":
            return plain("Bookings", "const m=await(await fetch('/api/me')).json();const j=await(await fetch('/api/bookings?owner='+m.key+'&kind='+v)).json();o.innerHTML=j.map(r=>" + ROW + ").join('')")
        if ask.path == "/api/me":
            return data({"key": "usr_77x41", "plan": "free", "display": "Tester 77"}) if "session=q77q" in ask.header("cookie") else data({"error": "sign in"}, status=401)
        return data(goods("bookings" + ask.query["owner"], ask.query["kind"])) if ask.path == "/api/bookings" else None

    return site, listing("bookingsusr_77x41", "name", "price", "place")


@case("count-of-page", "pages", "List every pallet of {query}", ["oak", "elm", "fir", "yew"], steps=typed("#out li"), expect=FIRST)
def _():
    def rows(query):
        return pick(many("pallets", query, {"oak": 23, "elm": 31, "fir": 27, "yew": 5}.get(query, 0)), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return app("'/api/pallets?wood='+v")
        if ask.path == "/api/pallets":
            at = int(ask.query.get("page", 1))
            found = rows(ask.query["wood"])
            shown = found[(at - 1) * 10 : at * 10]
            following = f"/api/pallets?wood={ask.query['wood']}&page={at + 1}" if len(found) > at * 10 else None
            return data({"count": len(shown), "next": following, "previous": None, "items": shown})
        return None

    return site, rows


@case("total-header", "pages", "Show beams made of {query}", ["oak", "elm", "fir", "yew"], steps=typed("#out li"), expect=FIRST)
def _():
    def rows(query):
        return pick(many("beams", query, {"oak": 26, "elm": 34, "fir": 22, "yew": 3}.get(query, 0)), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return plain("Beams", "const j=await(await fetch('/api/beams?wood='+v+'&_start=0&_end=10')).json();o.innerHTML=j.map(r=>" + ROW + ").join('')")
        if ask.path == "/api/beams":
            found = rows(ask.query["wood"])
            status, headers, out = data(found[int(ask.query["_start"]) : int(ask.query["_end"])])
            return status, {**headers, "x-total-count": str(len(found)), "access-control-expose-headers": "X-Total-Count"}, out
        return None

    return site, rows


@case("shown-in-parts", "pages", "List all ropes of {query}", ["hemp", "sisal", "nylon", "jute"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(many("ropes", query, {"hemp": 24, "sisal": 31, "nylon": 28, "jute": 6}.get(query, 0)), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return plain("Ropes", "const j=await(await fetch('/ropes.json?fibre='+v)).json();let n=10;const d=()=>{o.innerHTML=j.slice(0,n).map(r=>" + ROW + ").join('');more.hidden=n>=j.length;};more.onclick=()=>{n+=10;d()};d();count.textContent=j.length+' ropes'", field="<input type=search aria-label=Search> <span id=count></span> <button type=button id=more hidden>Show more</button>")
        return data(rows(ask.query["fibre"])) if ask.path == "/ropes.json" else None

    return site, rows


@case("facets-beside", "shapes", "Search fittings for {query}", ["elbow", "tee", "union", "nipple"], steps=typed("#out li"))
def _():
    def site(ask):
        if ask.path == "/":
            return plain("Fittings", "const j=await(await fetch('/s?q='+v)).json();o.innerHTML=j.facets.map(f=>`<a>${f.label} (${f.count})</a> `).join('')+j.docs.map(r=>" + ROW + ").join('')")
        if ask.path == "/s":
            found = goods("fittings", ask.query["q"], 3, 5)
            facets = [{"label": it, "count": sum(one["place"] == it for one in found)} for it in PLACES]
            return data({"facets": facets, "docs": found, "related": [{"text": f"{ask.query['q']} {it}"} for it in ("set", "kit", "pair", "box", "bag", "roll")]})
        return None

    return site, lambda query: pick(goods("fittings", query, 3, 5), "name", "price", "place")


@case("soft-missing", "empty", "Show the record of asset {query}", ["as-101", "as-202", "as-303", "as-999"], start="/asset/{query}", one=False, empty_or_error=True)
def _():
    def rows(query):
        return pick(goods("asset", query, nothing=("as-999",)), "name", "day", "stock")

    def site(ask):
        if not ask.path.startswith("/asset/"):
            return None
        found, name = rows(ask.path[7:]), ask.path[7:]
        if not found:
            others = "".join(f"<tr><td>{it['name']}</td><td>{it['day']}</td><td>{it['stock']}</td></tr>" for it in goods("asset", "top"))
            return html(page("Assets", f"<h1>This asset is gone</h1><h2>Recently viewed parts</h2><table class=parts><thead><tr><th>Part<th>Checked<th>Units</thead><tbody>{others}</tbody></table>"))
        lines = "".join(f"<tr><td>{it['name']}</td><td>{it['day']}</td><td>{it['stock']}</td></tr>" for it in found)
        return html(page("Assets", f"<h1>Asset {name}</h1><h2>Parts</h2><table class=parts><thead><tr><th>Part<th>Checked<th>Units</thead><tbody>{lines}</tbody></table>"))

    return site, rows


@case("state-of-script", "shapes", "Visa öppettider för {query}", ["bad-1", "bad-2", "bad-3", "bad-4"], start="/bad/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("bad", query)
        return [{"day": day, "open": f"{by.randint(6, 11)}:00", "close": f"{by.randint(15, 22)}:30"} for day in ("måndag", "tisdag", "onsdag", "torsdag")]

    def site(ask):
        if ask.path == "/app.js":
            return script("document.getElementById('t').innerHTML=window.APP.hours.map(h=>`<tr><td>${h.day}<td>${h.open}<td>${h.close}`).join('')")
        if not ask.path.startswith("/bad/"):
            return None
        state = json.dumps({"hours": rows(ask.path[5:]), "lang": "sv"}, ensure_ascii=False)
        return html(page("Bad", f"<h1>{ask.path[5:]}</h1><table><tbody id=t></tbody></table><script>window.APP={state};</script><script src=/app.js></script>", lang="sv"))

    return site, rows
