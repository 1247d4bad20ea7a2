"""Tables as sites write them."""

from case import case, page, pick, typed
from goods import PLACES, goods, only_known
from sites import html, seeded


def form(label="Search", name="q", action="/search"):
    return f'<form action="{action}"><label>{label} <input type=search name={name}></label> <button>Go</button></form>'


@case("board-nested", "tables", "Show the bulletin posts about {query}", ["masonry", "plumbing", "roofing", "glazing"], steps=typed("td.post"))
def _():
    def rows(query):
        return pick(goods("board", query), "name", "day", "stock")

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        lines = "".join(
            f'<tr bgcolor={"#eee" if at % 2 else "#ddd"}><td class=post><table width="100%"><tr><td rowspan=2><img src=/t.gif alt=""></td><td><b><a href="/p/{it["id"]}">{it["name"]}</a></b></td></tr>'
            f"<tr><td><font size=1>posted {it['day']}</font></td></tr></table></td><td align=center>{it['stock']}</td></tr>"
            for at, it in enumerate(goods("board", query))
        )
        body = f'<table width=760><tr><td width=160><table><tr><td><a href=/>Index</a></td></tr><tr><td><a href=/help>Help</a></td></tr></table></td><td>{form()}'
        body += f'<table class=posts width=600><tr><th>Topic</th><th>Replies</th></tr>{lines}</table>' if query else ""
        return html(page("Board", body + "</td></tr></table>"))

    return site, rows


@case("group-rows", "tables", "List stock of {query} by warehouse", ["anchors", "bolts", "cleats", "dowels"], steps=typed("tbody td"))
def _():
    @only_known
    def rows(query):
        by = seeded("groups", query)
        out = []
        for place in by.sample(PLACES, by.randint(2, 3)):
            out += [{"place": place, "item": f"{query}-{by.randint(100, 999)}", "units": by.randint(1, 90), "bin": f"B{by.randint(10, 99)}"} for _ in range(by.randint(1, 4))]
        return out

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query, last, lines = ask.query.get("q", ""), None, ""
        for it in rows(query) if query else []:
            if it["place"] != last:
                lines += f'<tr class="group"><th colspan=3 scope=rowgroup>{it["place"]}</th></tr>'
                last = it["place"]
            lines += f"<tr><td>{it['item']}</td><td>{it['units']}</td><td>{it['bin']}</td></tr>"
        return html(page("Stock", form() + (f"<table><thead><tr><th>Item<th>Units<th>Bin</thead><tbody>{lines}</tbody></table>" if query else "")))

    # The group is beside the item or not; the rows are what counts.
    return site, lambda query: pick(rows(query), "item", "units", "bin")


