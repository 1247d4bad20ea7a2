"""Answers that are wrong in one way each, which the judge must find out."""

import sys

from app import Task
from judge import judge

ROWS = [{"name": f"Meridian trawler {at}", "price": 1200 + at, "seen": f"2026-05-{at:02}", "port": "Gdynia"} for at in range(1, 11)]
GIVEN = [
    {"a": {"t": f"<b>Meridian</b>  trawler {at}"}, "p": f"€ {1200 + at:,}.00", "d": f"{at} May 2026, 08:00", "h": "gdynia "}
    for at in range(1, 11)
]


def task(**more):
    return Task("proof", "", "", [], [], **more)


def without(field):
    return [{name: it[name] for name in it if name != field} for it in GIVEN]


CASES = [
    ("as it is", task(), ROWS, GIVEN, "complete"),
    ("in another order", task(), ROWS, GIVEN[::-1], "complete"),
    ("in another order where it counts", task(ordered=True), ROWS, GIVEN[::-1], "partial"),
    ("within a document", task(), ROWS, {"took": 3, "facets": [1, 2], "hits": {"items": GIVEN}}, "complete"),
    ("a map", task(), ROWS, {str(at): it for at, it in enumerate(GIVEN)}, "complete"),
    ("the first page", task(page=4), ROWS, GIVEN[:4], "complete"),
    ("more than the first page", task(page=4), ROWS, GIVEN, "complete"),
    ("less than the first page", task(page=4), ROWS, GIVEN[:3], "partial"),
    ("another page", task(page=4, ordered=True), ROWS, GIVEN[4:8], "partial"),
    ("a row less", task(), ROWS, GIVEN[1:], "partial"),
    ("a row twice", task(), ROWS, [*GIVEN, GIVEN[0]], "partial"),
    ("a row of something else", task(), ROWS, [*GIVEN, {"a": "Terms"}], "partial"),
    ("no prices", task(), ROWS, without("p"), "partial"),
    ("no dates", task(), ROWS, without("d"), "partial"),
    ("no names", task(), ROWS, without("a"), "partial"),
    ("prices of other rows", task(), ROWS, [{**it, "p": "€ 1"} for it in GIVEN], "partial"),
    ("other data", task(), ROWS, [{"a": f"Tempest {at}"} for at in range(10)], "wrong"),
    ("nothing", task(), ROWS, [], "wrong"),
    ("nothing where there is nothing", task(), [], [], "complete"),
    ("something where there is nothing", task(), [], GIVEN, "wrong"),
    ("one record", task(one=True), ROWS[:1], GIVEN[0], "complete"),
    ("one record as a list", task(one=True), ROWS[:1], GIVEN[:1], "complete"),
    ("one record without a field", task(one=True), ROWS[:1], without("p")[0], "partial"),
    ("one record in parts", task(one=True), ROWS[:1], [{"a": "Meridian trawler 1"}, {"p": "1201", "d": "2026-05-01"}, "Gdynia"], "complete"),
    ("one record among others", task(one=True), ROWS[:1], GIVEN, "wrong"),
    ("another record", task(one=True), ROWS[:1], {"a": "Tempest"}, "wrong"),
    ("one of two readings", task(), (ROWS[:5], ROWS), GIVEN, "complete"),
    ("a number within another", task(), [{"n": 12}], [{"n": "8120"}], "wrong"),
    ("a word within another", task(), [{"n": "port"}], [{"n": "ports"}], "wrong"),
]


def main():
    bad = [
        f"{name}: {found}, not {wanted}"
        for name, it, rows, data, wanted in CASES
        if (found := judge(it, rows, data)["verdict"]) != wanted
    ]
    for it in bad:
        print(f"FAILED: {it}", file=sys.stderr)
    return bad
