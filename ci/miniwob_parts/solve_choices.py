"""Checkboxes, radio buttons, select lists, scroll lists, autocompletion."""

import re

from tasks import quoted, task

# Words that mean much the same; a test of checking, not of language.
ALIKE = """
big large huge enormous gigantic|small tiny little mini petite|red scarlet crimson vermillion|happy cheerful joyful gleeful delighted
sad unhappy sorrowful miserable tragic|angry mad furious irritated|evil wicked immoral sinful corrupt depraved
wrong incorrect mistaken erroneous|real genuine actual|strange odd peculiar unusual weird|stop cease halt end finish
scared terrified panicked fearful frightened afraid|quiet calm peaceful serene mild|old aged archaic|love like adore favor
kill murder assassinate|keep retain preserve sustain maintain|hide conceal camouflage|hate despise loathe detest dislike
funny humorous amusing comical laughable|fat fleshy plump chubby|stupid dumb dull unwise|delicious savory delectable appetizing
cut slice carve chop|brave courageous fearless|begin start initiate launch|answer reply response|television televisions TV TVs
house home houses homes|fire flame fires flames|pig pork swine|rabbit rabbits bunny bunnies
car cars automobile automobiles vehicle vehicles|water
"""
KIND = {word: at for at, words in enumerate(re.split(r"[|\n]", ALIKE)) for word in words.split()}


def wanted(goal):
    names = re.search(r"(?:Select|similar to) (.*) and click Submit", goal.replace("words similar to ", ""))[1]
    return [] if names == "nothing" else names.split(", ")


@task("checkboxes", "click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def check_named(page, goal):
    boxes = {it.name: it for it in page.all("checkbox")}
    for name in wanted(goal):
        page.do("check", boxes[name].target)
    page.submit()


@task("checkboxes", "click-checkboxes-soft")
def check_alike(page, goal):
    kinds = {KIND[it] for it in wanted(goal)}
    for box in page.all("checkbox"):
        if KIND[box.name] in kinds:
            page.do("check", box.target)
    page.submit()


DIGITS = (
    "0110 1001 1001 1001 1001 1001 0110|0010 0110 0010 0010 0010 0010 0010|0110 1001 1001 0010 0100 1000 1111|0110 1001 0001 0110 0001 1001 0110|"
    "1000 1010 1010 1111 0010 0010 0010|1111 1000 1000 1110 0001 1001 0110|0110 1001 1000 1110 1001 1001 0110|1111 1001 0001 0010 0010 0100 0100|"
    "0110 1001 1001 0110 1001 1001 0110|0110 1001 1001 0111 0001 1001 0110"
).split("|")


@task("checkboxes", "number-checkboxes")
def draw_digit(page, goal):
    """The example is a picture; what it shows is written down above."""
    pattern = DIGITS[int(quoted(goal)[0])].replace(" ", "")
    boxes = page.all("checkbox")
    page.chain([("check", box.target) for box, dot in zip(boxes, pattern, strict=True) if dot == "1"])
    page.submit()


@task("radio", "click-option")
def radio(page, goal):
    page.do("check", page.find(wanted(goal)[0], "radio").target)
    page.submit()


@task("lists", "choose-list")
def select(page, goal):
    name = re.search(r"Select (.*) from the list", goal)[1]
    page.do("select", page.all("combobox", "listbox")[0].target, name)
    page.submit()


@task("lists", "click-scroll-list")
def select_many(page, goal):
    """One: `select`. More: the keyboard, as the list is operated by people who have no mouse."""
    names = re.search(r"Select (.*) from the scroll list", goal)[1].split(", ")
    if len(names) == 1:
        page.do("select", "css=#options", names[0])
    else:
        options = [it.text for it in page.html("#options").all("option")]
        page.do("select", "css=#options", options[0])
        page.do("focus", "css=#options")
        keys = [] if options[0] in names else ["Control+Space"]
        for name in options[1:]:
            keys.append("Control+ArrowDown")
            if name in names:
                keys.append("Control+Space")
        page.press(*keys)
    page.submit()


@task("autocomplete", "use-autocomplete", "use-autocomplete-nodelay")
def autocomplete(page, goal):
    start, *end = quoted(goal)
    page.click("css=#tags")
    page.do("type", start)
    fits = lambda name: name.startswith(start) and name.endswith(end[0] if end else "")  # noqa: E731
    page.click(page.find(fits, clickable=True).target)
    page.submit()
