"""Payloads that frameworks send: graphs of references, streams, data in scripts, GraphQL."""

import html as escape
import json

from case import case, page, pick, typed
from goods import goods
from sites import data, html, script, seeded


def flatten(value):
    """A value as a list in which each value is referred to by its index."""
    out = []

    def put(it):
        at = len(out)
        out.append(None)
        if isinstance(it, dict):
            out[at] = {name: put(inner) for name, inner in it.items()}
        elif isinstance(it, list):
            out[at] = [put(inner) for inner in it]
        else:
            out[at] = it
        return at

    put(value)
    return out


UNFLATTEN = "const un=(l,i=0)=>{const v=l[i];return Array.isArray(v)?v.map(x=>un(l,x)):v&&typeof v=='object'?Object.fromEntries(Object.entries(v).map(([k,x])=>[k,un(l,x)])):v};"


@case("devalue-nav", "graphs", "List the workshops in {query}", ["velmora", "dunmere", "sarvik", "tremosa"], start="/", steps=[{"fill": {"css": "input", "value": "{query}"}}, {"press": "Enter"}, {"wait_for": {"selector": "main article"}}])
def _():
    def rows(query):
        return pick(goods("workshops", query), "name", "day", "stock")

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if ask.path.endswith("/__data.json") and parts[0] == "town":
            nodes = [None, {"type": "data", "data": flatten({"town": parts[1], "workshops": rows(parts[1])}), "uses": {"params": ["town"]}}]
            return data({"type": "data", "nodes": nodes})
        if ask.path == "/" or parts[0] == "town":
            found = rows(parts[1]) if len(parts) > 1 else []
            first = "".join(f"<article><h2>{it['name']}</h2><time>{it['day']}</time> <span>{it['stock']} seats</span></article>" for it in found)
            code = (
                f"<script>{UNFLATTEN}document.forms[0].onsubmit=async e=>{{e.preventDefault();const p='/town/'+encodeURIComponent(document.querySelector('input').value);"
                "const j=await(await fetch(p+'/__data.json?x-sveltekit-invalidated=01')).json();history.pushState({},'',p);const d=un(j.nodes[1].data);"
                "document.querySelector('main').innerHTML=d.workshops.map(w=>`<article><h2>${w.name}</h2><time>${w.day}</time> <span>${w.stock} seats</span></article>`).join('')}</script>"
            )
            return html(page("Workshops", f"<form><input aria-label=Town></form><main>{first}</main>{code}"))
        return None

    return site, rows


@case("nuxt-payload", "graphs", "Show the articles with the tag {query}", ["enamel", "bamboo", "copper", "velvet"], start="/tag/{query}")
def _():
    def rows(query):
        return pick(goods("nuxt", query), "name", "day", "colour")

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "tag" or len(parts) != 2:
            return None
        found = rows(parts[1])
        state = [["ShallowReactive", 1], {"data": 2, "state": 3}, ["ShallowReactive", 4], {}, {"articles": 5}]
        shift = len(state)
        for it in flatten(found):
            state.append([at + shift for at in it] if isinstance(it, list) else {name: at + shift for name, at in it.items()} if isinstance(it, dict) else it)
        body = "".join(f'<li class="card"><h3 class="card-title">{it["name"]}</h3><p><time>{it["day"]}</time> · <em>{it["colour"]}</em></p></li>' for it in found)
        payload = f'<script type="application/json" data-nuxt-data="nuxt-app" data-ssr="true" id="__NUXT_DATA__">{json.dumps(state)}</script>'
        return html(page("Tag", f'<div id="__nuxt"><h1>{parts[1]}</h1><ul>{body}</ul></div>{payload}'))

    return site, rows


@case("turbo-single", "graphs", "Which tools are listed under {query}?", ["chisel", "clamp", "router", "plane"], steps=typed("#out li", "input"))
def _():
    def rows(query):
        return pick(goods("turbo", query), "name", "stock", "place")

    def encode(value):
        out, keys = [], {}

        def put(it):
            if isinstance(it, str) and it in keys:
                return keys[it]
            at = len(out)
            out.append(None)
            if isinstance(it, str):
                keys[it] = at
            if isinstance(it, dict):
                out[at] = {f"_{put(name)}": put(inner) for name, inner in it.items()}
            elif isinstance(it, list):
                out[at] = [put(inner) for inner in it]
            else:
                out[at] = it
            return at

        put(value)
        return json.dumps(out) + "\n"

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>const un=(l,i)=>{const v=l[i];return Array.isArray(v)?v.map(x=>un(l,x)):v&&typeof v=='object'?Object.fromEntries(Object.entries(v).map(([k,x])=>[l[+k.slice(1)],un(l,x)])):v};"
                "document.forms[0].onsubmit=async e=>{e.preventDefault();const t=await(await fetch('/tools.data?kind='+encodeURIComponent(document.querySelector('input').value)+'&_routes=routes%2Ftools')).text();"
                "const d=un(JSON.parse(t.trim()),0)['routes/tools'].data;document.getElementById('out').innerHTML=d.tools.map(w=>`<li><b>${w.name}</b>, ${w.stock} in ${w.place}</li>`).join('')}</script>"
            )
            return html(page("Tools", f"<form><input name=kind aria-label=Kind></form><ul id=out></ul>{code}"))
        if ask.path == "/tools.data":
            return 200, {"content-type": "text/x-script; charset=utf-8"}, encode({"routes/tools": {"data": {"kind": ask.query["kind"], "tools": rows(ask.query["kind"])}}}).encode()
        return None

    return site, rows


