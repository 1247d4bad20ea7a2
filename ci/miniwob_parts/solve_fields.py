"""Text fields, passwords, text areas: filled, typed into, read, copied, scrolled."""

import re

from tasks import quoted, task


def only_field(page):
    return page.all("textbox", "searchbox")[0].target


@task("text", "enter-text", "enter-text-dynamic")
def enter(page, goal):
    page.fill(only_field(page), quoted(goal)[0])
    page.submit()


@task("text", "enter-text-2")
def enter_case(page, goal):
    word = quoted(goal)[0]
    page.click(only_field(page))
    page.do("type", word.upper() if "upper case" in goal else word.lower())
    page.submit()


@task("text", "enter-password")
def password_twice(page, goal):
    for it in ("css=#password", "css=#verify"):
        page.fill(it, quoted(goal)[0])
    page.submit()


@task("text", "login-user")
def login(page, goal):
    user, password = quoted(goal)
    page.fill("css=#username", user)
    page.fill("css=#password", password)
    page.submit("Login")


@task("text", "login-user-popup")
def login_interrupted(page, goal):
    """A box may open when a field gets the focus, and switches the form off until it is cancelled."""
    for field, value in zip(("css=#username", "css=#password"), quoted(goal), strict=True):
        page.click(field)
        cancel = [it for it in page.all("button") if it.name == "Cancel"]
        if cancel:
            page.click(cancel[0].target)
        page.fill(field, value)
    page.submit("OK")


@task("text", "focus-text")
def focus(page, goal):
    page.do("focus", only_field(page))


@task("text", "focus-text-2")
def focus_nth(page, goal):
    page.click(page.all("textbox")[int(re.search(r"(\d)(?:st|nd|rd)", goal)[1]) - 1].target)


@task("text", "simple-arithmetic")
def arithmetic(page, goal):
    left, action, right = re.match(r"(\d+) ([-+x]) (\d+)", page.text("css=#math-problem")).groups()
    left, right = int(left), int(right)
    page.fill("css=#math-answer", {"-": left - right, "+": left + right, "x": left * right}[action])
    page.submit()


@task("text", "simple-algebra")
def algebra(page, goal):
    first, action, second, result = re.match(r"(\w+) ([-+]) (\w+) = (\d+)", page.text("css=#math-problem")).groups()
    result = int(result)
    if first == "x":
        answer = result - int(second) if action == "+" else result + int(second)
    else:
        answer = result - int(first) if action == "+" else int(first) - result
    page.fill("css=#math-answer", answer)
    page.submit()


@task("text", "visual-addition")
def count_blocks(page, goal):
    page.fill("css=#math-answer", len(page.html("#area").all(".addition-block")))
    page.submit()


@task("text", "text-transform")
def captcha(page, goal):
    page.fill("css=#tt", page.html("#captcha").text.replace(" ", ""))
    page.submit()


@task("text", "find-word")
def nth_word(page, goal):
    words = page.text("css=#area p").split()
    page.fill("css=#answer-input", re.sub(r"[^A-Za-z]", "", words[int(re.search(r"(\d+)(?:st|nd|rd|th) word", goal)[1]) - 1]))
    page.submit()


@task("text", "guess-number")
def guess(page, goal):
    low, high = 0, 9
    while low <= high:
        middle = (low + high) // 2
        page.fill("css=#tt", middle)
        page.submit()
        said = page.text("css=#feedback")
        if "higher" in said:
            low = middle + 1
        elif "lower" in said:
            high = middle - 1
        else:
            return


def table(page):
    return {row.all("td")[0].text: row.all("td")[1].text for row in page.html("#tab").all("tr")}


@task("text", "read-table")
def read_cell(page, goal):
    page.fill("css=#tt", table(page)[re.search(r"value of (.*) into the text field", goal)[1]])
    page.submit()


@task("text", "read-table-2")
def read_cells(page, goal):
    cells = table(page)
    for at in (1, 2):
        page.fill(f"css=#tt{at}", cells[page.text(f"css=#ll{at}").rstrip(":")])
    page.submit()


def copy(page, source, target):
    page.click(source)
    page.press("Control+a", "Control+c")
    page.click(target)
    page.press("Control+v")


@task("copy and paste", "copy-paste")
def copy_paste(page, goal):
    copy(page, "css=#to-copy", "css=#answer-input")
    page.submit()


@task("copy and paste", "copy-paste-2")
def copy_nth(page, goal):
    at = re.search(r"(\d)(?:st|nd|rd) text area", goal)[1]
    copy(page, f"css=#text-{at}", "css=#answer-input")
    page.submit()


@task("scrolling", "scroll-text")
def last_word(page, goal):
    page.click("css=#text-area")
    page.press("Control+End")
    page.fill("css=#answer-input", page.html("#text-area").text.split()[-1].rstrip("."))
    page.submit()


@task("scrolling", "scroll-text-2")
def scroll_area(page, goal):
    page.do("focus", "css=#text-area")
    page.press("Control+End" if "to the bottom" in goal else "Control+Home")
    page.wait(200)
    page.submit()


@task("scrolling", "sign-agreement", needs="`scroll down` turns the wheel over what was hovered last")
def agreement(page, goal):
    if goal == "Click the cancel button.":
        page.click('button "Cancel"')
        return
    page.do("hover", "css=#text-area")
    for _ in range(12):
        page.do("scroll", "down")
        page.wait(150)
        if "disabled" not in page.find("Agree", "button").states:
            break
    name, button = quoted(goal)
    page.fill("css=#name", name)
    page.submit(button)


@task("text", "terminal")
def terminal(page, goal):
    page.click("css=#terminal")
    page.do("type", "ls")
    page.press("Enter")
    listed = page.html("#terminal-contents").all(".output")[-1].text.split()
    end = re.search(r"extension (\.\S+)", goal)
    fits = [it for it in listed if (it.endswith(end[1]) if end else "." not in it)]
    # The page looks for the first place where the ending occurs, so a name that has it twice would not count.
    name = next((it for it in fits if not end or it.index(end[1][1:]) + len(end[1]) - 1 == len(it)), fits[0])
    page.do("type", f"rm {name}")
    page.press("Enter")
