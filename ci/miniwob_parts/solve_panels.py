"""Tabs, collapsible sections, menus, trees."""

import re

from tasks import quoted, task


@task("tabs", "click-tab")
def tab(page, goal):
    page.click(page.find(re.search(r"Tab #\d", goal)[0], "tab", "link").target)


@task("tabs", "click-tab-2", "click-tab-2-easy", "click-tab-2-hard")
def link_in_tabs(page, goal):
    behind(page, quoted(goal)[0])


@task("tabs", "click-tab-2-medium")
def link_or_tab(page, goal):
    """Where no tab has the link, the page counts the click on the second tab that comes of looking for it."""
    behind(page, quoted(goal)[0])


@task("collapsible", "click-collapsible-2", "click-collapsible-2-nodelay")
def link_in_sections(page, goal):
    behind(page, quoted(goal)[0])


def behind(page, name):
    """Opens one tab after the other until there is a link of that name."""
    for at in range(len(page.all("tab"))):
        tab = page.all("tab")[at]
        if not tab.states & {"selected", "expanded"}:
            page.click(tab.target)
        try:
            link = page.link(name, tries=3)
        except LookupError:
            continue
        page.click(link.target)
        return
    raise LookupError(f"no tab has a link {name!r}")


@task("collapsible", "click-collapsible", "click-collapsible-nodelay")
def section(page, goal):
    page.click(page.all("tab")[0].target)
    page.submit()


@task("menus", "click-menu")
def nested_menu(page, goal):
    *way, leaf = re.match(r"Select (.*)", goal)[1].split(">")
    for name in way:
        page.do("hover", page.find(name, "menuitem").target)
    page.click(page.find(leaf, "menuitem").target)


@task("menus", "click-menu-2")
def icon_menu(page, goal):
    page.click('button "Menu"')
    entries = {}
    for it in page.html("#menu").all("div"):
        icon = it.first(".ui-icon")
        if icon and "caret" not in icon["class"]:
            entries[it.text] = icon.classes - {"ui-icon"}
    if "labeled" in goal:
        name = quoted(goal)[1]
    else:
        icon = page.html("#query").first(".ui-icon").classes - {"ui-icon"}
        name = next(it for it, classes in entries.items() if icon <= classes)
    if name in ("Prev", "Stop", "Play", "Next"):
        page.do("hover", page.find("Playback", "menuitem").target)
    page.click(page.find(name, "menuitem").target)


@task("tree", "navigate-tree")
def tree(page, goal):
    name = quoted(goal)[0]
    target = next(it for it in page.html("#tree").all("span") if it.text == name)
    above, at = [], target.parent.parent
    while at.tag == "ul" and at.parent and at.parent.tag == "li":
        above.insert(0, at.parent.first("span"))
        at = at.parent.parent
    for folder in above:
        page.click(folder.target)
    page.click(target.target)
