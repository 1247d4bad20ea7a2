"""The sites of the test web that stand for what people ask of the web, and what a right answer holds."""

import dataclasses
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps_parts"))


@dataclasses.dataclass
class Site:
    """One task on one site. It has the fields of a task of `ci/apps`, so that the same judge reads its answers."""

    id: str
    kind: str
    # How many of the 1,094 commands it represents.
    stands_for: int
    host: str
    sentence: str
    steps: list
    # The first two are learned from; the others are what the recipe is tried on.
    examples: list
    # From what `/expected` answers to rows of facts.
    facts: object = None
    # From an example to the query of `/expected`.
    query: object = dict
    # The site has accounts; learning and runs need one.
    login: bool = False
    # Name and password are asked for by its server.
    basic: bool = False
    # Steps of `session login`: what is filled in where.
    fields: tuple = ('textbox "Name"', 'textbox "Password"')
    # What a learner that can do all of it says: `verified`, or why it declines.
    goal: str = "verified"
    # What it does changes something: never replayed to learn.
    writes: bool = False
    one: bool = False
    ordered: bool = False
    page: int | None = None
    # An interface description to import instead of a page.
    description: str = ""
    # What ends with time ends before the runs.
    turned: bool = False
    # What its refresh tokens are kept under, where it has some.
    renewal: str | None = None
    # The host whose sessions end, where it is another one.
    sessions: str = ""

    @property
    def session(self):
        return self.sessions or self.host

    @property
    def name(self):
        return self.id

    @property
    def url(self):
        return f"http://{self.host}/"


def records(*names):
    """Rows with these facts, as the site shows them."""
    return lambda rows: [{name: it[name] for name in names if it.get(name) is not None} for it in rows]


def record(row):
    return [row]


def plants(rows):
    return [{"latin": it["latin"], "family": it["family"], **{f"name {at}": one for at, one in enumerate(it["vernacular"])}} for it in rows]


def field(name, value, role="textbox"):
    return {"fill": {"role": role, "name": name, "value": value}}


def press(name):
    return {"click": {"role": "button", "name": name}}


def wait(text):
    return {"wait_for": {"text": text}}


def go(host, path="/"):
    return {"navigate": f"http://{host}{path}"}


