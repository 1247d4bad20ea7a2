"""Posts of a social network, results of a search, a contact book: rows that look alike, and pages of them."""

import re

from tasks import quoted, task

ICON = {"Reply": ".reply", "Retweet": ".retweet", "Like": ".like", "Share": ".share"}


def posts(page, user):
    return [it for it in page.html("#area").all(".media") if it.first(".username").text == user]


def press_icon(page, target):
    """An icon changes its picture under the pointer, and has no size until that picture is there."""
    page.do("hover", target)
    page.wait(150)
    page.click(target)


@task("posts", "social-media")
def one_post(page, goal):
    user, action = re.search(r"For the user (\S+), click on the \"(.*)\" button", goal).groups()
    post = posts(page, user)[0]
    if action in ICON:
        press_icon(page, post.first(ICON[action]).target)
    else:
        press_icon(page, post.first(".more").target)
        page.click(next(it for it in post.all("li") if it.text.startswith(action)).target)


@task("posts", "social-media-all", "social-media-some")
def many_posts(page, goal):
    action, number, user = re.search(r'Click the "(\w+)" button on (all|\d+) posts? by (\S+) and', goal).groups()
    found = posts(page, user)
    for post in found if number == "all" else found[: int(number)]:
        press_icon(page, post.first(ICON[action]).target)
    page.submit()


@task("search", "search-engine")
def search(page, goal):
    at = int(re.search(r"click the (\d)", goal)[1]) - 1
    page.fill("css=#search-text", quoted(goal)[0])
    page.submit("Search")
    if at >= 3:
        page.click(page.find(str(at // 3 + 1), "link").target)
    page.click(page.html("#page-content").all("a")[at % 3].target)


@task("search", "phone-book")
def contact(page, goal):
    name, what = re.search(r"Find (.*) in the contact book and click on their (\w+)", goal).groups()
    for _ in range(5):
        if page.text("css=#contact h2") == name:
            break
        page.click(page.find(">", "link").target)
    page.click(f"css=#contact .{what}")
