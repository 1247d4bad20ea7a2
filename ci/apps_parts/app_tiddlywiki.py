"""TiddlyWiki: a wiki in one page of some megabytes, whose notes come one by one when they are opened."""

import os

import words
from app import App, Task

SUBJECTS = [
    "mast",
    "mast step",
    "mât",
    "keel",
    "keel bolt",
    "rudder",
    "anchor chain",
    "bilge pump",
    "storm sail",
    "Öltank",
    "galley stove",
    "life raft",
]


class TiddlyWiki(App):
    name = "tiddlywiki"
    kind = "wiki in one page"
    pins = ("tiddlywiki@5.4.1",)
    hosts = ("notes.test",)
    port = 8645
    ready = "/status"
    patience = 20

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    @property
    def program(self):
        return os.path.join(self.place.npm, "node_modules", ".bin", "tiddlywiki")

    def notes(self):
        by = words.seeded("tiddlywiki")
        for subject in SUBJECTS:
            for part in ("care", "care in winter", "purchase"):
                points = [
                    f"{by.choice(['Rinse', 'Grease', 'Measure', 'Order', 'Label'])} the {by.choice(words.GEAR)} {at} with {by.randint(2, 90)} {by.choice(['ml of oil', 'g of wax', 'screws'])}"
                    for at in range(1, by.randint(4, 7))
                ]
                yield {
                    "title": f"{subject} {part}",
                    "tags": by.sample(["deck", "below deck", "spring", "urgent"], 2),
                    "modified": f"2024{by.randint(1, 12):02}{by.randint(1, 28):02}120000000",
                    "about": f"Notes of dock {by.randint(1, 40)} on the {subject}.",
                    "points": points,
                }

    def fill(self):
        wiki = os.path.join(self.place.data, "wiki")
        self.run(self.program, wiki, "--init", "server")
        os.makedirs(os.path.join(wiki, "tiddlers"), exist_ok=True)
        for at, it in enumerate(self.notes()):
            tags = " ".join(f"[[{tag}]]" if " " in tag else tag for tag in it["tags"])
            head = f"created: 20240101120000000\nmodified: {it['modified']}\ntags: {tags}\ntitle: {it['title']}\ntype: text/vnd.tiddlywiki\n"
            text = "\n".join([it["about"], "", *(f"* {point}" for point in it["points"])])
            with open(os.path.join(wiki, "tiddlers", f"note{at}.tid"), "w", encoding="utf-8") as file:
                file.write(f"{head}\n{text}\n")

    def command(self, port):
        wiki = os.path.join(self.place.data, "wiki")
        return [self.program, wiki, "--listen", f"port={port}", "host=127.0.0.1", "root-tiddler=$:/core/save/lazy-all"], None, {}

    def note(self, values):
        for it in self.notes():
            if it["title"] == values["title"]:
                points = {f"point {at}": point for at, point in enumerate(it["points"], 1)}
                yield {"title": it["title"], "about": it["about"], **points, **{f"tag {tag}": tag for tag in it["tags"]}}

    def tasks(self):
        titles = [{"title": it} for it in ("keel care", "bilge pump purchase", "mast care in winter", "Öltank purchase")]
        return [
            Task(
                "tiddlywiki-open",
                "Show the note {title} with its points and tags",
                "http://notes.test/",
                titles,
                [{"navigate": "http://notes.test/#{title}"}, {"wait_for": {"text": "Notes of dock"}}],
                lambda values: list(self.note(values)),
                one=True,
                endpoint="recipes|tiddlers|notes.test/\\{",
                ways=("steps", "har"),
            ),
            Task(
                "tiddlywiki-static",
                "Read the note {title}",
                "http://notes.test/status",
                titles,
                [{"navigate": "http://notes.test/{title}"}, {"wait_for": {"text": "Notes of dock"}}],
                lambda values: [{name: it[name] for name in it if not name.startswith("tag ")} for it in self.note(values)],
                one=True,
                ways=("steps", "har"),
            ),
            Task(
                "tiddlywiki-search",
                "Search the notes for {query}",
                "http://notes.test/",
                [{"query": it} for it in ("keel", "rudder", "mast", "anchor")],
                [
                    {"fill": {"css": ".tc-sidebar-search input[type=search]", "value": "{query}"}},
                    {"wait_for": {"text": "{query} care in winter"}},
                ],
                lambda values: [{"title": it["title"]} for it in self.notes() if values["query"] in it["title"]],
                answerable=False,
                because="the search runs in the browser over the titles that the page holds",
                ways=("steps", "har"),
            ),
        ]
