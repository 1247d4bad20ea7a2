"""More markup: records, cards, comparison tables, several lists of one kind."""

from case import FIRST, case, page, pick, typed
from goods import goods, many, only_known
from sites import html, seeded

FORM = "<form action=/search><input type=search name=q aria-label=Search><button>Go</button></form>"


def searched(title, draw, lang="en", head="", known=("/", "/search")):
    """A site of one form whose results are drawn by a function of the query."""

    def site(ask):
        query = ask.query.get("q", "")
        return html(page(title, FORM + (draw(query) if query else ""), head, lang)) if ask.path in known else None

    return site


@case("dl-cards", "markup", "Zoek onderdelen voor {query}", ["ketel", "brander", "rooster", "klep"], steps=typed("li.kaart"))
def _():
    def rows(query):
        return pick(goods("kaart", query), "name", "price", "place")

    def draw(query):
        items = "".join(f"<li class=kaart><h3>{it['name']}</h3><dl><dt>Prijs</dt><dd>€ {it['price']:.2f}</dd><dt>Plaats</dt><dd>{it['place']}</dd></dl></li>" for it in rows(query))
        return f"<ul>{items}</ul>"

    return searched("Onderdelen", draw, "nl"), rows


@case("dl-divs", "markup", "Get the technical data of engine {query}", ["VX-10", "VX-22", "RD-35", "RD-48"], start="/engines/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("engine", query)
        return [{"power": f"{by.randint(4, 90)} kW", "speed": f"{by.randint(900, 4000)} rpm", "fuel": by.choice(["gas", "diesel", "biogas"]), "mass": f"{by.randint(40, 900)} kg"}]

    def site(ask):
        if not ask.path.startswith("/engines/"):
            return None
        it = record(ask.path[9:])[0]
        rows = "".join(f'<div class="flex py-2"><dt class="text-gray-500">{name}</dt><dd class="ml-auto">{value}</dd></div>' for name, value in zip(("Power", "Speed", "Fuel", "Mass"), it.values()))
        return html(page("Engine", f"<h1>{ask.path[9:]}</h1><dl class='divide-y'>{rows}</dl>"))

    return site, record


@case("table-each", "markup", "Mostra le schede dei filtri {query}", ["aria", "olio", "acqua", "polvere"], steps=typed("table.scheda"))
def _():
    def rows(query):
        return pick(goods("schede", query, 3, 6), "name", "stock", "day")

    def draw(query):
        return "".join(
            f'<table class="scheda" border=1><tr><th colspan=2>{it["name"]}</th></tr><tr><td>Disponibili</td><td>{it["stock"]}</td></tr><tr><td>Dal</td><td>{it["day"]}</td></tr></table>' for it in rows(query)
        )

    return searched("Filtri", draw, "it"), rows


@case("infobox-pairs", "markup", "Show the port facts of {query}", ["velmora", "sarvik", "kastelu", "tremosa"], start="/port/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("port", query)
        return [{"depth": f"{by.randint(4, 30)} m", "berths": by.randint(10, 300), "cranes": by.randint(1, 40), "tide": f"{by.randint(1, 9)}.{by.randint(1, 9)} m"}]

    def site(ask):
        if not ask.path.startswith("/port/"):
            return None
        it = record(ask.path[6:])[0]
        table = f"<table class=info><tr><th>Depth</th><td>{it['depth']}</td><th>Berths</th><td>{it['berths']}</td></tr><tr><th>Cranes</th><td>{it['cranes']}</td><th>Tide</th><td>{it['tide']}</td></tr></table>"
        return html(page("Port", f"<h1>{ask.path[6:]}</h1>{table}<p>All data without warranty.</p>"))

    return site, record


@case("old-price", "markup", "Cherche les promotions sur {query}", ["tapis", "miroir", "vase", "cadre"], steps=typed("div.produit"))
def _():
    def rows(query):
        return [{"name": it["name"], "old": f"{it['price']:.2f} €", "new": f"{it['price'] * 0.8:.2f} €"} for it in goods("promo", query)]

    def draw(query):
        return "".join(f'<div class="produit"><a href="#"><span class="nom">{it["name"]}</span></a><div class="prix"><del>{it["old"]}</del><ins>{it["new"]}</ins></div></div>' for it in rows(query))

    return searched("Promotions", draw, "fr"), rows


@case("tags-optional", "markup", "Find recipes with {query}", ["barley", "turnip", "fennel", "lentil"], steps=typed("article.hit"))
def _():
    @only_known
    def rows(query):
        by = seeded("tags", query)
        return [{"title": f"{by.choice(['Stew', 'Soup', 'Bake', 'Salad'])} of {query} no. {at}", "tags": tuple(by.sample(["quick", "cold", "spicy", "mild", "oven"], at % 3)), "time": f"{by.randint(10, 90)} min"} for at in range(1, by.randint(5, 8))]

    def draw(query):
        out = ""
        for it in rows(query):
            tags = "<ul class=tags>" + "".join(f"<li>{tag}</li>" for tag in it["tags"]) + "</ul>" if it["tags"] else ""
            out += f"<article class=hit><h2>{it['title']}</h2><span class=time>{it['time']}</span>{tags}</article>"
        return f"<main>{out}</main>"

    return searched("Recipes", draw), rows


@case("ago-times", "markup", "Pokaż zgłoszenia o {query}", ["drodze", "moście", "parku", "rynku"], steps=typed("li.zgl"))
def _():
    @only_known
    def rows(query):
        by = seeded("ago", query)
        return [{"title": f"Zgłoszenie {by.randint(1000, 9999)} o {query}", "when": {f"{hours} godz. temu", f"2026-11-2{by.randint(0, 7)}T0{hours}:00:00Z"}, "state": by.choice(["nowe", "w toku", "zamknięte"])} for hours in range(2, by.randint(6, 9))]

    def draw(query):
        out = ""
        for it in rows(query):
            said, stamp = sorted(it["when"], key=len)
            out += f'<li class="zgl"><a href="#">{it["title"]}</a> <time datetime="{stamp}">{said}</time> <span class="label">{it["state"]}</span></li>'
        return f"<ul>{out}</ul>"

    return searched("Zgłoszenia", draw, "pl"), rows


@case("action-columns", "tables", "List the devices in room {query}", ["r101", "r202", "r303", "r404"], steps=typed("tbody tr"))
def _():
    def rows(query):
        return pick(goods("devices", query), "name", "colour", "day")

    def draw(query):
        lines = "".join(f'<tr><td><input type=checkbox name=s value={at}></td><td>{it["name"]}</td><td>{it["colour"]}</td><td>{it["day"]}</td><td><a href="/e/{at}">Edit</a> <button>Delete</button></td></tr>' for at, it in enumerate(rows(query)))
        return f"<table><thead><tr><th><input type=checkbox></th><th>Device</th><th>Case</th><th>Bought</th><th>Actions</th></tr></thead><tbody>{lines}</tbody></table>"

    return searched("Devices", draw), rows


@case("sponsored", "markup", "Suche Werkzeuge: {query}", ["Bohrer", "Hammer", "Sägen", "Meißel"], steps=typed("div.card"))
def _():
    def rows(query):
        return pick(goods("werkzeuge", query), "name", "price", "stock")

    def draw(query):
        cards = [f'<div class="card"><h4>{it["name"]}</h4><span class="p">{it["price"]:.2f} €</span><span class="s">{it["stock"]} Stück</span></div>' for it in rows(query)]
        cards.insert(2, '<div class="card ad"><small>Anzeige</small><img src="/ad.png" alt=""><p>Jetzt Newsletter abonnieren</p></div>')
        return f'<div class="grid">{"".join(cards)}</div>'

    return searched("Werkzeuge", draw, "de"), rows


@case("ticks", "tables", "Compare the plans for {query}", ["storage", "backup", "archive", "mirror"], start="/plans/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("plans", query)
        return [{"plan": f"{name} {query}", "fee": f"{by.randint(2, 90)} cr", "phone": by.choice(["yes", "no"]), "size": f"{by.randint(1, 90)} TB"} for name in ("Mini", "Midi", "Maxi", "Ultra")]

    def site(ask):
        if not ask.path.startswith("/plans/"):
            return None
        icon = lambda said: f'<i class="icon icon-{said}" title="{said}"></i>'  # noqa: E731
        lines = "".join(f"<tr><td>{it['plan']}</td><td>{it['fee']}</td><td>{icon(it['phone'])}</td><td>{it['size']}</td></tr>" for it in rows(ask.path[7:]))
        return html(page("Plans", f"<table><thead><tr><th>Plan<th>Fee<th>Phone support<th>Space</thead><tbody>{lines}</tbody></table>"))

    return site, rows


@case("transposed", "tables", "Compare the models of series {query}", ["ax", "bx", "cx", "dx"], start="/series/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("series", query)
        return [{"model": f"{query.upper()}-{by.randint(100, 999)}", "power": f"{by.randint(10, 99)} W", "noise": f"{by.randint(20, 70)} dB", "price": f"{by.randint(100, 900)} kr"} for _ in range(by.randint(3, 4))]

    def site(ask):
        if not ask.path.startswith("/series/"):
            return None
        found = rows(ask.path[8:])
        head = "".join(f"<th scope=col>{it['model']}</th>" for it in found)
        lines = "".join(f"<tr><th scope=row>{name.title()}</th>{''.join(f'<td>{it[name]}</td>' for it in found)}</tr>" for name in ("power", "noise", "price"))
        return html(page("Series", f"<h1>Series {ask.path[8:]}</h1><table class=compare><thead><tr><td></td>{head}</tr></thead><tbody>{lines}</tbody></table>"))

    def by_line(query):
        """The table as it is: a line for each fact, with a column for each model."""
        found = rows(query)
        return [{"label": name.title(), "values": tuple(it[name] for it in found)} for name in ("power", "noise", "price")] if found else []

    return site, by_line


@case("two-tables", "tables", "Show open and closed jobs of crew {query}", ["alpha", "bravo", "delta", "gamma"], start="/crew/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("crew", query)
        return [{"job": f"J{by.randint(1000, 9999)}", "site": f"Lot {by.randint(1, 90)}", "hours": by.randint(1, 80)} for _ in range(by.randint(5, 8))]

    def site(ask):
        if not ask.path.startswith("/crew/"):
            return None
        found = rows(ask.path[6:])
        line = lambda it: f"<tr><td>{it['job']}</td><td>{it['site']}</td><td>{it['hours']}</td></tr>"  # noqa: E731
        table = lambda all: f"<table class=jobs><thead><tr><th>Job<th>Site<th>Hours</thead><tbody>{''.join(map(line, all))}</tbody></table>"  # noqa: E731
        return html(page("Crew", f"<h1>{ask.path[6:]}</h1><h2>Open</h2>{table(found[:3])}<h2>Closed</h2>{table(found[3:])}"))

    return site, rows


@case("mobile-labels", "tables", "Lista las rutas desde {query}", ["kastelu", "lindoka", "dunmere", "velmora"], steps=typed("tbody tr"))
def _():
    def rows(query):
        return pick(goods("rutas", query), "make", "day", "price")

    def draw(query):
        cell = lambda label, value: f'<td><span class="solo-movil">{label}:</span> {value}</td>'  # noqa: E731
        lines = "".join(f"<tr>{cell('Línea', it['make'])}{cell('Fecha', it['day'])}{cell('Precio', it['price'])}</tr>" for it in rows(query))
        return f"<table><thead><tr><th>Línea<th>Fecha<th>Precio</thead><tbody>{lines}</tbody></table>"

    return searched("Rutas", draw, "es", "<style>.solo-movil{display:none}</style>"), rows


@case("twice-for-phones", "markup", "Search the rental list for {query}", ["crane", "winch", "dumper", "roller"], steps=typed(".desktop .car"))
def _():
    def rows(query):
        return pick(goods("rental", query), "name", "price", "place")

    def draw(query):
        item = lambda it: f'<div class="car"><b>{it["name"]}</b><span>{it["price"]:.2f}</span><span>{it["place"]}</span></div>'  # noqa: E731
        all_of_it = "".join(map(item, rows(query)))
        return f'<div class="phone">{all_of_it}</div><div class="desktop">{all_of_it}</div>'

    return searched("Rental", draw, head="<style>.phone{display:none}.car{display:flex;gap:1em}</style>"), rows


@case("soft-hyphens", "markup", "Finde Begriffe zu {query}", ["Schalter", "Leitung", "Motor", "Gewinde"], steps=typed("li.b"))
def _():
    def rows(query):
        return [{"name": f"{it['make']}{query.lower()}verbindung {it['stock']}", "weight": f"{it['price']} kg"} for it in goods("begriffe", query)]

    def draw(query):
        out = ""
        for it in rows(query):
            out += f"<li class=b><span>{it['name'].replace('verbindung', '&shy;ver&shy;bindung')}</span> <i>{it['weight'].replace(' ', '&nbsp;')}</i></li>"
        return f"<ul>{out}</ul>"

    return searched("Begriffe", draw, "de"), rows


@case("pager-numbers", "pages", "Show all hulls of type {query}", ["oak", "elm", "fir", "yew"], steps=typed(".hull"), expect=FIRST)
def _():
    def rows(query):
        return pick(many("hulls", query, {"oak": 28, "elm": 35, "fir": 41, "yew": 4}.get(query, 0)), "name", "place")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query, at = ask.query.get("q", ""), int(ask.query.get("p", 1))
        found = rows(query)
        items = "".join(f"<div class=hull><strong>{it['name']}</strong><div>{it['place']}</div></div>" for it in found[(at - 1) * 10 : at * 10])
        pages = range(1, (len(found) + 9) // 10 + 1)
        pager = '<ul class="pagination">' + "".join(f'<li class="{"active" if n == at else ""}"><a href="/search?q={query}&p={n}">{n}</a></li>' for n in pages) + "</ul>" if len(pages) > 1 else ""
        return html(page("Hulls", FORM + items + pager))

    return site, rows


@case("one-hit-redirect", "markup", "Search the archive for {query}", ["plan", "chart", "deed", "seal"], steps=typed("ol.found li"))
def _():
    def rows(query):
        found = goods("archive", query)
        return pick(found[:1] if query == "seal" else found, "name", "day")

    def site(ask):
        if ask.path.startswith("/item/"):
            it = rows(ask.path[6:])[0]
            return html(page(it["name"], f"{FORM}<h1>{it['name']}</h1><p>Filed <time>{it['day']}</time></p>"))
        query = ask.query.get("q", "")
        if ask.path == "/search" and len(rows(query)) == 1:
            return 302, {"location": f"/item/{query}"}, b""
        items = "".join(f"<li><a href=/item/{at}>{it['name']}</a> <time>{it['day']}</time></li>" for at, it in enumerate(rows(query)))
        return html(page("Archive", FORM + (f"<ol class=found>{items}</ol>" if items else ""))) if ask.path in ("/", "/search") else None

    return site, rows
