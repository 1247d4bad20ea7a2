"""What small pages are made of: ships, the text about them, and the shapes that are known."""

import dataclasses
import functools
import html

import words

SHAPES = {}
FLEETS = ["Meridian", "Tempest", "Halcyon", "Sirius"]
NOTHING = "Zephyr"


@dataclasses.dataclass
class Shape:
    """A page's results for a query, and the rows that they show."""

    name: str
    draw: object
    sentence: str
    more: dict


def shape(name, sentence="Search the ships called {query}", **more):
    def keep(draw):
        SHAPES[name] = Shape(name, draw, sentence, more)
        return draw

    return keep


@functools.lru_cache(maxsize=64)
def ships(query, count=12):
    """Ships whose name begins with the query; the same each time. As on any site, a word that is no name finds nothing."""
    if query == NOTHING or not query[:1].isupper():
        return ()
    by = words.seeded("ships", query)
    return tuple(
        {
            "id": by.randint(1000, 9999),
            "name": f"{query} {by.choice(words.SHIPS)} {at + 10}",
            "kind": by.choice(words.SHIPS),
            "port": by.choice(words.PORTS),
            "berth": by.randint(1, 400),
            "price": by.randint(11, 900) * 10,
            "year": by.randint(1931, 2019),
            "seen": f"2026-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
            "note": by.choice(["new engine", "dry dock", "for charter", "sails torn", ""]),
            "stars": by.randint(1, 5),
        }
        for at in range(count)
    )


def e(value):
    return html.escape(str(value))


def where(it):
    return f"Lies at pier {it['berth']} in {it['port']}"


def pick(rows, *names):
    """Facts of each row, by name; a name may also be a function."""
    return [{getattr(name, "__name__", name): name(it) if callable(name) else it[name] for name in names} for it in rows]


def listed(rows):
    return "".join(f'<li><h3><a href="/ship/{it["id"]}">{e(it["name"])}</a></h3><p>{e(where(it))}</p></li>' for it in rows)


def cells(rows, *names):
    return "".join("<tr>" + "".join(f"<td>{e(it[name])}</td>" for name in names) + "</tr>" for it in rows)