@case("timetable-rowspan", "tables", "What is the timetable of line {query}?", ["K4", "M9", "T2", "R7"], start="/line/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("timetable", query)
        return [
            {"day": day, "at": f"{hour:02}:{by.randint(10, 59)}", "stop": by.choice(PLACES)}
            for day in ("Monday", "Wednesday", "Saturday")
            for hour in sorted(by.sample(range(5, 23), by.randint(1, 3)))
        ]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "line" or len(parts) != 2:
            return None
        found, lines = rows(parts[1]), ""
        for day in ("Monday", "Wednesday", "Saturday"):
            of = [it for it in found if it["day"] == day]
            for at, it in enumerate(of):
                lines += "<tr>" + (f"<th rowspan={len(of)}>{day}</th>" if not at else "") + f"<td>{it['at']}</td><td>{it['stop']}</td></tr>"
        return html(page("Line", f"<h1>Line {parts[1]}</h1><table class=tt><caption>Departures</caption><tr><th>Day<th>Time<th>From</tr>{lines}</table>"))

    return site, rows


@case("two-heads", "tables", "Vergleiche die Messwerte der Anlage {query}", ["Alfa-1", "Beta-2", "Gama-3", "Zeta-4"], steps=typed("tbody td"))
def _():
    @only_known
    def rows(query):
        by = seeded("heads", query)
        return [{"month": f"{month:02}/2026", "low": by.randint(100, 300), "high": by.randint(301, 900), "off": by.randint(1, 20), "on": by.randint(21, 99)} for month in range(1, by.randint(4, 8))]

    def site(ask):
        if ask.path not in ("/", "/search"):
            return None
        query = ask.query.get("q", "")
        lines = "".join(f"<tr><td>{it['month']}</td><td>{it['low']}</td><td>{it['high']}</td><td>{it['off']}</td><td>{it['on']}</td></tr>" for it in rows(query)) if query else ""
        head = "<thead><tr><th rowspan=2>Monat</th><th colspan=2>Leistung</th><th colspan=2>Stunden</th></tr><tr><th>min</th><th>max</th><th>aus</th><th>an</th></tr></thead>"
        return html(page("Messwerte", form("Anlage") + (f"<h2>{query}</h2><table>{head}<tbody>{lines}</tbody></table>" if query else ""), lang="de"))

    return site, rows


@case("lone-dates", "tables", "Show what happened with crane {query}", ["C11", "C24", "C35", "C48"], start="/crane/{query}/log")
def _():
    @only_known
    def rows(query):
        by = seeded("crane", query)
        return [
            {"at": f"{hour:02}:{by.randint(10, 59)}", "what": f"{by.choice(['lift', 'stop', 'check', 'swing'])} {by.randint(100, 999)}", "load": by.randint(100, 900)}
            for day in range(by.randint(2, 3))
            for hour in sorted(by.sample(range(6, 20), by.randint(2, 4)))
        ]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "crane" or len(parts) != 3:
            return None
        lines, last, day = "", "99", 0
        for it in rows(parts[1]):
            if it["at"] < last:
                day += 1
                lines += f"<tr><td colspan=3>{day} March 2026</td></tr>"
            last = it["at"]
            lines += f"<tr><td>{it['at']}</td><td>{it['what']}</td><td>{it['load']} kg</td></tr>"
        return html(page("Log", f"<h1>Crane {parts[1]}</h1><table id=log><thead><tr><th>Time<th>Event<th>Load</thead><tbody>{lines}</tbody></table>"))

    def truth(query):
        return rows(query)

    return site, truth


@case("foot-total", "tables", "Get the invoice lines of order {query}", ["7311", "7425", "7538", "7692"], start="/orders/{query}")
def _():
    def rows(query):
        return [{"name": it["name"].replace(f" {query}", ""), "units": it["stock"], "price": it["price"]} for it in goods("order", query)]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "orders" or len(parts) != 2:
            return None
        found = rows(parts[1])
        lines = "".join(f"<tr><td>{it['name']}</td><td class=num>{it['units']}</td><td class=num>{it['price']:.2f}</td></tr>" for it in found)
        total = sum(it["units"] * it["price"] for it in found)
        foot = f"<tfoot><tr><td colspan=2>Subtotal</td><td>{total:,.2f}</td></tr><tr><td colspan=2>Tax 20 %</td><td>{total / 5:,.2f}</td></tr></tfoot>"
        return html(page("Order", f"<h1>Order {parts[1]}</h1><table class=lines><thead><tr><th>Line</th><th>Units</th><th>Price</th></tr></thead><tbody>{lines}</tbody>{foot}</table>"))

    return site, rows


@case("state-class", "tables", "Which jobs ran on machine {query}?", ["mill", "press", "lathe", "saw"], start="/machine/{query}")
def _():
    @only_known
    def rows(query):
        by = seeded("jobs", query)
        states = ["done", "failed", "queued"] if query in ("mill", "press") else ["done", "skipped", "failed", "blocked"]
        return [{"job": f"job-{by.randint(100, 999)}", "state": states[at % len(states)], "secs": by.randint(1, 900)} for at in range(by.randint(5, 8))]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "machine" or len(parts) != 2:
            return None
        lines = "".join(f'<tr><td class="job">{it["job"]}</td><td class="state {it["state"]}"><span class="dot dot-{it["state"]}"></span><span class="{it["state"]}-text">{it["state"]}</span></td><td>{it["secs"]} s</td></tr>' for it in rows(parts[1]))
        return html(page("Jobs", f"<h1>{parts[1]}</h1><table><tr><th>Job<th>State<th>Took</tr>{lines}</table>"))

    return site, rows


@case("dd-record", "tables", "Show the data sheet of pump {query}", ["hydra-2", "storm-5", "brook-8", "surge-3"], start="/pumps/{query}", one=True)
def _():
    @only_known
    def record(query):
        by = seeded("sheet", query)
        return [{"flow": f"{by.randint(10, 900)} l/min", "head": f"{by.randint(2, 90)} m", "weight": f"{by.randint(2, 60)}.5 kg", "housing": by.choice(["cast iron", "bronze", "polymer"]), "since": f"20{by.randint(10, 25)}"}]

    def site(ask):
        parts = ask.path.strip("/").split("/")
        if parts[0] != "pumps" or len(parts) != 2:
            return None
        it = record(parts[1])[0]
        sheet = f"<dl class=sheet><dt>Flow rate</dt><dd>{it['flow']}</dd><dt>Head</dt><dd>{it['head']}</dd><dt>Weight</dt><dd>{it['weight']}</dd><dt>Housing</dt><dd>{it['housing']}</dd><dt>Made since</dt><dd>{it['since']}</dd></dl>"
        others = "".join(f'<li><a href="/pumps/x{at}">Pump x{at}</a></li>' for at in range(6))
        return html(page("Pump", f"<nav><a href=/>Home</a> <a href=/pumps>Pumps</a></nav><h1>Pump {parts[1]}</h1>{sheet}<aside><h2>Other pumps</h2><ul>{others}</ul></aside>"))

    return site, record
