"""The commands of `commis browse` over Playwright, in this process: so that a solver can be seen to work without the program under test.

Prints what the command line is said to print. Names come from the browser's accessibility tree; refs are attributes written into the page,
which the program under test never does. For development alone.
"""

import json
import re
import shlex

from page import Refused
from playwright.sync_api import Error, sync_playwright

ACTED_ON = {
    "button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "searchbox",
    "slider", "spinbutton", "switch", "tab", "textbox", "treeitem", "date", "inputtime", "colorwell",
}  # fmt: skip
STATES = ("checked", "selected", "expanded", "disabled")

MARK = """function (ref) { (this.nodeType === 1 ? this : this.parentElement).setAttribute('data-peer', ref); }"""

ROLELESS = """() => {
  const found = [];
  const shown = it => { const r = it.getBoundingClientRect(), s = getComputedStyle(it);
    return r.width > 0 && r.height > 0 && s.visibility === 'visible' && it.checkVisibility(); };
  const heard = it => it.onclick || it.__onclick || (window.jQuery && jQuery._data && (jQuery._data(it, 'events') || {}).click);
  const pointed = it => getComputedStyle(it).cursor === 'pointer';
  for (const it of document.body.querySelectorAll('*')) {
    if (it.closest('[data-peer^="e"]') || it.matches('body, label, option') || !shown(it)) continue;
    if (!(heard(it) || (pointed(it) && !pointed(it.parentElement)))) continue;
    it.setAttribute('data-peer', 'c' + (found.length + 1));
    found.push([it.localName, (it.innerText ?? it.textContent ?? '').trim().replace(/\\s+/g, ' ').slice(0, 200)]);
  }
  return found;
}"""


class Playwright:
    def __init__(self, chromium="/usr/bin/chromium"):
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=chromium, headless=True, args=["--no-sandbox"])
        self.page = None
        self.processes = 0

    def fresh(self, port):
        """A context of its own; `.test` names are asked of the loopback port."""
        context = self.browser.new_context()
        context.set_default_timeout(2500)
        self.page = context.new_page()
        self.cdp = context.new_cdp_session(self.page)
        self.port = port

    def close(self):
        self.browser.close()
        self.playwright.stop()

    def run(self, words, stdin=None):
        self.processes += 1
        try:
            if words[0] == "chain":
                return "".join(self.one(shlex.split(line)) + "\n" for line in stdin.splitlines() if line.strip())
            return self.one(words) + "\n"
        except Error as err:
            raise Refused(f"{shlex.join(words)[:120]}: {' '.join(str(err).split())[:300]}") from err

    def one(self, words):
        command, *rest = words
        return getattr(self, "do_" + command)(*rest) or "done"

    def at(self, target):
        if target.startswith("@"):
            it = self.page.locator(f'[data-peer="{target[1:]}"]')
        elif target.startswith("css="):
            it = self.page.locator(target)
        else:
            role, name = re.fullmatch(r'(\w+)\s+"(.*)"', target).groups()
            it = self.page.get_by_role(role, name=name, exact=True)
        return it

    def do_goto(self, url):
        self.page.goto(url.replace("http://miniwob.test", f"http://127.0.0.1:{self.port}"))

    def do_text(self, target):
        return self.at(target).evaluate("it => it.innerText ?? it.textContent") or " "

    def do_html(self, target):
        return self.at(target).evaluate("it => it.outerHTML")

    def do_click(self, target):
        self.at(target).click()

    def do_dblclick(self, target):
        self.at(target).dblclick()

    def do_hover(self, target):
        self.at(target).hover()

    def do_drag(self, source, target):
        source, target = self.at(source), self.at(target)
        source.scroll_into_view_if_needed()
        (x, y), (to_x, to_y) = (middle(it.bounding_box()) for it in (source, target))
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(to_x, to_y, steps=8)
        mouse.move(to_x, to_y)
        mouse.up()

    def do_fill(self, target, value):
        self.at(target).fill(value)

    def do_type(self, text):
        self.page.keyboard.type(text)

    def do_press(self, key):
        self.page.keyboard.press(key)

    def do_select(self, target, option):
        self.at(target).select_option(label=option)

    def do_check(self, target):
        self.at(target).check()

    def do_uncheck(self, target):
        self.at(target).uncheck()

    def do_focus(self, target):
        self.at(target).focus()

    def do_scroll(self, where):
        self.page.mouse.wheel(0, {"down": 400, "up": -400}[where])

    def do_wait(self, kind, value):
        self.page.wait_for_timeout(int(value))

    def do_snapshot(self, *flags):
        self.page.evaluate("() => document.querySelectorAll('[data-peer]').forEach(it => it.removeAttribute('data-peer'))")
        lines = []
        for node in self.cdp.send("Accessibility.getFullAXTree")["nodes"]:
            role = node.get("role", {}).get("value", "")
            if node.get("ignored") or role.lower() not in ACTED_ON or not self.shown(node["backendDOMNodeId"], f"e{len(lines) + 1}"):
                continue
            line = f"@e{len(lines) + 1} {role.lower()} {json.dumps(node.get('name', {}).get('value', ''), ensure_ascii=False)}"
            if node.get("value", {}).get("value") not in (None, ""):
                line += f" = {json.dumps(str(node['value']['value']), ensure_ascii=False)}"
            for it in node.get("properties", []):
                if it["name"] in STATES and it["value"].get("value") in (True, "true"):
                    line += f" [{it['name']}]"
            lines.append(line)
        if "-C" in flags:
            for at, (tag, name) in enumerate(self.page.evaluate(ROLELESS), 1):
                lines.append(f"@c{at} {tag} {json.dumps(name, ensure_ascii=False)}")
        return "\n".join(lines)

    def shown(self, backend, ref):
        node = self.cdp.send("DOM.resolveNode", {"backendNodeId": backend})["object"]["objectId"]
        call = {"objectId": node, "functionDeclaration": MARK, "arguments": [{"value": ref}]}
        self.cdp.send("Runtime.callFunctionOn", call)
        return True


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
