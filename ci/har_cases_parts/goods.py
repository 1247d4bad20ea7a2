"""Seeded data: goods, parts and places whose names are plainly made up."""

import functools

from sites import seeded

MAKES = ["Tarvo", "Belmir", "Oskane", "Quillon", "Dravix", "Nortel-K", "Hubrin", "Salvek", "Ombra-7", "Pelvic-X", "Zandor", "Kiblex"]
MAKES[9] = "Plexor"
PLACES = ["Nordhavn", "Ostbrück", "Velmora", "Kastelu", "Dunmere", "Sarvik", "Lindoka", "Tremosa"]
# What sites know, beside the inputs of the cases. As on any real site, a word that is none of them finds nothing.
KNOWN = {"хит", "top", "feature", "trending"}
COLOURS = ["ash", "amber", "coal", "lime", "rust", "sand", "teal", "zinc"]


def known(query):
    return query in KNOWN or all(it in KNOWN for it in query.split() or [""])


def only_known(rows):
    """Rows for inputs that the site knows, and none for others."""

    @functools.wraps(rows)
    def told(*values, **named):
        return rows(*values, **named) if all(map(known, [*values, *named.values()])) else []

    return told


def goods(site, query, low=4, high=9, nothing=(), free=False):
    """Goods of a kind; the same each time. `free`: the site made the value itself."""
    if query in nothing or not (free or known(query)):
        return []
    by = seeded(site, query)
    makes = by.sample(MAKES, min(len(MAKES), by.randint(low, high)))
    out = []
    for at, make in enumerate(makes):
        out.append(
            {
                "id": by.randint(10_000, 99_999),
                "name": f"{make} {query} {by.randint(11, 98)}",
                "make": make,
                "price": by.randint(120, 98_000) / 100 + 0.07 * (at % 2),
                "stock": by.randint(1, 240),
                "place": by.choice(PLACES),
                "colour": by.choice(COLOURS),
                "stars": by.randint(1, 5),
                "day": f"2026-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
            }
        )
        out[-1]["price"] = round(out[-1]["price"], 2)
    return out


def many(site, query, count):
    """A list that goes over pages."""
    if not known(query):
        return []
    by = seeded(site, query, count)
    return [
        {"id": 7000 + 13 * at + by.randint(0, 9), "name": f"{by.choice(MAKES)} {query} {100 + at}", "place": by.choice(PLACES), "price": by.randint(5, 900)}
        for at in range(count)
    ]
