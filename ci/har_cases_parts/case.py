"""What a case is, and the list of all that were declared."""

import dataclasses

from goods import KNOWN

# The right outcome. `whole`: verified, every item. `first`: the first page or all pages, and the run says which; a draft is right, too.
# `declined`: no verified recipe. `any`: declined, or verified with right answers.
WHOLE, FIRST, DECLINED, ANY = "whole", "first", "declined", "any"
CASES = {}
UNSEEN = set()


@dataclasses.dataclass
class Case:
    name: str
    host: str
    sentence: str
    # The first two are learned from; the other two are what the recipe is run on.
    inputs: list
    start: str
    steps: list
    expect: str
    # Kind of issue that the case is about.
    kind: str
    site: object = None
    truth: object = None
    # The answer is one record.
    one: bool = False
    # The order is part of the answer.
    ordered: bool = True
    # Values of the login by which the browser was logged in before the recording.
    login: object = None
    # Bends the HAR as some exporters do.
    bend: object = None
    # Looks at the recipe's text and names what is wrong with it.
    inspect: object = None
    # For which an empty answer, an error or a warning is right.
    empty_or_error: bool = False


def case(name, kind, sentence, inputs, start="/", steps=(), expect=WHOLE, host=None, unseen=False, **more):
    """Declares a case; the function below it gives the site and the truth."""
    host = (host or name) + ".test"
    inputs = [it if isinstance(it, dict) else {"query": it} for it in inputs]

    def keep(make):
        for values in inputs:
            for value in values.values():
                KNOWN.update({value, value.lower(), value.lower().replace(" ", "-")})
        it = Case(name, host, sentence, inputs, f"http://{host}{start}", list(steps), expect, kind, **more)
        it.site, it.truth = make()
        assert name not in CASES, name
        CASES[name] = it
        if unseen:
            UNSEEN.add(name)
        return make

    return keep


def typed(wait, field="input[type=search]", value="{query}"):
    """Types into a search field and waits for something."""
    return [{"fill": {"css": field, "value": value}}, {"press": "Enter"}, {"wait_for": {"selector": wait}}]


def pick(rows, *names):
    return [{name: it[name] for name in names} for it in rows]


def page(title, body, head="", lang="en", charset="utf-8"):
    return f'<!doctype html>\n<html lang="{lang}"><head><meta charset="{charset}"><title>{title}</title>{head}</head>\n<body>{body}</body></html>'
