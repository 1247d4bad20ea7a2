"""Buttons, links, widgets, dialogs, and games of buttons."""

import re

from tasks import quoted, task


@task("buttons", "click-test")
def only_button(page, goal):
    page.click('button "Click Me!"')


@task("buttons", "click-test-2", "click-test-transfer")
def one_of_two(page, goal):
    page.push(f'button "{re.search(r"button (ONE|TWO)", goal)[1]}"')


@task("buttons", "click-button-sequence")
def one_then_two(page, goal):
    for name in re.findall(r"button (ONE|TWO)", goal):
        page.push(f'button "{name}"')


@task("buttons", "button-delay")
def one_waits_two(page, goal):
    page.push('button "ONE"')
    page.wait(int(re.search(r"wait (\d+) sec", goal)[1]) * 1000 - 100)
    page.push('button "TWO"')


@task("buttons", "click-button", "unicode-test")
def named_button(page, goal):
    page.click(page.find(quoted(goal)[0], "button").target)


@task("links", "click-link")
def named_link(page, goal):
    page.click(page.link(quoted(goal)[0]).target)


@task("buttons", "click-widget")
def widget(page, goal):
    kind = quoted(goal)[0]
    if kind in ("radio", "checkbox", "button"):
        page.click(page.all(kind)[0].target)
    else:
        wanted = {"text": "input", "textarea": "textarea"}[kind]
        page.click(next(it for it in page.html("#area").all(wanted) if kind == "textarea" or it["data-type"] == "text").target)


@task("dialogs", "click-dialog")
def close_dialog(page, goal):
    page.click('button "Close"')


@task("dialogs", "click-dialog-2")
def dialog_button(page, goal):
    name = quoted(goal)[0]
    page.click(page.find("Close" if name == "x" else name, "button").target)


@task("buttons", "generate-number")
def generate(page, goal):
    number = re.search(r"\d+", goal)
    fits = {
        "less": lambda it: it < int(number[0]),
        "greater": lambda it: it > int(number[0]),
        "odd": lambda it: it % 2 == 1,
        "even": lambda it: it % 2 == 0,
    }[re.search(r"less|greater|odd|even", goal)[0]]
    for _ in range(40):
        page.click('button "Generate"')
        if fits(int(page.text("css=#display-number"))):
            break
    page.submit()


@task("buttons", "odd-or-even")
def odd_or_even(page, goal):
    for row in page.html("#area").all(".row"):
        odd = int(row.first(".display-number").text) % 2 == 1
        page.click(row.first(".odd" if odd else ".even").target)
    page.submit()


@task("buttons", "find-greatest")
def greatest_card(page, goal):
    def card(at):
        return f"css=#cardholder > div:nth-child({at})"

    values = {}
    for at in (1, 2, 3):
        page.click(card(at))
        values[at] = int(page.text(card(at)))
    page.click(card(max(values, key=values.get)))
    page.submit()


@task("buttons", "buy-ticket")
def ticket(page, goal):
    flights = page.html("#area").all(".flight")

    def minutes(it):
        hours, rest = re.findall(r"\d+", it.first(".time-duration").text)
        return int(hours) * 60 + int(rest)

    def dollars(it):
        return int(re.search(r"\$(\d+)", it.text)[1])

    best = max if "longest" in goal or "most expensive" in goal else min
    name = best(flights, key=minutes if "duration" in goal else dollars).first(".buy-ticket").text
    page.click(page.find(name, "button").target)
