"""What is done on the older version, act by act, and by what the application itself says that it was done.

Written by hand against the older version's pages, before the newer one's were looked at; not to be fitted to those.
"""

import dataclasses
import re
import urllib.parse


@dataclasses.dataclass
class Seen:
    """A page after an act."""

    url: str
    text: str
    html: str
    # Rows that an act may have added.
    added: int

    @property
    def path(self):
        return urllib.parse.urlsplit(self.url).path

    def tab(self, name):
        """Whether the tab of that name is the one that is shown."""
        return re.search(rf'aria-selected="true"[^>]*>(?:<[^>]*>)*{name}', self.html, re.IGNORECASE) is not None

    def asks(self, **wanted):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.url).query))
        return all(query.get(name) == value for name, value in wanted.items())


@dataclasses.dataclass
class Act:
    # As `commis browse` takes it.
    words: list
    # Whether it was done.
    done: object
    # It changes something.
    allow: bool = False


@dataclasses.dataclass
class Case:
    start: str
    acts: list
    # How many rows there are of what an act adds.
    rows: object = None


def holds(selector_text):
    return lambda it: selector_text in it.text


def datasette(app):
    among = "select rowid from permits_fts where permits_fts match 'chimney'"
    query = f"select id from permits where id in ({among}) and city = 'Lyon' order by fee"
    first = app.rows(query)[0]["id"]
    return Case(
        "/open/permits?_size=20",
        [
            Act(["fill", 'searchbox "Search:"', "chimney"], lambda it: it.path == "/open/permits"),
            Act(["press", "Enter"], lambda it: it.asks(_search="chimney")),
            Act(["click", 'link "fee"'], lambda it: it.asks(_search="chimney", _sort="fee")),
            Act(["select", "css=select[name=_filter_column]", "city"], lambda it: it.asks(_sort="fee")),
            Act(["fill", "css=input[name=_filter_value]", "Lyon"], lambda it: it.asks(_sort="fee")),
            Act(["click", 'button "Apply"'], lambda it: "city" in it.url and "Lyon" in it.url and it.asks(_search="chimney", _sort="fee")),
            Act(["click", f'link "{first}"'], lambda it: it.path == f"/open/permits/{first}"),
        ],
    )


def flask_admin(app):
    match = "from ship where title like '%fender%' or port like '%fender%' order by price"
    third = app.sql(app.file, f"select id {match}")[2]["id"]
    return Case(
        "/admin/ship/",
        [
            Act(["fill", 'searchbox "Search: title, port"', "fender"], lambda it: it.path == "/admin/ship/"),
            Act(["press", "Enter"], lambda it: it.asks(search="fender")),
            Act(["click", 'link "Price"'], lambda it: it.asks(search="fender", sort="5")),
            Act(["click", 'css=tbody tr:nth-child(3) a[title="View Record"]'], lambda it: it.asks(id=str(third))),
            Act(["click", 'link "Create"'], lambda it: it.path == "/admin/ship/new/"),
            Act(["fill", 'textbox "Title"', "night ferry"], lambda it: it.path == "/admin/ship/new/"),
            Act(["fill", 'textbox "Port"', "Varna"], lambda it: it.path == "/admin/ship/new/"),
            Act(["fill", 'spinbutton "Built"', "1999"], lambda it: it.path == "/admin/ship/new/"),
            Act(["click", 'button "Save"'], lambda it: it.added == 1 and it.path in ("/admin/ship/", "/admin/ship/details/"), allow=True),
        ],
        rows=lambda: app.sql(app.file, "select count(*) n from ship where title = 'night ferry' and port = 'Varna' and built = 1999")[0]["n"],
    )


def klaus(_):
    return Case(
        "/",
        [
            Act(["click", 'link "harbour Software of the harbour last updated 3 years ago"'], lambda it: it.path == "/harbour/"),
            Act(["click", 'link "lib"'], lambda it: it.path == "/harbour/tree/main/lib"),
            Act(["click", 'link "ladder.c"'], lambda it: it.path == "/harbour/blob/main/lib/ladder.c"),
            Act(["click", 'link "history"'], lambda it: it.path == "/harbour/tree/main/lib/ladder.c"),
            Act(["click", 'link "Explain ladder after the review, part 118 crew two 3 years ago"'], holds("part 118")),
        ],
    )


def luigi(app):
    family, params, _ = next(app.jobs())
    job = f"{family}_{params['port']}_{params['day']}"
    return Case(
        "/static/visualiser/index.html",
        [
            Act(["fill", 'searchbox "Filter table:"', "LoadTides"], holds("filtered from")),
            Act(["click", 'link "Workers"'], lambda it: "tab=workers" in it.url and "worker-1" in it.text),
            Act(["click", 'link "Dependency Graph"'], lambda it: "tab=graph" in it.url),
            Act(["fill", 'textbox "TaskId"', job], lambda it: "tab=graph" in it.url),
            Act(["click", 'button "Show task details"'], lambda it: f"taskId={job}" in it.url),
        ],
    )


