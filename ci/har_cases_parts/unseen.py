"""Cases that were kept until everything else had been run."""

import functools
import json

import case as declared
from case import ANY, DECLINED, FIRST, page, pick, typed
from cases_graphs import UNFLATTEN, flatten
from goods import goods, many, only_known
from sites import data, html, redirect, script, seeded

case = functools.partial(declared.case, unseen=True)
FORM = "<form action=/search><input type=search name=q aria-label=Search><button>Go</button></form>"


@case("late-eucjp", "charset", "在庫から{query}を探す", ["歯車", "滑車", "針金", "鋼管"], steps=typed("tr.g", "input[name=w]"))
def _():
    @only_known
    def rows(query):
        by = seeded("eucjp", query)
        return [{"name": f"見本{query}{kind}-{by.randint(10, 99)}", "count": by.randint(1, 500), "shelf": f"{by.choice('いろは')}-{by.randint(1, 40)}"} for kind in by.sample(["甲", "乙", "丙", "丁", "戊"], by.randint(3, 5))]

    def site(ask):
        head = "<form method=post action=/zaiko><input name=w><input type=submit value=検索></form>"
        if ask.path == "/":
            return html(page("在庫", head, lang="ja", charset="euc-jp"), "euc-jp")
        if ask.path == "/zaiko":
            lines = "".join(f"<tr class=g><td>{it['name']}</td><td>{it['count']}</td><td>{it['shelf']}</td></tr>" for it in rows(ask.fields("euc-jp")["w"]))
            return html(page("在庫", f"{head}<table><tr><th>品名</th><th>数</th><th>棚</th></tr>{lines}</table>", lang="ja", charset="euc-jp"), "euc-jp")
        return None

    return site, rows


@case("late-bigtext", "numbers", "Get the transfers of wallet {query}", ["w-amber", "w-cobalt", "w-indigo", "w-ochre"], start="/wallet/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("wallet", query)
        return [{"amount": str(by.randint(10**24, 10**27)), "block": by.randint(2**53, 2**60), "fee": f"0.{by.randint(10**20, 10**21)}"} for _ in range(by.randint(3, 5))]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] == "api":
            found = ",".join(f'{{"amount":"{it["amount"]}","block":{it["block"]},"fee":{it["fee"]}}}' for it in rows(parts[2]))
            return data(f'{{"wallet":"{parts[2]}","transfers":[{found}]}}')
        code = r"<script>fetch('/api/wallets/'+location.pathname.split('/')[2]).then(r=>r.text()).then(t=>{const j=JSON.parse(t.replace(/:(\d[\d.]+)/g,':\"$1\"'));t0.innerHTML=j.transfers.map(x=>`<tr><td>${x.block}<td>${x.amount}<td>${x.fee}`).join('')})</script>"
        return html(page("Wallet", f"<table><thead><tr><th>Block<th>Amount<th>Fee</thead><tbody id=t0></tbody></table>{code}")) if parts[0] == "wallet" else None

    return site, rows


