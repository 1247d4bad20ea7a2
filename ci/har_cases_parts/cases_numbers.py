"""Numbers of many digits, and JSON that is none."""

import json

from case import case, page, pick, typed
from goods import goods, only_known
from sites import data, html, seeded


def drawn(path, draw, read="JSON.parse(t)", field="q"):
    return (
        f"<form role=search><input type=search name={field} aria-label=Search></form><div id=out></div><script>document.forms[0].onsubmit=async e=>{{e.preventDefault();"
        f"const v=document.querySelector('input').value;const t=await(await fetch('{path}'+encodeURIComponent(v))).text();const j={read};"
        f"document.getElementById('out').innerHTML={draw}}}</script>"
    )


@case("ledger", "numbers", "Search the ledger for entries of {query}", ["gravel", "cement", "timber", "gypsum"], steps=typed("#out li"))
def _():
    @only_known
    def rows(query):
        by = seeded("ledger", query)
        return [{"ref": by.randint(10**18, 10**22), "text": f"{query} lot {by.randint(10, 99)}", "sum": f"{by.randint(10**9, 10**12)}.{by.randint(10**11, 10**12 - 1)}1"} for _ in range(by.randint(3, 6))]

    def site(ask):
        if ask.path == "/":
            read = r"JSON.parse(t.replace(/:\s*(-?\d[\d.]{14,})/g,':\"$1\"'))"
            return html(page("Ledger", drawn("/api/entries?text=", "'<ul>'+j.entries.map(r=>`<li>${r.ref} <b>${r.text}</b> <i>${r.sum}</i></li>`).join('')+'</ul>'", read)))
        if ask.path == "/api/entries":
            found = ",".join(f'{{"ref": {it["ref"]}, "text": {json.dumps(it["text"])}, "sum": {it["sum"]}}}' for it in rows(ask.query["text"]))
            return data('{"entries": [' + found + "]}")
        return None

    return site, rows


@case("sensors-nan", "numbers", "Get the sensor readings of station {query}", ["kelp", "dune", "moor", "fjord"], steps=typed("#out tr"))
def _():
    @only_known
    def rows(query):
        by = seeded("sensors", query)
        return [
            {"sensor": f"{query}-{by.choice('abcdef')}{at}", "value": None if at % 3 == 1 else by.randint(100, 9000) / 8, "peak": None if at == 2 else by.randint(9000, 20000) / 16}
            for at in range(by.randint(4, 7))
        ]

    def site(ask):
        if ask.path == "/":
            read = r"JSON.parse(t.replace(/\bNaN\b|-?\bInfinity\b/g,'null'))"
            return html(page("Sensors", drawn("/readings.json?station=", "'<table>'+j.readings.map(r=>`<tr><td>${r.sensor}</td><td>${r.value??'–'}</td><td>${r.peak??'–'}</td></tr>`).join('')+'</table>'", read)))
        if ask.path == "/readings.json":
            found = [{"sensor": it["sensor"], "value": float("nan") if it["value"] is None else it["value"], "peak": float("inf") if it["peak"] is None else it["peak"]} for it in rows(ask.query["station"])]
            return data(json.dumps({"station": ask.query["station"], "readings": found}))
        return None

    return site, rows


@case("hijack-prefix", "numbers", "Look up {query} parts", ["valve", "piston", "gasket", "rotor"], steps=typed("#out p"))
def _():
    def rows(query):
        return pick(goods("hijack", query), "id", "name", "stock")

    def site(ask):
        if ask.path == "/":
            return html(page("Parts", drawn("/_/parts?f=", "j.map(r=>`<p>${r.name} <small>${r.id}</small> ${r.stock}</p>`).join('')", r"JSON.parse(t.replace(/^\)\]\}',?\n/,''))")))
        if ask.path == "/_/parts":
            return data(")]}',\n" + json.dumps(rows(ask.query["f"])))
        return None

    return site, rows


@case("arrays", "numbers", "Show the storage table for {query}", ["silo", "depot", "cellar", "hangar"], steps=typed("#out tr"))
def _():
    def rows(query):
        return pick(goods("arrays", query), "name", "stock", "place", "day")

    def site(ask):
        if ask.path == "/":
            return html(page("Storage", drawn("/q?where=", "'<table><tr>'+j.meta.map(m=>`<th>${m.label}</th>`).join('')+'</tr>'+j.data.map(r=>'<tr>'+r.map(c=>`<td>${c}</td>`).join('')+'</tr>').join('')+'</table>'")))
        if ask.path == "/q":
            return data({"meta": [{"label": it} for it in ("Name", "Units", "Place", "Since")], "data": [list(it.values()) for it in rows(ask.query["where"])]})
        return None

    return site, rows


@case("suggest-arrays", "numbers", "Suggest catalogue entries for {query}", ["wir", "bol", "cab", "nut"], steps=typed("#out li"))
def _():
    def rows(query):
        return [{"name": it["name"], "url": f"http://suggest-arrays.test/e/{it['id']}"} for it in goods("suggest", query)]

    def site(ask):
        if ask.path == "/":
            return html(page("Suggest", drawn("/opensearch?search=", "'<ul>'+j[1].map((n,i)=>`<li><a href='${j[3][i]}'>${n}</a></li>`).join('')+'</ul>'")))
        if ask.path == "/opensearch":
            found = rows(ask.query["search"])
            return data([ask.query["search"], [it["name"] for it in found], ["" for _ in found], [it["url"] for it in found]], kind="application/x-suggestions+json")
        return None

    # The answer of this protocol is columns, so that the names are one list in order.
    return site, lambda query: pick(rows(query), "name")


@case("by-key", "numbers", "Find the pump models called {query}", ["hydra", "mistral", "torrent", "cascade"], steps=typed("#out dd"), ordered=False)
def _():
    def rows(query):
        return pick(goods("bykey", query), "name", "price", "colour")

    def site(ask):
        if ask.path == "/":
            return html(page("Pumps", drawn("/data/models?name=", "'<dl>'+Object.values(j.models).map(r=>`<dt>${r.name}</dt><dd>${r.price.toFixed(2)} in ${r.colour}</dd>`).join('')+'</dl>'")))
        if ask.path == "/data/models":
            return data({"models": {f"m{at}": {**it, "price": it["price"]} for at, it in enumerate(rows(ask.query["name"]))}, "ttl": 60})
        return None

    return site, rows
