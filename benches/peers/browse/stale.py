"""The cases where a reference has grown old: what is done to the page, and what may be done with the reference then.

The page tells the server what was acted on, so that no tool is its own witness.
"""

from collections import namedtuple

# `page` is opened and looked at; `step`: how it changes (by itself, by a `goto`, by a click on a link); then the first button called
# `label` is clicked by its reference. `meant` is what the page says when that was the right one, `good` what is right to do.
Case = namedtuple("Case", "name page label meant step good")

CASES = [
    Case("nothing changes (control)", "list.html?how=none", "Add to cart", "Add lantern 1", "itself", {"intended"}),
    Case("the same form made anew (control)", "forms.html?how=again", "Search", "Search products", "itself", {"intended", "refused"}),
    Case("list made anew in reverse, new nodes", "list.html?how=reverse", "Add to cart", "Add lantern 1", "itself", {"intended", "refused"}),
    Case("same nodes, new contents", "list.html?how=fill", "Add to cart", "Add lantern 1", "itself", {"intended", "refused"}),
    Case("gone, and another form brings one of the name", "forms.html?how=swap", "Search", "Search products", "itself", {"refused"}),
    Case("`goto` between", "record-1.html?how=goto", "Approve", "Approve record 1", "goto", {"refused"}),
    Case("navigation by a click between", "record-1.html?how=click", "Approve", "Approve record 1", "click", {"refused"}),
    Case("covered by a layer (not of the five)", "covered.html?how=cover", "Place order", "Place order", "itself", {"refused"}),
]


def verdict(answer, noted, meant):
    """What came of it, by what the page noted."""
    if any(it != f"clicked {meant}" for it in noted):
        return "another"
    if noted:
        return "intended"
    return "silent" if answer.ok else "refused"
