"""Texts and lists in elements of many kinds."""

from case import case, page, pick, typed
from goods import goods, only_known
from sites import data, html, seeded

FORM = "<form action=/search><input type=search name=q aria-label=Search><button>Go</button></form>"


@case("convert-output", "markup", "Convert {amount} {unit} to the other units", [{"amount": "12", "unit": "fathom"}, {"amount": "7", "unit": "furlong"}, {"amount": "31", "unit": "chain"}, {"amount": "5", "unit": "rod"}],
      steps=[{"fill": {"css": "#amount", "value": "{amount}"}}, {"fill": {"css": "#unit", "value": "{unit}"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "output.done"}}], one=True)
def _():
    size = {"fathom": 1.8288, "furlong": 201.168, "chain": 20.1168, "rod": 5.0292}

    def record(amount, unit):
        metres = float(amount) * size[unit]
        return [{"metres": f"{metres:.4f}", "feet": f"{metres / 0.3048:.2f}", "yards": f"{metres / 0.9144:.2f}"}]

    def site(ask):
        if ask.path not in ("/", "/convert"):
            return None
        body = "<form action=/convert><input id=amount name=amount> <input id=unit name=unit> <button>Convert</button></form>"
        if ask.path == "/convert":
            it = record(ask.query["amount"], ask.query["unit"])[0]
            body += f"<p><label>Metres</label> <output class=done>{it['metres']}</output></p><p><label>Feet</label> <output class=done>{it['feet']}</output></p><p><label>Yards</label> <output class=done>{it['yards']}</output></p>"
        return html(page("Convert", body))

    return site, record


@case("faq-buttons", "markup", "Search the help for {query}", ["warranty", "invoice", "pickup", "voucher"], steps=typed(".accordion-item"))
def _():
    @only_known
    def rows(query):
        by = seeded("faq", query)
        verbs = by.sample(["change", "cancel", "print", "extend", "share", "find"], by.randint(3, 5))
        return [{"question": f"How do I {verb} a {query}?", "answer": f"Open page {by.randint(2, 60)} and press key {by.randint(100, 999)}."} for verb in verbs]

    def site(ask):
        query = ask.query.get("q", "")
        items = "".join(
            f'<div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" type="button" data-bs-toggle="collapse" data-bs-target="#c{at}" aria-expanded="false">{it["question"]}</button></h2>'
            f'<div id="c{at}" class="accordion-collapse collapse"><div class="accordion-body">{it["answer"]}</div></div></div>'
            for at, it in enumerate(rows(query) if query else [])
        )
        style = "<style>.collapse{display:none}.collapse.show{display:block}</style>"
        return html(page("Help", FORM + f'<div class="accordion" id="faq">{items}</div>', style)) if ask.path in ("/", "/search") else None

    return site, rows


@case("spans-flex", "markup", "List the deliveries for depot {query}", ["north", "south", "upper", "lower"], steps=typed(".row"))
def _():
    def rows(query):
        return pick(goods("flex", query), "name", "day", "stock", "place")

    def site(ask):
        query = ask.query.get("q", "")
        items = "".join(f'<div class="row"><span class="c1">{it["name"]}</span><span class="c2">{it["day"]}</span><span class="c3">{it["stock"]}</span><span class="c4">{it["place"]}</span></div>' for it in (rows(query) if query else []))
        return html(page("Deliveries", FORM + f"<main>{items}</main>", "<style>.row{display:flex;gap:2em}</style>")) if ask.path in ("/", "/search") else None

    return site, rows


@case("hidden-sample", "markup", "Finde Angebote zu {query}", ["Hobel", "Zange", "Feile", "Zwinge"], steps=typed(".angebot.da"))
def _():
    def rows(query):
        return pick(goods("hidden", query), "name", "price", "colour")

    def site(ask):
        query = ask.query.get("q", "")
        card = '<div class="angebot {}"><h3>{}</h3><span class="preis">{:.2f} €</span> <i>{}</i></div>'
        items = card.format("muster", "Muster Angebot", 0, "farbe") + "".join(card.format("da", it["name"], it["price"], it["colour"]) for it in (rows(query) if query else []))
        return html(page("Angebote", FORM + f"<div id=liste>{items}</div>", "<style>.muster{display:none}</style>", lang="de")) if ask.path in ("/", "/search") else None

    return site, rows


@case("stars-alt", "markup", "Read the reviews of {query}", ["kettle", "toaster", "blender", "grater"], steps=typed("li.review"))
def _():
    @only_known
    def rows(query):
        by = seeded("reviews", query)
        return [{"title": f"{by.choice(['Works', 'Broke', 'Loud', 'Fine'])} since week {by.randint(2, 90)}", "stars": {f"{n} out of 5", f"{n} out of 5 stars"}, "day": f"2026-0{by.randint(1, 9)}-1{by.randint(0, 9)}"} for n in [by.randint(1, 5) for _ in range(by.randint(4, 6))]]

    def site(ask):
        query = ask.query.get("q", "")
        items = ""
        for it in rows(query) if query else []:
            said = min(it["stars"], key=len)
            items += f'<li class="review"><b>{it["title"]}</b> <img src="/img/stars-{said[0]}.svg" alt="{said}" width=90> <time>{it["day"]}</time></li>'
        return html(page("Reviews", FORM + f"<ol>{items}</ol>")) if ask.path in ("/", "/search") else None

    return site, rows


