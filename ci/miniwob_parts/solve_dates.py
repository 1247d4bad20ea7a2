"""Dates and times: fields of the browser, and a calendar that is leafed through."""

import re

from tasks import task

MONTHS = "January February March April May June July August September October November December".split()


def leaf_to(page, date):
    """In an open jQuery UI calendar: the month, then the day. `date` is MM/DD/YYYY."""
    month, day, year = (int(it) for it in date.split("/"))
    for _ in range(24):
        shown, shown_year = page.text("css=.ui-datepicker-title").split()
        distance = (year - int(shown_year)) * 12 + month - 1 - MONTHS.index(shown)
        if distance == 0:
            break
        page.click(page.link("Next" if distance > 0 else "Prev").target)
    page.click(page.find(str(day), "link").target)


@task("dates", "choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def calendar(page, goal):
    page.click("css=#datepicker")
    leaf_to(page, re.search(r"\d\d/\d\d/\d{4}", goal)[0])
    page.submit()


@task("dates", "enter-date")
def date_field(page, goal):
    month, day, year = re.search(r"(\d\d)/(\d\d)/(\d{4})", goal).groups()
    page.fill("css=#tt", f"{year}-{month}-{day}")
    page.submit()


@task("dates", "enter-time")
def time_field(page, goal):
    hour, minute, half = re.search(r"(\d+):(\d\d)\s*([AP])M", goal).groups()
    page.fill("css=#tt", f"{int(hour) % 12 + (12 if half == 'P' else 0):02}:{minute}")
    page.submit()