def mkdocs(_):
    return Case(
        "/",
        [
            Act(["click", 'link "Kneading"'], lambda it: it.path == "/kneading/"),
            Act(["fill", 'textbox "Search"', "starter"], lambda it: it.path == "/kneading/"),
            Act(["wait", "--text", "matching document"], holds("matching document")),
            Act(["click", 'button "Clear"'], lambda it: it.path == "/kneading/"),
            Act(["press", "Escape"], lambda it: it.path == "/kneading/"),
            Act(["click", 'link "Steam"'], lambda it: it.path == "/steam/"),
        ],
    )


def pypiserver(_):
    return Case(
        "/",
        [
            Act(["click", 'link "simple"'], lambda it: it.path == "/simple/"),
            Act(["click", 'link "davit-maps"'], lambda it: it.path == "/simple/davit-maps/"),
            Act(["back"], lambda it: it.path == "/simple/"),
            Act(["click", 'link "fender-book"'], lambda it: it.path == "/simple/fender-book/"),
        ],
    )


def roundup(app):
    at, it = next((at, it) for at, it in enumerate(app.issues(), 1) if "davit" in it["title"] and it["status"] != "resolved")
    return Case(
        "/harbour/",
        [
            Act(["fill", "css=#search-text", "davit"], lambda it: it.path == "/harbour/"),
            Act(["press", "Enter"], lambda it: it.asks(**{"@search_text": "davit"})),
            Act(["click", f'link "{it["title"]}"'], lambda it: it.path == f"/harbour/issue{at}"),
            Act(["back"], lambda it: it.asks(**{"@search_text": "davit"})),
            Act(["click", 'link "Show Unassigned"'], lambda it: it.asks(assignedto="-1")),
            Act(["select", "css=select[name='@sort0']", "title"], lambda it: it.asks(assignedto="-1")),
            Act(["click", 'button "Redisplay"'], lambda it: it.asks(**{"@sort0": "title"})),
        ],
    )


def sqlite_web(app):
    return Case(
        "/",
        [
            Act(["click", 'link "barges"'], lambda it: it.path == "/barges/"),
            Act(["click", 'link "Content"'], lambda it: it.path == "/barges/content/"),
            Act(["click", 'link "built"'], lambda it: it.asks(ordering="4") or it.asks(ordering="built")),
            Act(["click", 'link "Insert"'], lambda it: it.path == "/barges/insert/"),
            Act(["uncheck", 'checkbox "Allow updating this column." in "Primary key."'], lambda it: it.path == "/barges/insert/"),
            Act(["fill", 'textbox "title"', "night barge"], lambda it: it.path == "/barges/insert/"),
            Act(["fill", 'textbox "port"', "Varna"], lambda it: it.path == "/barges/insert/"),
            Act(["fill", 'textbox "built"', "1999"], lambda it: it.path == "/barges/insert/"),
            Act(["click", 'button "Insert"'], lambda it: it.added == 1, allow=True),
        ],
        rows=lambda: app.rows("select count(*) n from barges where title = 'night barge' and port = 'Varna' and built = 1999")[0]["n"],
    )


def verdaccio(app):
    names = [it["name"] for it in app.packages()]
    first = sorted(names)[1]
    clock = next(it for it in app.packages() if it["name"].startswith("clock"))
    return Case(
        "/",
        [
            Act(["wait", "--text", "functions"], holds("functions")),
            Act(["click", f'link "{first}"'], lambda it: it.path == f"/-/web/detail/{first}"),
            Act(["wait", "--text", f"npm install {first}"], holds(f"npm install {first}")),
            Act(["click", 'tab "VERSIONS"'], lambda it: it.tab("Versions")),
            Act(["fill", 'combobox "Search Packages"', "clock"], lambda it: it.path == f"/-/web/detail/{first}"),
            Act(["wait", "--text", "clock functions"], holds("clock functions")),
            Act(["click", f'option "{clock["name"]} {clock["description"]} {clock["version"]}"'], lambda it: it.path == f"/-/web/detail/{clock['name']}"),
        ],
    )


def wagtail(app):
    title = next(it for it in app.titles() if "pool" in it)
    return Case(
        "/search/",
        [
            Act(["fill", "css=input[name=query]", "pool"], lambda it: it.path == "/search/"),
            Act(["click", 'button "Search"'], lambda it: it.asks(query="pool")),
            Act(["click", f'link "{title}"'], lambda it: it.path == f"/{title.lower().replace(' ', '-')}/"),
            Act(["back"], lambda it: it.asks(query="pool")),
        ],
    )


CASES = {
    "datasette": datasette,
    "flask-admin": flask_admin,
    "klaus": klaus,
    "luigi": luigi,
    "mkdocs": mkdocs,
    "pypiserver": pypiserver,
    "roundup": roundup,
    "sqlite-web": sqlite_web,
    "verdaccio": verdaccio,
    "wagtail": wagtail,
}
