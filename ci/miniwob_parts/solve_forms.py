"""Forms of several widgets: films, flights, an order of food."""

import re

from tasks import quoted, task
from solve_dates import leaf_to


@task("forms", "form-sequence-2")
def radio_and_field(page, goal):
    radio, number, field = re.search(r'the (\d)\w\w radio button and enter the number "(.*)" into the (\d)', goal).groups()
    page.do("check", page.all("radio")[int(radio) - 1].target)
    page.fill(page.all("textbox")[int(field) - 1].target, number)
    page.submit()


@task("lists", "form-sequence-3")
def dropdown_and_button(page, goal):
    """The select is dressed up: its list is opened by a click and chosen from by a click."""
    option = re.search(r"Choose (.*) from the dropdown", goal)[1]
    page.click("css=.selectric")
    page.click(page.link(option).target)
    page.submit(quoted(goal)[0])


@task("forms", "multi-layouts", "multi-orderings")
def film(page, goal):
    genre, name, year = re.search(r"Search for (\w+) movies directed by (.*) from year (\d+)", goal).groups()
    area = page.html("#area")
    for field in area.all("input"):
        row = field.parent
        while not row.text:
            row = row.parent
        label = row.text.lower()
        page.fill(field.target, genre if "genre" in label else name if "director" in label else year)
    page.click([it for it in area.walk() if it.text in ("Submit", "Search", "Go!") and not it.children][-1].target)


@task("forms", "book-flight", "book-flight-nodelay")
def flight(page, goal):
    action, origin, to, date = re.search(r"Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\.", goal).groups()
    for field, place in (("css=#flight-from", origin), ("css=#flight-to", to)):
        page.click(field)
        page.do("type", place)
        airport = re.compile(rf".*\({place}\)$" if re.fullmatch("[A-Z]{3}", place) else rf"{re.escape(place)} \([A-Z]{{3}}\)$")
        page.click(page.find(airport.match, clickable=True).target)
    page.click("css=#datepicker")
    leaf_to(page, date)
    page.submit("Search")
    flights = page.html("#results").all(".flight")

    def cost(it):
        if action == "cheapest":
            return int(re.search(r"\$(\d+)", it.text)[1])
        hours, minutes = re.findall(r"\d+", it.first(".time-duration").text)
        return int(hours) * 60 + int(minutes)

    page.click(min(flights, key=cost).first(".flight-price").target)


@task("forms", "order-food")
def food(page, goal):
    menu = page.html("#area").all(".food-item")
    many = re.search(r"Order (\d) items that are (.*)", goal)
    if many:
        dish = next(it for it in menu if many[2] in {img["alt"] for img in it.all("img")})
        for _ in range(int(many[1])):
            page.click(dish.first(".add").target)
    else:
        names = re.search(r"each item: (.*)", goal)[1].split(", ")
        for dish in menu:
            if dish.first(".item-name").text in names:
                page.click(dish.first(".add").target)
    page.submit("Order!")
