"""The small pages as an application."""

import os
import platform
import sys

import pages
from app import App, Task

HERE = os.path.dirname(os.path.abspath(__file__))


class Pages(App):
    name = "pages"
    kind = "shapes of pages"
    hosts = ("pages.test",)
    port = 8621
    short = True

    def install(self):
        pass

    def version(self):
        return f"Python {platform.python_version()}"

    def command(self, port):
        return [sys.executable, "-B", os.path.join(HERE, "pages.py"), port], HERE, {}

    def tasks(self):
        return [self.task(it) for it in pages.SHAPES.values()]

    def task(self, it):
        more = it.more
        param = more.get("param", "query")
        field = more.get("field", "search")
        if field == "select":
            steps = [
                {"fill": {"role": "combobox", "name": "Port", "value": "{port}"}},
                {"click": {"role": "button", "name": "Show"}},
            ]
        elif field == "links":
            steps = [{"click": {"role": "link", "name": "{port}"}}]
        else:
            steps = [{"fill": {"role": "searchbox", "name": "Search", "value": "{query}"}}, {"press": "Enter"}]
        steps.append({"wait_for": {"text": f"Results for {{{param}}}"}})
        if it.name == "frame":
            steps.append({"wait_for": {"text": "Lies at pier"}})
        return Task(
            name=f"page-{it.name}",
            sentence=it.sentence,
            url=f"http://pages.test/{it.name}",
            examples=[{param: value} for value in more.get("examples", pages.FLEETS)],
            steps=steps,
            truth=lambda values: it.draw(values[param])[1],
            one=more.get("one", False),
            answerable=more.get("answerable", True),
            because=more.get("because", ""),
            min_items=more.get("min_items", 1),
            page=more.get("page"),
            ways=("steps", "har"),
        )
