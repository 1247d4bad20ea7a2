"""Sliders by keyboard, spinners by their arrows, colour fields."""

import re

from tasks import task


def slide(page, handle, shown, wanted):
    """Focuses the handle and presses as often as the value differs."""
    away = wanted - int(page.text(shown))
    page.do("focus", handle)
    page.press(*["ArrowRight" if away > 0 else "ArrowLeft"] * abs(away))


@task("sliders", "use-slider")
def slider(page, goal):
    slide(page, "css=#slider .ui-slider-handle", "css=#val", int(re.search(r"Select (-?\d+)", goal)[1]))
    page.submit()


@task("sliders", "use-slider-2")
def sliders(page, goal):
    for at, wanted in enumerate(re.search(r"\[(.*)\]", goal)[1].split(","), 1):
        slide(page, f"css=#slider-{at} .ui-slider-handle", f"css=#val-{at}", int(wanted))
    page.submit()


@task("sliders", "form-sequence")
def slider_and_box(page, goal):
    slide(page, "css=#slider .ui-slider-handle", "css=#val", int(re.search(r"Select (-?\d+)", goal)[1]))
    page.do("check", page.all("checkbox")[int(re.search(r"the (\d)", goal)[1]) - 1].target)
    page.submit()


@task("spinner", "use-spinner")
def spinner(page, goal):
    wanted = int(re.search(r"Select (-?\d+)", goal)[1])
    page.chain([("click", "css=.ui-spinner-up" if wanted > 0 else "css=.ui-spinner-down")] * abs(wanted))
    page.submit()


COLOURS = {
    "black": "000000", "white": "ffffff", "aqua": "00ffff", "blue": "0000ff", "gray": "808080", "green": "008000", "lime": "00ff00",
    "maroon": "800000", "navy": "000080", "olive": "808000", "purple": "800080", "red": "ff0000", "silver": "c0c0c0", "teal": "008080",
    "yellow": "ffff00", "pink": "ffc0cb", "magenta": "ff00ff", "gold": "ffd700", "orange": "ffa500",
}  # fmt: skip


@task("colours", "use-colorwheel")
def named_colour(page, goal):
    pick(page, COLOURS[re.search(r"Select (\w+)", goal)[1]])


@task("colours", "use-colorwheel-2")
def shown_colour(page, goal):
    colour = page.html("#query").first(".cc").style["background-color"]
    parts = re.findall(r"\d+", colour) if colour.startswith("rgb") else None
    pick(page, "".join(f"{int(it):02x}" for it in parts) if parts else colour.lstrip("#"))


def pick(page, colour):
    page.fill("css=#col", colour)
    page.press("Tab")
    page.submit()
