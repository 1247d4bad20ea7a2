"""Results that a script draws or a form fetches, and some that no one request can give."""

import json

import words
from shapes import listed, pick, shape, ships, where


@shape("load-more")
def _(query):
    rows = ships(query, 30)
    body = f'<ul class="r" id="r">{listed(rows[:10])}</ul><button id="more">Load more</button>'
    script = (
        "<script>let p=1;document.getElementById('more').onclick=async()=>{const a=await fetch('/part/load-more?page='+(++p)+'&q='+encodeURIComponent("
        + json.dumps(query)
        + "));document.getElementById('r').insertAdjacentHTML('beforeend',await a.text())}</script>"
    )
    return body + script, pick(rows[:10], "name", where)


def from_json(name, draw):
    """A page whose script asks `/api/NAME` and draws what comes."""
    return (
        '<p id="told"></p><div id="out"></div><script>const draw=r=>'
        + draw
        + f";document.querySelector('form').addEventListener('submit',async ev=>{{ev.preventDefault();const q=document.querySelector('input').value;"
        f"const a=await fetch('/api/{name}?q='+encodeURIComponent(q));const j=await a.json();document.getElementById('out').innerHTML=draw(j.ships);"
        "document.getElementById('told').textContent='Results for '+q})</script>"
    )


@shape(
    "client",
    script=from_json("client", "'<ul>'+r.map(s=>`<li><b>${s.name}</b> ${s.port} <i>${s.price} €</i></li>`).join('')+'</ul>'"),
)
def _(query):
    return "", pick(ships(query), "name", "port", "price")


@shape(
    "fragment",
    script="<p id='told'></p><div id='out'></div><script>document.querySelector('form').addEventListener('submit',async ev=>{ev.preventDefault();"
    "const q=document.querySelector('input').value;const a=await fetch('/part/plain?q='+encodeURIComponent(q),{headers:{'x-requested-with':'fetch'}});"
    "document.getElementById('out').innerHTML=await a.text();document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(ships(query), "name", where)


@shape("posted", method="post")
def _(query):
    rows = ships(query)
    return f'<ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape("embedded")
def _(query):
    rows = ships(query)
    state = json.dumps(
        {
            "build": "b1",
            "props": {"query": query, "ships": [{name: it[name] for name in ("id", "name", "port", "price")} for it in rows]},
        }
    )
    script = (
        "<script>const s=JSON.parse(document.getElementById('state').textContent);document.getElementById('out').innerHTML='<ul>'+"
        "s.props.ships.map(it=>`<li><b>${it.name}</b> ${it.port}, ${it.price} €</li>`).join('')+'</ul>'</script>"
    )
    return f'<div id="out"></div><script type="application/json" id="state">{state}</script>{script}', pick(
        rows, "name", "port", "price"
    )


@shape("choice", "List the ships in {port}", param="port", examples=["Gdynia", "Malmo", "Trieste", "Bilbao"], field="select")
def _(query):
    rows = ships(query)
    return f'<ul class="r">{listed(rows)}</ul>', pick(rows, "name", where)


@shape(
    "in-the-browser",
    answerable=False,
    because="the page searches an index that it loads whole",
    script="<p id='told'></p><div id='out'></div><script>let all;fetch('/api/all').then(a=>a.json()).then(j=>all=j.ships);"
    "document.querySelector('form').addEventListener('submit',ev=>{ev.preventDefault();const q=document.querySelector('input').value;"
    "document.getElementById('out').innerHTML='<ul>'+all.filter(s=>s.name.includes(q)).map(s=>`<li><b>${s.name}</b> ${s.port}</li>`).join('')+'</ul>';"
    "document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(ships(query), "name", "port")


@shape("change", "Put the ship {query} on my list", answerable=False, because="it changes something", method="post", min_items=None)
def _(query):
    return "<p>Added. Your list has one more ship.</p>", []


@shape(
    "two-calls",
    "Show the log of the ship {query}",
    script="<p id='told'></p><div id='out'></div><script>document.querySelector('form').addEventListener('submit',async ev=>{ev.preventDefault();"
    "const q=document.querySelector('input').value;const f=await (await fetch('/api/find?q='+encodeURIComponent(q))).json();"
    "const j=await (await fetch('/api/log/'+f.ref)).json();document.getElementById('out').innerHTML='<ul>'+j.log.map(s=>`<li><b>${s.day}</b> ${s.what}</li>`).join('')+'</ul>';"
    "document.getElementById('told').textContent='Results for '+q})</script>",
)
def _(query):
    return "", pick(logbook(query), "day", "what")


def logbook(query):
    by = words.seeded("log", query)
    return [
        {"day": f"2026-03-{it:02}", "what": f"{by.choice(words.GEAR)} checked in {by.choice(words.PORTS)}"} for it in range(1, 10)
    ]


def ref(query):
    return f"{words.seeded('ref', query).getrandbits(48):012x}"