@case("pictures", "markup", "Get the picture addresses of {query}", ["lantern", "hammock", "paddle", "anvil"], steps=typed("figure"))
def _():
    def rows(query):
        return [{"name": it["name"], "src": {f"/media/{it['id']}.webp", f"http://pictures.test/media/{it['id']}.webp"}} for it in goods("pictures", query)]

    def site(ask):
        query = ask.query.get("q", "")
        items = "".join(f'<figure><img loading="lazy" src="{min(it["src"], key=len)}" alt=""><figcaption>{it["name"]}</figcaption></figure>' for it in (rows(query) if query else []))
        return html(page("Pictures", FORM + f"<section class=wall>{items}</section>")) if ask.path in ("/", "/search") else None

    return site, rows


@case("base-links", "markup", "Liste os documentos sobre {query} com os seus links", ["cobre", "vidro", "milho", "linho"], steps=typed("ul.docs li"))
def _():
    def rows(query):
        return [{"name": it["name"], "link": {f"doc/{it['id']}.pdf", f"http://base-links.test/arquivo/doc/{it['id']}.pdf", f"/arquivo/doc/{it['id']}.pdf"}, "day": it["day"]} for it in goods("docs", query)]

    def site(ask):
        query = ask.query.get("q", "")
        items = "".join(f'<li><a href="{min(it["link"], key=len)}">{it["name"]}</a> <small>{it["day"]}</small></li>' for it in (rows(query) if query else []))
        return html(page("Arquivo", FORM + f"<ul class=docs>{items}</ul>", '<base href="/arquivo/">', lang="pt")) if ask.path in ("/", "/search") else None

    return site, rows


@case("record-beside", "markup", "Show the days and the price of course {query}", ["weld-1", "turn-2", "mill-3", "cast-4"], start="/course/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("course", query)
        return [{"days": f"{by.choice(['Mon', 'Tue'])} and {by.choice(['Thu', 'Fri'])}", "price": f"{by.randint(90, 800)} kr", "room": f"Hall {by.randint(1, 40)}", "seats": f"{by.randint(4, 60)} seats"}]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "course" or len(parts) != 2:
            return None
        it, by = record(parts[1])[0], seeded("beside", parts[1])
        facts = f"<table class=facts><tr><th>Days</th><td>{it['days']}</td></tr><tr><th>Price</th><td>{it['price']}</td></tr><tr><th>Room</th><td>{it['room']}</td></tr><tr><th>Places</th><td>{it['seats']}</td></tr></table>"
        others = "".join(f'<div class="tile"><a href="/course/o{at}">Course o{at}</a><span>{by.randint(90, 800)} kr</span><span>{by.choice(["Mon", "Wed"])}</span></div>' for at in range(7))
        return html(page("Course", f"<h1>Course {parts[1]}</h1>{facts}<h2>You may also like</h2><div class=tiles>{others}</div>"))

    return site, record


@case("own-address", "markup", "Wat is de waterstand bij meetpunt {query}?", ["zp-04", "zp-17", "zp-23", "zp-38"], start="/meetpunt/{query}.html", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("stand", query)
        return [{"stand": f"{by.randint(-90, 400)} cm", "trend": by.choice(["stijgend", "dalend", "gelijk"]), "temp": f"{by.randint(2, 24)},{by.randint(0, 9)} °C"}]

    def site(ask):
        if not ask.path.startswith("/meetpunt/"):
            return data({"visitors": 3}) if ask.path == "/api/hit" else None
        query = ask.path[10:-5]
        it = record(query)[0]
        body = f"<h1>Meetpunt {query}</h1><p class=lead>Stand: <strong>{it['stand']}</strong></p><ul class=kv><li><span>Trend</span> <b>{it['trend']}</b></li><li><span>Watertemperatuur</span> <b>{it['temp']}</b></li></ul><script>fetch('/api/hit?p={query}')</script>"
        return html(page("Waterstand", body, lang="nl"))

    return site, record


@case("day-headings", "markup", "Show the programme of hall {query}", ["red", "blue", "grey", "pink"], start="/hall/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("programme", query)
        return [{"at": f"{hour}:{by.choice(['00', '15', '30'])}", "title": f"{by.choice(['Show', 'Talk', 'Demo'])} {by.randint(100, 999)}", "room": f"Stage {by.randint(1, 9)}"} for _ in range(2) for hour in sorted(by.sample(range(10, 22), by.randint(2, 4)))]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "hall" or len(parts) != 2:
            return None
        out, last = "", "99"
        for it in rows(parts[1]):
            if int(it["at"][:2]) <= int(last[:2]):
                out += ("</ul>" if out else "") + f"<h2>{'Friday' if not out else 'Saturday'}</h2><ul class=day>"
            last = it["at"]
            out += f"<li><time>{it['at']}</time><div class=what><h3>{it['title']}</h3><p>{it['room']}</p></div></li>"
        return html(page("Programme", f"<h1>Hall {parts[1]}</h1>{out}</ul>"))

    return site, rows