@case("flight", "graphs", "Search the gallery for {query}", ["heron", "otter", "badger", "marten"], steps=typed("#out figure", "input"))
def _():
    def rows(query):
        return pick(goods("flight", query), "name", "place")

    def site(ask):
        query = ask.query.get("q", "")
        if ask.header("rsc") == "1":
            cards = [["$", "figure", str(at), {"children": [["$", "figcaption", None, {"children": it["name"]}], ["$", "small", None, {"children": it["place"]}]]}] for at, it in enumerate(rows(query))]
            text = '1:"$Sreact.fragment"\n2:I[2846,["177","static/chunks/app/page.js"],"default"]\n0:["$","div",null,{"id":"out","children":' + json.dumps(cards) + "}]\n"
            return 200, {"content-type": "text/x-component", "vary": "RSC"}, text.encode()
        if ask.path != "/":
            return None
        first = "".join(f"<figure><figcaption>{it['name']}</figcaption><small>{it['place']}</small></figure>" for it in (rows(query) if query else []))
        code = (
            "<script>const el=n=>typeof n=='string'?n:n[0]!='$'?n.map(el).join(''):`<${n[1]}>${el(n[3].children)}</${n[1]}>`;document.forms[0].onsubmit=async e=>{e.preventDefault();"
            "const p='/?q='+encodeURIComponent(document.querySelector('input').value);const t=await(await fetch(p+'&_rsc=1x9kz',{headers:{RSC:'1'}})).text();history.pushState({},'',p);"
            "document.getElementById('out').innerHTML=el(JSON.parse(t.split('\\n')[2].slice(2))[3].children)}</script>"
        )
        return html(page("Gallery", f"<form><input name=q aria-label=Search></form><div id=out>{first}</div>{code}"))

    return site, rows


@case("next-data", "graphs", "Find offers for {query}", ["kayak", "sled", "tent", "raft"], start="/offers?q={query}")
def _():
    def rows(query):
        return pick(goods("offers", query), "name", "price", "stock")

    def site(ask):
        if ask.path != "/offers":
            return None
        found = rows(ask.query.get("q", ""))
        props = {"props": {"pageProps": {"q": ask.query.get("q"), "offers": found, "menu": [{"label": "Home"}, {"label": "Help"}]}}, "page": "/offers", "buildId": "b7Qd"}
        code = "<script>const p=JSON.parse(document.getElementById('__NEXT_DATA__').textContent).props.pageProps;document.getElementById('__next').innerHTML='<div class=grid>'+p.offers.map(o=>`<div class=offer><h4>${o.name}</h4><span>${o.price.toFixed(2)} €</span><span>${o.stock} left</span></div>`).join('')+'</div>'</script>"
        return html(page("Offers", f'<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{json.dumps(props)}</script>{code}'))

    return site, rows


@case("window-state", "graphs", "Mostra le barche a {query}", ["velmora", "kastelu", "sarvik", "lindoka"], start="/porto/{query}")
def _():
    def rows(query):
        return pick(goods("barche", query), "name", "day", "stars")

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "porto" or len(parts) != 2:
            return None
        state = json.dumps({"porto": parts[1], "barche": rows(parts[1]), "menu": ["Home", "Contatti"]}).replace("</", "<\\/")
        code = "<script>document.getElementById('app').innerHTML=__STATO__.barche.map(b=>`<section><h3>${b.name}</h3>dal ${b.day}, <b>${b.stars}</b> stelle</section>`).join('')</script>"
        return html(page("Porto", f"<div id=app></div><script>window.__STATO__ = {state};\nwindow.__VER__='3.1';</script>{code}", lang="it"))

    return site, rows


def graph(endpoint, body):
    return (
        "<form><input type=search aria-label=Search></form><ul id=out></ul><script>document.forms[0].onsubmit=async e=>{e.preventDefault();const q=document.querySelector('input').value;"
        f"const j=await(await fetch({endpoint},{body})).json();const d=Array.isArray(j)?j[1].data:j.data;document.getElementById('out').innerHTML=d.parts.edges.map(x=>`<li><b>${{x.node.name}}</b> ${{x.node.price}} <i>${{x.node.place}}</i></li>`).join('')}}</script>"
    )


