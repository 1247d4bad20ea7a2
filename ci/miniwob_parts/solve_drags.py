"""Dragging: items of lists and grids, boxes, shapes, the edge of a text area.

A sortable list decides by the half of the item that the pointer is over, so its middle is neither. What an item contains (a line of text
above its middle) is a drop point that is sound upwards; for the other ways a drop point beside the middle would have to be named.
"""

import re

from tasks import task


def items(page):
    return {it.text: at for at, it in enumerate(page.html("#sortable").all("li"), 1)}


def drag_item(page, source, place, count=0):
    """Upwards to the upper half of the item there; downwards to the upper half of the item behind, or to the last."""
    into = place if place < source else min(place + 1, count)
    line = "" if place == count else " > div"
    page.do("drag", f"css=#sortable > li:nth-child({source})", f"css=#sortable > li:nth-child({into}){line}")


BESIDE = "`drag` with a drop point beside the target's middle"


@task("dragging", "drag-items", needs=BESIDE)
def drag_in_list(page, goal):
    name, where = re.match(r"Drag (\S+) (.*)", goal).groups()
    order = items(page)
    at = order[name]
    place = {"to the top.": 1, "to the bottom.": len(order), "up by one position.": at - 1, "down by one position.": at + 1}.get(where)
    drag_item(page, at, place or int(re.search(r"\d", where)[0]), len(order))


@task("dragging", "drag-items-grid", needs=BESIDE)
def drag_in_grid(page, goal):
    name, where = re.match(r"Drag (\S+) (.*)", goal).groups()
    at = items(page)[name]
    moved = {"up by one.": at - 3, "down by one.": at + 3, "left by one.": at - 1, "right by one.": at + 1}.get(where)
    row = next((i for i, it in enumerate(("top", "center", "bottom")) if it in where), 1)
    column = 0 if "left" in where else 2 if "right" in where else 1
    if "top" in where or "bottom" in where:
        row = 0 if "top" in where else 2
    else:
        row = 1
    page.do("drag", f"css=#sortable > li:nth-child({at})", f"css=#sortable > li:nth-child({moved or row * 3 + column + 1})")


@task("dragging", "drag-sort-numbers")
def sort_numbers(page, goal):
    """One number to its place after the other; the list is read again after each, as a person would look again."""
    for place in range(1, 4):
        for _ in range(3):
            order = [int(it.text) for it in page.html("#sortable").all("li")]
            source = order.index(sorted(order)[place - 1]) + 1
            if source == place:
                break
            drag_item(page, source, place)
            page.wait(100)
    page.submit()


@task("dragging", "drag-box")
def box_into_box(page, goal):
    page.do("drag", "css=#draggableSmall", "css=#draggableLarge")
    page.submit()


TAGS = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}


@task("dragging", "drag-shapes")
def shapes_into_box(page, goal):
    tag = TAGS[re.search(r"Drag all (\w+)", goal)[1]]
    for it in page.html("#area_svg").all(tag):
        if it["id"] != "shape-container":
            page.do("drag", it.target, "css=#shape-container")
    page.submit()


@task("dragging", "drag-shapes-2")
def shapes_into_boxes(page, goal):
    word = re.search(r"Drag all (\w+)", goal)[1]
    nodes = page.html("#area_svg").all("rect", "circle", "polygon")
    left, right = sorted((it for it in nodes if it["fill"] == "none"), key=lambda it: float(it["x"]))
    for it in nodes:
        if it["fill"] != "none":
            inside = it.tag == TAGS[word] if word in TAGS else it["fill"] == word
            page.do("drag", it.target, (left if inside else right).target)
    page.submit()


@task("dragging", "resize-textarea", needs=BESIDE)
def resize(page, goal):
    dimension, direction = re.search(r"the (width|height) is (smaller|larger)", goal).groups()
    handle = "css=.ui-resizable-e" if dimension == "width" else "css=.ui-resizable-s"
    larger = "css=#reward-last" if dimension == "width" else "css=#submit"
    page.do("drag", handle, larger if direction == "larger" else "css=#tt")
    page.push('button "Submit"')
