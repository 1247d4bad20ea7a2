"""Results in tables."""

import words
from shapes import cells, e, pick, shape, ships, where


@shape("zebra")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<tr class="{"odd" if at % 2 else "even"}"><td class="n">{e(it["name"])}</td><td class="w">{e(where(it))}</td></tr>'
        for at, it in enumerate(rows)
    )
    return f'<table id="t"><tbody>{body}</tbody></table>', pick(rows, "name", where)


@shape("table")
def _(query):
    rows = ships(query)
    head = "<tr><th>Name</th><th>Port</th><th>Price</th><th>Built</th></tr>"
    return f"<table>{head}{cells(rows, 'name', 'port', 'price', 'year')}</table>", pick(rows, "name", "port", "price", "year")


@shape("big-table")
def _(query):
    rows = ships(query, 300)
    body = "".join(
        f'<tr data-pad="{"y" * 60}"><td class="n">{e(it["name"])}</td><td class="w">{e(it["port"])}</td><td class="p">{it["price"]}</td></tr>'
        for it in rows
    )
    head = "<thead><tr><th>Name</th><th>Port</th><th>Price</th></tr></thead>"
    return f'<table class="wide">{head}<tbody>{body}</tbody></table>', pick(rows, "name", "port", "price")


@shape("row-span", "List the ships called {query} with their ports")
def _(query):
    rows = sorted(ships(query), key=lambda it: it["port"])
    body = ""
    for at, it in enumerate(rows):
        first = at == 0 or rows[at - 1]["port"] != it["port"]
        span = sum(other["port"] == it["port"] for other in rows)
        port = f'<td rowspan="{span}">{e(it["port"])}</td>' if first else ""
        body += f"<tr>{port}<td>{e(it['name'])}</td><td>{it['price']}</td></tr>"
    head = "<thead><tr><th>Port</th><th>Name</th><th>Price</th></tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "port", "price")


@shape("col-span", "List the ships called {query} with their prices")
def _(query):
    rows = sorted(ships(query), key=lambda it: it["port"])
    body = ""
    for at, it in enumerate(rows):
        if at == 0 or rows[at - 1]["port"] != it["port"]:
            body += f'<tr class="part"><th colspan="3">{e(it["port"])}</th></tr>'
        body += f"<tr><td>{e(it['name'])}</td><td>{it['price']}</td><td>{it['year']}</td></tr>"
    head = "<thead><tr><th>Name</th><th>Price</th><th>Built</th></tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>", pick(rows, "name", "price", "year")


@shape("two-rows")
def _(query):
    rows = ships(query)
    body = "".join(
        f'<tr class="thing" id="{it["id"]}"><td class="rank">{at}.</td><td class="title"><a href="/ship/{it["id"]}">{e(it["name"])}</a></td></tr>'
        f'<tr><td></td><td class="sub"><span class="score">{it["price"]} points</span> in <a>{e(it["port"])}</a> | <a>hide</a></td></tr>'
        f'<tr class="spacer" style="height:5px"></tr>'
        for at, it in enumerate(rows, 1)
    )
    return f'<table class="list"><tbody>{body}</tbody></table>', pick(rows, "name", "price", "port")


@shape("several-tables", "List the ships called {query} with their prices")
def _(query):
    rows = ships(query)
    ports = words.seeded("traffic", query).sample(words.PORTS, 6)
    tides = (
        "<table class='side'><tr><th>Port</th><th>Tide</th></tr>"
        + "".join(f"<tr><td>{it}</td><td>{len(it)}:30</td></tr>" for it in ports)
        + "</table>"
    )
    menu = "<table class='menu'><tr><td>Home</td><td>Ships</td><td>Ports</td></tr></table>"
    main = f"<table class='main'><tr><th>Name</th><th>Price</th><th>Built</th></tr>{cells(rows, 'name', 'price', 'year')}</table>"
    legend = "<table class='legend'><tr><th>Sign</th><th>Meaning</th></tr><tr><td>*</td><td>for sale</td></tr><tr><td>+</td><td>for charter</td></tr></table>"
    return menu + tides + main + legend, pick(rows, "name", "price", "year")


@shape("calendar", "Show in a calendar when ships called {query} sail")
def _(query):
    by = words.seeded("calendar", query)
    days = {
        it: (f"{it}", by.choice(words.SHIPS), by.choice(words.PORTS)) if by.random() < 0.7 else (f"{it}",) for it in range(1, 36)
    }
    weeks = [[days[week * 7 + day] for day in range(1, 8)] for week in range(5)]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td><span class="d">{it[0]}</span>' + (f"<div>{it[1]} to {it[2]}</div>" if len(it) > 1 else "") + "</td>"
            for it in week
        )
        + "</tr>"
        for week in weeks
    )
    head = "<thead><tr>" + "".join(f"<th>{it}</th>" for it in "Mon Tue Wed Thu Fri Sat Sun".split()) + "</tr></thead>"
    as_weeks = [{f"day {it[0]}": f"{it[0]} {it[1]} to {it[2]}" if len(it) > 1 else it[0] for it in week} for week in weeks]
    as_days = [{"day": it[0], "sails": f"{it[1]} to {it[2]}" if len(it) > 1 else ""} for week in weeks for it in week]
    return f'<table class="month">{head}<tbody>{body}</tbody></table>', (as_weeks, as_days, [it for it in as_days if it["sails"]])


@shape("two-headers", "List the ships called {query} with their prices")
def _(query):
    rows = ships(query)
    head = '<thead><tr><th rowspan="2">Name</th><th colspan="2">Money</th><th rowspan="2">Built</th></tr><tr><th>Price</th><th>Fee</th></tr></thead>'
    body = "".join(
        f"<tr><td>{e(it['name'])}</td><td>{it['price']}</td><td>{it['price'] // 10}</td><td>{it['year']}</td></tr>" for it in rows
    )
    total = sum(it["price"] for it in rows)
    foot = f"<tfoot><tr><th>Total</th><td>{total}</td><td>{total // 10}</td><td></td></tr></tfoot>"

    def fee(it):
        return it["price"] // 10

    return f"<table>{head}<tbody>{body}</tbody>{foot}</table>", pick(rows, "name", "price", fee, "year")