def edges(found):
    return {"parts": {"edges": [{"cursor": str(at), "node": it} for at, it in enumerate(found)]}}


@case("persisted-get", "graphql", "Search parts by {query}", ["hinge", "latch", "spring", "roller"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("persisted", query), "name", "price", "place")

    digest = "4f1c" * 16

    def site(ask):
        if ask.path == "/":
            at = "'/graphql?operationName=Parts&variables='+encodeURIComponent(JSON.stringify({term:q,first:50}))+'&extensions='+encodeURIComponent(JSON.stringify({persistedQuery:{version:1,sha256Hash:'" + digest + "'}}))"
            return html(page("Parts", graph(at, "{headers:{'x-apollo-operation-name':'Parts'}}")))
        if ask.path == "/graphql":
            if json.loads(ask.query["extensions"])["persistedQuery"]["sha256Hash"] != digest or not ask.header("x-apollo-operation-name"):
                return data({"errors": [{"message": "PersistedQueryNotFound"}]})
            return data({"data": edges(rows(json.loads(ask.query["variables"])["term"]))})
        return None

    return site, rows


@case("batched-post", "graphql", "Zeige alle Ersatzteile zu {query}", ["Kolben", "Riemen", "Ventil", "Lager"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("batched", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            body = "{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify([{operationName:'Session',variables:{},query:'query Session { viewer { name } banners { text } }'},{operationName:'Parts',variables:{term:q},query:'query Parts($term: String!) { parts(term: $term) { edges { node { name price place } } } }'}])}"
            return html(page("Ersatzteile", graph("'/api/graphql'", body), lang="de"))
        if ask.path == "/api/graphql":
            asked = json.loads(ask.body)
            told = {"Session": {"viewer": None, "banners": [{"text": "Versand gratis"}, {"text": "Neue Filiale"}]}}
            return data([{"data": told.get(it["operationName"]) or edges(rows(it["variables"]["term"]))} for it in asked])
        return None

    return site, rows


@case("jsonp", "graphql", "Encuentra tiendas en {query}", ["velmora", "lindoka", "sarvik", "dunmere"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("tiendas", query), "name", "place", "stock")

    def site(ask):
        if ask.path == "/":
            code = (
                "<form><input type=search aria-label=Ciudad></form><ul id=out></ul><script>document.forms[0].onsubmit=e=>{e.preventDefault();const n='jQuery36'+Math.floor(Math.random()*1e9)+'_'+Date.now();"
                "window[n]=j=>{document.getElementById('out').innerHTML=j.tiendas.map(t=>`<li><b>${t.name}</b><br>${t.place} (${t.stock})</li>`).join('')};"
                "const s=document.createElement('script');s.src='/buscar.js?ciudad='+encodeURIComponent(document.querySelector('input').value)+'&callback='+n+'&_='+Date.now();document.head.append(s)}</script>"
            )
            return html(page("Tiendas", code, lang="es"))
        if ask.path == "/buscar.js":
            return script(f"/**/{ask.query['callback']}({json.dumps({'tiendas': rows(ask.query['ciudad'])})});")
        return None

    return site, rows


@case("atom", "graphql", "Read the feed entries about {query}", ["basalt", "granite", "slate", "quartz"], steps=typed("#out li"))
def _():
    def rows(query):
        return [{"name": it["name"], "day": {it["day"], f"{it['day']}T00:00:00Z"}, "place": it["place"]} for it in goods("atom", query)]

    def site(ask):
        if ask.path == "/":
            code = (
                "<form><input type=search aria-label=Topic></form><ul id=out></ul><script>document.forms[0].onsubmit=async e=>{e.preventDefault();const t=await(await fetch('/feed.xml?about='+encodeURIComponent(document.querySelector('input').value))).text();"
                "const d=new DOMParser().parseFromString(t,'text/xml');document.getElementById('out').innerHTML=[...d.querySelectorAll('entry')].map(n=>`<li><b>${n.querySelector('title').textContent}</b> ${n.querySelector('updated').textContent.slice(0,10)} ${n.querySelector('summary').textContent}</li>`).join('')}</script>"
            )
            return html(page("Feeds", code))
        if ask.path == "/feed.xml":
            items = "".join(f"<entry><title>{escape.escape(it['name'])}</title><updated>{max(it['day'], key=len)}</updated><summary>seen in {it['place']}</summary></entry>" for it in rows(ask.query["about"]))
            text = f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title>{items}</feed>'
            return 200, {"content-type": "application/atom+xml; charset=utf-8"}, text.encode()
        return None

    return site, rows
