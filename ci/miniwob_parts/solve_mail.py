"""The inbox: star, delete, reply, forward. Its icons have no text, so they are named by CSS, within the thread that was read."""

import re

from tasks import quoted, task


def thread(page, name):
    return next(it for it in page.html("#main").all(".email-thread") if it.first(".email-sender").text == name)


def forward(page, name, to):
    page.click(thread(page, name).target)
    page.click("css=#email .email-forward")
    page.fill("css=.forward-sender", to)
    page.click("css=#send-forward")


@task(
    "mail",
    *("email-inbox", "email-inbox-noscroll", "email-inbox-delete", "email-inbox-forward"),
    *("email-inbox-important", "email-inbox-reply", "email-inbox-star-reply"),
)
def inbox(page, goal):
    name = re.search(r"email by (\S+) and", goal)[1]
    if "star icon" in goal:
        page.click(thread(page, name).first(".star").target)
    elif "trash icon" in goal:
        page.click(thread(page, name).first(".trash").target)
    elif "forward" in goal:
        forward(page, name, re.search(r"forward that email to (\S+?)\.$", goal)[1])
    else:
        page.click(thread(page, name).target)
        page.click("css=#email .email-reply")
        page.fill("css=#reply-text", quoted(goal)[0])
        page.click("css=#send-reply")


ORDERS = {"Find", "Locate", "Forward", "Look", "Send", "Go", "Please", "The", "Give", "I", "Navigate", "Search"}
SENDER = r"(?:by|from) (?P<a>[A-Z]\w*)|(?P<b>[A-Z]\w*) (?:sent|wants his)"


@task("mail", "email-inbox-forward-nl")
def forward_in_other_words(page, goal):
    """The sender is the one by or from whom the mail is, or who sent it; the other name is where it goes."""
    it = re.search(SENDER, goal)
    sender = it["a"] or it["b"]
    names = re.findall(r"\b[A-Z]\w*", goal)
    forward(page, sender, next(it for it in names if it not in ORDERS and it != sender))