SITES = [
    Site(
        "a1-parcel-prices", "A", 45, "tariff.test", "Show the carriers, prices and days for a parcel of {weight} grams to {destination}",
        [go("tariff.test"), field("Weight in grams", "{weight}"), {"select": {"role": "combobox", "name": "Destination", "value": "{destination}"}},
         press("Show prices"), {"wait_for": {"selector": "#quotes td"}}],
        [{"weight": 700, "destination": "Norway"}, {"weight": 2600, "destination": "Italy"}, {"weight": 700, "destination": "Malta"}, {"weight": 5200, "destination": "Norway"}],
        records("carrier", "price", "days", "note"),
        lambda it: {"weight": it["weight"], "to": {"Norway": "NO", "Italy": "IT", "Malta": "MT"}[it["destination"]]},
    ),
    Site(
        "a3-registry-of-bells", "A", 45, "bells.test", "Show the record of bell {number} of the parish {parish}",
        [go("bells.test", "/bell/{parish}/{number}"), {"wait_for": {"text": "Also in this tower"}}],
        [{"parish": "muehldorf", "number": 3}, {"parish": "koenigsee", "number": 8}, {"parish": "suederbrarup", "number": 4}, {"parish": "aebtissinwald", "number": 5}],
        record, one=True,
    ),
    Site(
        "a5-chess-clubs", "A", 30, "pawns.test", "Show the ranking of chess clubs in the {league}",
        [go("pawns.test"), {"click": {"role": "tab", "name": "{league}"}}, wait("{league}")],
        [{"league": "North league"}, {"league": "Islands league"}, {"league": "South league"}],
        records("place", "club", "points", "change"), lambda it: {"league": it["league"].split()[0].lower()}, turned=True,
    ),
    Site(
        "a7-plant-names", "A", 20, "flora.test", "Find plants called {name} with their Latin names and families",
        [go("flora.test"), field("Plant", "{name}", "searchbox"), press("Search"), wait("plants for {name}")],
        [{"name": "rose"}, {"name": "violet"}, {"name": "thistle"}, {"name": "clover"}], plants,
    ),
    Site(
        "a9-old-timetable", "A", 44, "railbook.test", "Show the departures of {stop} at {at}", [],
        [{"stop": "moorgate", "at": "2026-05-04T08:00"}, {"stop": "harbour", "at": "2026-05-05T09:30"}, {"stop": "oldtown", "at": "2026-06-01T17:15"}],
        records("line", "to", "planned", "delay"), description="/openapi.json",
    ),
    Site(
        "b1-library-card", "B", 29, "shelfmark.test", "List my loans with their due dates",
        [go("shelfmark.test"), wait("loans")], [{}], records("title", "due", "renewals"), login=True,
    ),
    Site(
        "b3-ticket-desk", "B", 29, "desk.test", "Show ticket {number} with all of its fields",
        [go("desk.test"), field("Number", "{number}"), press("Open ticket"), wait("Ticket {number}")],
        [{"number": 3}, {"number": 11}, {"number": 7}, {"number": 25}], record, login=True, one=True,
    ),
    Site(
        "b5-team-chat-rooms", "B", 28, "huddle.test", "List the rooms of the workspace {workspace} with topics and unread counts",
        [go("huddle.test"), field("Workspace", "{workspace}"), press("Show rooms"), wait("rooms in {workspace}")],
        [{"workspace": "tidewater"}, {"workspace": "millrace"}, {"workspace": "millrace"}],
        lambda rows: [{"name": it["name"], "topic": it["topic"], "unread": it["unread"]} for it in rows], login=True, turned=True,
        renewal="refresh.huddle.test", sessions="api.huddle.test",
    ),
    Site(
        "b7-photo-likes", "B", 28, "shutterly.test", "Show my notifications of the kind {kind}",
        [go("shutterly.test"), {"select": {"role": "combobox", "name": "Kind", "value": "{kind}"}}, press("Show"), {"wait_for": {"selector": "#notices li"}}],
        [{"kind": "Likes"}, {"kind": "Comments"}, {"kind": "Followers"}], records("who", "what", "when"),
        lambda it: {"kind": {"Likes": "like", "Comments": "comment", "Followers": "follow"}[it["kind"]]}, login=True, turned=True,
    ),
    # Ways of logging in of our own, which represent no command.
    Site(
        "b2-annex-shifts", "B", 0, "annex.test", "Show my shifts in week {week}",
        [go("annex.test"), field("Week", "{week}"), press("Show shifts"), wait("Shifts of week {week}")],
        [{"week": 12}, {"week": 31}, {"week": 40}], records("day", "post", "hours"), login=True, basic=True,
    ),
    Site(
        "b4-granary-crates", "B", 0, "granary.test", "List my crates in the hall {hall}",
        [go("granary.test"), field("Hall", "{hall}"), press("Show crates"), wait("Crates in {hall}")],
        [{"hall": "north"}, {"hall": "river"}, {"hall": "south"}], records("mark", "content", "weight"), login=True, renewal="renewal.granary.test",
    ),
    Site(
        "c1-ferry-finder", "C", 23, "quayside.test", "Find ferries from {from} to {to} on {date}",
        [go("quayside.test"), field("From", "{from}"), field("To", "{to}"), field("Date", "{date}"), press("Show sailings"), wait("sailings from {from} to {to}")],
        [{"from": "Norby", "to": "Sundport", "date": "2026-06-01"}, {"from": "Kalvik", "to": "Nor", "date": "2026-06-03"},
         {"from": "Sund", "to": "Norhaven", "date": "2026-07-11"}, {"from": "Eskholm", "to": "Norby", "date": "2026-06-01"}],
        records("departs", "arrives", "ship", "price"),
    ),
    Site(
        "c3-news-ring", "C", 24, "frontrow.test", "Show the entries of the {list} list with points and authors",
        [go("frontrow.test"), press("{list}"), {"wait_for": {"selector": "#entries li"}}], [{"list": "Top"}, {"list": "Best"}, {"list": "Top"}],
        records("rank", "title", "by", "points"), lambda it: {"list": it["list"].lower()}, ordered=True,
    ),
    Site(
        "d1-mushroom-finds", "D", 20, "spore.test", "List all mushroom finds in {place}",
        [go("spore.test"), field("Place", "{place}"), press("Show finds"), wait("Finds in {place}")],
        [{"place": "oakham"}, {"place": "firwood"}, {"place": "marsh"}, {"place": "dune"}],
        records("number", "species", "found", "finder"), ordered=True,
    ),
    Site(
        "d3-timeline", "D", 19, "warble.test", "List all posts of my timeline", [go("warble.test"), {"wait_for": {"selector": "#posts article"}}],
        [{}], records("text", "by", "on"), login=True, ordered=True,
    ),
    Site(
        "x1-press-feed", "X", 19, "bulletin.test", "Show the headlines of the section {section}",
        [go("bulletin.test"), {"click": {"role": "link", "name": "{section}"}}, {"wait_for": {"selector": "h1"}}],
        [{"section": "sport"}, {"section": "science"}, {"section": "travel"}, {"section": "letters"}], records("title", "published"), ordered=True,
    ),
    Site(
        "f1-signed-search", "F", 19, "clipstream.test", "Search clips about {query}",
        [go("clipstream.test"), field("Search", "{query}", "searchbox"), press("Search"), wait("clips for {query}")],
        [{"query": "rain"}, {"query": "kites"}, {"query": "bread"}, {"query": "foxes"}], records("title", "by", "seconds"), turned=True,
    ),
    Site(
        "g1-poster-archive", "G", 10, "playbill.test", "Get the {rendering} file of poster {number}",
        [go("playbill.test"), field("Number", "{number}"), {"select": {"role": "combobox", "name": "Rendering", "value": "{rendering}"}}, press("Show poster"), wait(", {rendering}")],
        [{"number": 7, "rendering": "small"}, {"number": 12, "rendering": "large"}, {"number": 31, "rendering": "print"}, {"number": 44, "rendering": "small"}], record, one=True, turned=True,
    ),
    Site(
        "e1-star-toggle", "E", 30, "orchardgit.test", "Star the project {project}",
        [go("orchardgit.test", "/p/{project}"), wait("tarred"), press("Star"), wait("You starred this.")],
        [{"project": "amber-orchard-bench"}, {"project": "keen-orchard-yard"}], None, login=True, writes=True,
    ),
    Site(
        "e3-comment", "E", 29, "thicket.test", "Write the comment {text} below post {post}",
        [go("thicket.test", "/post/{post}"), field("Comment", "{text}"), press("Send comment"), wait("sent")],
        [{"post": 2, "text": "well said"}, {"post": 4, "text": "I doubt it"}], None, login=True, writes=True,
    ),
    Site(
        "e5-short-post", "E", 29, "warble.test", "Post the text {text}",
        [go("warble.test"), field("Post text", "{text}"), press("Post"), wait("Posted")],
        [{"text": "a wren at noon"}, {"text": "two owls tonight"}], None, login=True, writes=True,
    ),
    Site(
        "h1-sketchpad", "H", 20, "compass.test", "Draw {command} and list the objects of the drawing",
        [go("compass.test"), field("Command", "{command}"), press("Draw"), wait("Drew")],
        [{"command": "circle at 2,3 radius 4"}, {"command": "circle at 5,1 radius 2"}], None, goal="declined",
    ),
]


class Web:
    """The control host of a test web that listens on this port."""

    def __init__(self, port):
        self.port = port
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        with self.opener.open(urllib.request.Request(url, headers={"host": "control.test"}), timeout=10) as answer:
            return json.load(answer)

    def expected(self, site, values, account=""):
        """The rows of facts that a right answer holds; none where asking should be refused."""
        try:
            return site.facts(self.ask("/expected", site=site.host, account=account, **site.query(values)))
        except urllib.error.HTTPError as err:
            if err.code == 404:
                return None
            raise

    def page(self, host, path):
        """The JSON that a host answers."""
        url = f"http://127.0.0.1:{self.port}{path}"
        with self.opener.open(urllib.request.Request(url, headers={"host": host}), timeout=10) as answer:
            return json.load(answer)

    def turn(self, site):
        self.ask("/turn", site=site.host)
