"""A rich text editor: a word is selected by keyboard, and styled by the toolbar."""

import re

from tasks import task

COLOUR = {"red": "#e60000", "orange": "#ff9900", "yellow": "#ffff00", "green": "#008a00", "blue": "#0066cc", "purple": "#9933ff"}


@task("editor", "text-editor")
def style(page, goal):
    text = page.text("css=#editor .ql-editor")
    word = re.search(r"give the text (.*) the (?:style|color)", goal)
    page.click("css=#editor .ql-editor")
    if word:
        # A word may occur within another; the page means the one between spaces.
        start = re.search(rf"(?:^| ){re.escape(word[1])}(?: |$)", text).start()
        start += text[start] == " "
        page.press("Control+Home", *["ArrowRight"] * start, *["Shift+ArrowRight"] * len(word[1]))
    else:
        page.press("Control+Home", "Control+Shift+End")
    page.wait(200)  # The editor takes note of a selection a moment later.
    wanted = re.search(r"(?:style|color) (\w+)", goal)[1]
    if wanted in COLOUR:
        page.click("css=.ql-color .ql-picker-label")
        page.click(f'css=.ql-color .ql-picker-item[data-value="{COLOUR[wanted]}"]')
    else:
        page.click("css=.ql-" + {"bold": "bold", "italics": "italic", "underlined": "underline"}[wanted])
    page.wait(100)
    page.submit()
