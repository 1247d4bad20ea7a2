"""Forms that are sent in parts (`multipart/form-data`)."""

import email
import email.policy

from case import DECLINED, case, page, pick, typed
from goods import goods
from sites import data, html


def sent(ask):
    """The text fields of a body, read by another program than the one that wrote it; nothing where it is no form in parts."""
    kind = ask.header("content-type")
    if not kind.startswith("multipart/form-data"):
        return {}
    message = email.message_from_bytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + ask.body, policy=email.policy.HTTP)
    return {it.get_param("name", header="content-disposition"): it.get_content().rstrip("\r\n") for it in message.iter_parts() if it.get_filename() is None}


def listed(items):
    return "".join(f"<tr><td>{it['name']}</td><td>{it['price']}</td><td>{it['place']}</td></tr>" for it in items)


@case("parts-native", "requests", "Search the sheds for {query}", ["spade", "hoe", "rake", "scythe"], steps=typed("table.t td", "input[name=what]"))
def _():
    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        what = sent(ask).get("what", "") if ask.method == "POST" else ""
        table = f"<table class=t><tr><th>Thing<th>Price<th>Place</tr>{listed(goods('sheds', what))}</table>" if what else ""
        return html(page("Sheds", f"<form method=post action=/search enctype=multipart/form-data><input name=what aria-label=Search><input type=hidden name=sort value=name><button>Search</button></form>{table}"))

    return site, lambda query: pick(goods("sheds", query), "name", "price", "place")


@case("parts-two", "requests", "Find {kind} made by {maker}", [{"kind": "bolts", "maker": "Tarvo"}, {"kind": "screws", "maker": "Hubrin"}, {"kind": "nails", "maker": "Tarvo"}, {"kind": "bolts", "maker": "Salvek"}],
      steps=[{"fill": {"css": "#k", "value": "{kind}"}}, {"fill": {"css": "#m", "value": "{maker}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "#out li"}}])
def _():
    def rows(kind, maker):
        return pick(goods(f"two {maker}", kind), "name", "price", "colour")

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const f=new FormData(document.forms[0]);f.append('page_size','50');"
                "const j=await(await fetch('/api/find',{method:'POST',body:f})).json();document.getElementById('out').innerHTML=j.hits.map(r=>`<li>${r.name} <b>${r.price}</b> <i>${r.colour}</i></li>`).join('')}</script>"
            )
            return html(page("Find", f"<form><input id=k name=kind aria-label=Kind><input id=m name=maker aria-label=Maker><button>Find</button></form><ul id=out></ul>{code}"))
        if ask.path == "/api/find":
            fields = sent(ask)
            return data({"hits": rows(fields["kind"], fields["maker"]) if fields.get("maker") in ("Tarvo", "Hubrin", "Salvek") else []})
        return None

    return site, rows


@case("parts-file", "requests", "Search the shelves for {query} like the picture", ["vase", "bowl", "jug", "cup"], steps=typed("#out li"), expect=DECLINED)
def _():
    """A file goes along, and the answer depends on it."""

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>document.forms[0].onsubmit=async e=>{e.preventDefault();const f=new FormData(document.forms[0]);f.append('picture',new Blob(['a picture of '+f.get('q')]),'mine.txt');"
                "const j=await(await fetch('/like',{method:'POST',body:f})).json();document.getElementById('out').innerHTML=j.hits.map(r=>`<li>${r.name} <b>${r.price}</b></li>`).join('')}</script>"
            )
            return html(page("Shelves", f"<form><input type=search name=q aria-label=Search></form><ul id=out></ul>{code}"))
        if ask.path == "/like":
            return data({"hits": pick(goods("shelves", sent(ask)["q"]), "name", "price") if b"a picture of" in ask.body else []})
        return None

    return site, lambda query: pick(goods("shelves", query), "name", "price")