@case("late-details", "markup", "Mostre as perguntas frequentes sobre {query}", ["entrega", "troca", "garantia", "frete"], start="/ajuda/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("ajuda", query)
        return [{"pergunta": f"Quantos dias para {query} na zona {zone}?", "resposta": f"Cerca de {by.randint(2, 40)} dias úteis, código {by.randint(100, 999)}."} for zone in by.sample(range(1, 20), by.randint(3, 5))]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "ajuda" or len(parts) != 2:
            return None
        items = "".join(f"<details><summary><span class=icon aria-hidden=true>+</span>{it['pergunta']}</summary><div class=resposta><p>{it['resposta']}</p></div></details>" for it in rows(parts[1]))
        return html(page("Ajuda", f"<h1>{parts[1]}</h1>{items}<footer><details><summary>Contato</summary><p>Rua Modelo 1</p></details></footer>", lang="pt"))

    return site, rows


@case("late-has-more", "pages", "Fetch every ticket with the label {query}", ["paint", "drain", "fence", "gate"], steps=typed("#out li"), expect=FIRST)
def _():
    def rows(query):
        return pick(many("tickets", query, {"paint": 33, "drain": 41, "fence": 58, "gate": 4}.get(query, 0)), "id", "name", "place")

    def site(ask):
        if ask.path == "/":
            code = "<script>let p=1;const go=async()=>{const j=await(await fetch('/rest/tickets',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({label:document.querySelector('input').value,pageNo:p++})})).json();document.getElementById('out').insertAdjacentHTML('beforeend',j.tickets.map(t=>`<li>#${t.id} <b>${t.name}</b> <i>${t.place}</i></li>`).join(''));more.hidden=!j.hasMore};document.forms[0].onsubmit=e=>{e.preventDefault();p=1;document.getElementById('out').innerHTML='';go()};more.onclick=go</script>"
            return html(page("Tickets", f"<form><input type=search aria-label=Label></form><ul id=out></ul><button id=more hidden>Load more</button>{code}"))
        if ask.path == "/rest/tickets":
            asked = json.loads(ask.body)
            found, at = rows(asked["label"]), (asked["pageNo"] - 1) * 15
            return data({"tickets": found[at : at + 15], "hasMore": len(found) > at + 15})
        return None

    return site, rows


@case("late-currency", "depend", "Compare prices of {query}", ["heater", "cooler", "dryer", "mixer"], steps=typed("tbody#out tr"), expect=ANY)
def _():
    def rows(query):
        return [{"name": it["name"], "price": f"{it['price'] * 7:.2f} NDK"} for it in goods("currency", query)]

    def site(ask):
        if ask.path == "/":
            code = "<script>document.cookie='cur=NDK;path=/';document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/compare?item='+document.querySelector('input').value)).json();document.getElementById('out').innerHTML=j.map(r=>`<tr><td>${r.name}<td>${r.price}`).join('')}</script>"
            return html(page("Compare", f"<form><input type=search aria-label=Item></form><table><thead><tr><th>Shop<th>Price</thead><tbody id=out></tbody></table>{code}"))
        if ask.path == "/compare":
            if ask.cookies().get("cur") == "NDK":
                return data(rows(ask.query["item"]))
            return data([{"name": it["name"], "price": f"{it['price']:.2f} USD"} for it in goods("currency", ask.query["item"])])
        return None

    return site, rows


@case("late-persisted", "graphql", "Trouve les ateliers à {query}", ["velmora", "kastelu", "tremosa", "lindoka"], steps=typed("#out article"))
def _():
    def rows(query):
        return pick(goods("ateliers", query), "name", "day", "stock")

    def site(ask):
        if ask.path == "/":
            code = (
                "<form><input type=search aria-label=Ville></form><div id=out></div><script>document.forms[0].onsubmit=async e=>{e.preventDefault();const v=document.querySelector('input').value;const j=await(await fetch('/gql?op=Ateliers',{method:'POST',headers:{'content-type':'application/json'},"
                "body:JSON.stringify({operationName:'Ateliers',variables:{where:{ville:{_eq:v}},orderBy:'NOM'},extensions:{persistedQuery:{version:1,sha256Hash:'9be2'.repeat(16)}}})})).json();"
                "document.getElementById('out').innerHTML=j.data.ateliers.nodes.map(n=>`<article><h3>${n.name}</h3><time>${n.day}</time><span>${n.stock} places</span></article>`).join('')}</script>"
            )
            return html(page("Ateliers", code, lang="fr"))
        if ask.path == "/gql":
            return data({"data": {"ateliers": {"__typename": "AtelierConnection", "nodes": [{"__typename": "Atelier", **it} for it in rows(json.loads(ask.body)["variables"]["where"]["ville"]["_eq"])]}, "me": None}})
        return None

    return site, rows


@case("late-groups", "tables", "Afficher les pièces du groupe {query}", ["moteur", "chassis", "cabine", "freins"], start="/groupe/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("groupe", query)
        return [{"ref": f"{letter}{by.randint(1000, 9999)}", "units": by.randint(1, 60), "price": f"{by.randint(2, 900)},{by.randint(10, 99)}"} for letter in by.sample("ABCDEF", by.randint(2, 3)) for _ in range(by.randint(1, 4))]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "groupe" or len(parts) != 2:
            return None
        lines, last = "", None
        for it in rows(parts[1]):
            if it["ref"][0] != last:
                last = it["ref"][0]
                lines += f'<tr class="sous-titre"><td colspan="3"><strong>Famille {last}</strong></td></tr>'
            lines += f"<tr><td>{it['ref']}</td><td>{it['units']}</td><td>{it['price']} €</td></tr>"
        lines += f'<tr class="total"><td>Total</td><td>{sum(it["units"] for it in rows(parts[1]))}</td><td></td></tr>'
        return html(page("Pièces", f"<h1>Groupe {parts[1]}</h1><table><thead><tr><th>Référence</th><th>Quantité</th><th>Prix</th></tr></thead><tbody>{lines}</tbody></table>", lang="fr"))

    return site, rows


@case("late-suggested", "empty", "Search listings for {query}", ["gazebo", "trellis", "pergola", "xqwvt"], steps=typed(".result"), empty_or_error=True)
def _():
    def rows(query):
        return pick(goods("listings", query, nothing=("xqwvt",)), "name", "place", "price")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        hits = rows(query)
        note = "" if hits or not query else '<div class="alert">Your search matched 0 listings. Here is what others look at.</div>'
        shown = hits or (pick(goods("listings", "trending"), "name", "place", "price") if query else [])
        items = "".join(f'<div class="result"><a href="#"><h3>{it["name"]}</h3></a><p>{it["place"]}</p><p class=price>{it["price"]:.2f}</p></div>' for it in shown)
        return html(page("Listings", f"{FORM}{note}<div class=results>{items}</div>"))

    return site, rows


@case("late-map", "graphs", "Liste die Haltestellen in {query}", ["ostbrück", "velmora", "sarvik", "dunmere"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("halte", query), "name", "stock")

    def site(ask):
        if ask.path == "/":
            code = f"<script>{UNFLATTEN}document.forms[0].onsubmit=async e=>{{e.preventDefault();const j=await(await fetch('/ort/'+encodeURIComponent(document.querySelector('input').value)+'/_payload.json')).json();const d=un(j.map(x=>Array.isArray(x)&&x[0]=='ShallowReactive'?j[x[1]]:x));document.getElementById('out').innerHTML=d.data.stops.map(s=>`<li>${{s.name}} <b>${{s.stock}}</b></li>`).join('')}}</script>"
            return html(page("Halte", f"<form><input type=search aria-label=Ort></form><ul id=out></ul>{code}", lang="de"))
        if ask.path.startswith("/ort/"):
            from urllib.parse import unquote

            place = unquote(ask.path.split("/")[2])
            flat = flatten({"data": {"place": place, "stops": rows(place)}, "prerenderedAt": 1764300000000})
            return data([["ShallowReactive", 1], *([at + 1 for at in it] if isinstance(it, list) else {name: at + 1 for name, at in it.items()} if isinstance(it, dict) else it for it in flat)])
        return None

    return site, rows


@case("late-account", "depend", "Find {query} among the members of my club", ["north", "south", "east", "west"], start="/", expect=DECLINED,
      steps=[{"click": {"css": "a.in"}}, {"wait_for": {"selector": "[name=pin]"}}, {"fill": {"css": "[name=club]", "value": "club-63"}}, {"fill": {"css": "[name=pin]", "value": "fixture-63-63"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "input[type=search]"}}, *typed("#out li")])
def _():
    def rows(query):
        return pick(goods("club-63", query), "make", "place", "stock")

    def site(ask):
        if ask.path == "/":
            return html(page("Clubs", "<a class=in href=/in>Sign in</a>"))
        if ask.path == "/in":
            if ask.method == "POST":
                return redirect("/home", set_cookie=[f"club={ask.fields()['club']}; Path=/", "auth=k63k63k63; Path=/; HttpOnly"])
            return html(page("Sign in", "<form method=post><input name=club><input name=pin type=password><button>Sign in</button></form>"))
        if ask.path == "/home":
            code = "<script>const club=document.cookie.match(/club=([^;]+)/)[1];document.forms[0].onsubmit=async e=>{e.preventDefault();const j=await(await fetch('/members?club='+club+'&side='+document.querySelector('input').value)).json();document.getElementById('out').innerHTML=j.map(r=>`<li><b>${r.make}</b> ${r.place} ${r.stock}</li>`).join('')}</script>"
            return html(page("Club", f"<form><input type=search aria-label=Side></form><ul id=out></ul>{code}"))
        if ask.path == "/members":
            return data(pick(goods(ask.query["club"], ask.query["side"]), "make", "place", "stock"))
        return None

    return site, rows


@case("late-jsonp", "graphql", "Pesquisar peças para {query}", ["trator", "moinho", "prensa", "bomba"], steps=typed("#out dt"))
def _():
    def rows(query):
        return pick(goods("pecas", query), "name", "colour", "price")

    def site(ask):
        if ask.path == "/":
            code = "<script>function mostrar(l){document.getElementById('out').innerHTML=l.map(p=>`<dt>${p[0]}</dt><dd>${p[1]}, ${p[2].toFixed(2)}</dd>`).join('')}document.forms[0].onsubmit=e=>{e.preventDefault();const s=document.createElement('script');s.src='/dados/pecas.php?f=mostrar&termo='+encodeURIComponent(document.querySelector('input').value);document.body.append(s)}</script>"
            return html(page("Peças", f"<form><input type=search aria-label=Termo></form><dl id=out></dl>{code}", lang="pt"))
        if ask.path == "/dados/pecas.php":
            return script(f"mostrar({json.dumps([list(it.values()) for it in rows(ask.query['termo'])])})\n")
        return None

    return site, rows


@case("late-sort-select", "requests", "Show ropes of {query}, cheapest first", ["hemp", "nylon", "sisal", "jute"], steps=[{"fill": {"css": "input", "value": "{query}"}}, {"fill": {"css": "select", "value": "Price, low to high"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "li.rope"}}])
def _():
    def rows(query):
        return pick(sorted(goods("ropes", query), key=lambda it: it["price"]), "name", "price")

    def site(ask):
        if ask.path not in ("/", "/ropes"):
            return None
        query, order = ask.query.get("q", ""), ask.query.get("o", "rel")
        found = goods("ropes", query)
        found = sorted(found, key=lambda it: it["price"], reverse=order == "pd") if order != "rel" else found
        items = "".join(f"<li class=rope><h3>{it['name']}</h3><span>{it['price']:.2f}</span></li>" for it in found)
        select = "<select name=o aria-label=Sort><option value=rel>Relevance</option><option value=pa>Price, low to high</option><option value=pd>Price, high to low</option></select>"
        return html(page("Ropes", f"<form action=/ropes><input name=q type=search aria-label=Search>{select}<button>Go</button></form><ul>{items}</ul>"))

    return site, rows
