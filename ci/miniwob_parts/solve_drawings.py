"""Colours and shapes: what is drawn is read from the markup, and clicked."""

import colorsys
import re

from tasks import task


@task("colours", "click-color")
def box_of_colour(page, goal):
    query = page.html("#query").first("div")
    word = re.search(r"Click on the (\w+) colored", goal)
    wanted = query.style["background-color"] if query else word[1]
    page.click(next(it for it in page.html("#area").all(".color") if it.style["background-color"] == wanted).target)


@task("colours", "click-shades")
def shades(page, goal):
    wanted = re.search(r"shades of (\w+)", goal)[1]
    for it in page.html("#area").all("span"):
        red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", it.style["background-color"])[:3])
        hue = colorsys.rgb_to_hls(red, green, blue)[0] * 360
        if {"red": 0, "green": 120, "blue": 240}[wanted] == round(hue / 120) % 3 * 120:
            page.click(it.target)
    page.submit()


def described(node):
    """Size, colour, kind and what it is: as the utterances say it."""
    if node.tag == "text":
        large, what = node["font-size"] == "20px", node.text
        kind = "digit" if what.isdigit() else "letter"
    else:
        kind, what = "shape", {"rect": "rectangle", "circle": "circle", "polygon": "triangle"}[node.tag]
        if node.tag == "rect":
            width = float(node["width"])
        elif node.tag == "circle":
            width = float(node["r"]) * 2
        else:
            xs = [float(it.split(",")[0]) for it in node["points"].split()]
            width = max(xs) - min(xs)
        large = width >= 20
    return {"large" if large else "small", node["fill"], kind, what, "item"}


def fitting(page, words):
    nodes = page.html("#area_svg").all("text", "rect", "circle", "polygon")
    return [it for it in nodes if set(words.split()) <= described(it)]


@task("shapes", "click-shape")
def shape(page, goal):
    page.click(fitting(page, re.search(r"Click on an? (.*)", goal)[1])[0].target)


@task("shapes", "count-shape")
def count(page, goal):
    number = len(fitting(page, re.search(r"How many (.*)s are there", goal)[1]))
    page.click(page.find(str(number), "button").target)


@task("shapes", "identify-shape")
def identify(page, goal):
    node = page.html("#area_svg").all("text", "rect", "circle", "polygon")[0]
    name = {"rect": "Rectangle", "circle": "Circle", "polygon": "Triangle"}.get(node.tag) or ("Number" if node.text.isdigit() else "Letter")
    page.click(f'button "{name}"')


@task("shapes", "grid-coordinate")
def coordinate(page, goal):
    """The grid is five by five, from -2 to 2, upwards."""
    x, y = (int(it) for it in re.search(r"\((-?\d),(-?\d)\)", goal).groups())
    dots = page.html("#area").all("circle")
    across, down = sorted({float(it["cx"]) for it in dots}), sorted({float(it["cy"]) for it in dots}, reverse=True)
    page.click(next(it for it in dots if float(it["cx"]) == across[x + 2] and float(it["cy"]) == down[y + 2]).target)


@task("shapes", "ascending-numbers")
def ascending(page, goal):
    """After the first click the numbers are covered; where they were is known by then."""
    order = sorted(page.html("#area_svg").all("text"), key=lambda it: int(it.text))
    places = [(float(it["x"]), float(it["y"])) for it in order[1:]]
    page.click(order[0].target)
    for x, y in places:
        covers = page.html("#area_svg").all("rect")
        near = lambda it: abs(float(it["x"]) + 5 - x) + abs(float(it["y"]) + 10 - y)  # noqa: E731
        page.click(min(covers, key=near).target)
