"""Shaarli: bookmarks with tags on pages of a PHP program without a database, in German."""

import datetime
import json
import os
import shutil

import words
from app import App, Task
from place import Missing

SOURCE = "/usr/share/shaarli"
TAGS = "hafen kran kräne werft öl-lager maße fähre fahrplan lotse winde".split()
WHAT = ("Kran", "Kranich", "Fähre", "Fährhaus", "Ölpumpe", "Winde", "Seilwinde", "Boje", "Schleuse", "Waage")
PARTS = ("Maße", "Preise", "Prüfbericht", "Fotos", "Betriebszeiten", "Ersatzteile")

FILL = """<?php
require_once 'autoload.php';
$links = new Shaarli\\Bookmark\\BookmarkArray();
foreach (json_decode(stream_get_contents(STDIN), true) as $it) {
    $link = new Shaarli\\Bookmark\\Bookmark();
    $link->fromArray([
        'id' => $it['id'], 'shorturl' => $it['short'], 'url' => $it['url'], 'title' => $it['title'],
        'description' => $it['text'], 'tags' => $it['tags'], 'created' => new DateTime($it['when'], new DateTimeZone('UTC')),
    ]);
    $links[$it['id']] = $link;
}
file_put_contents($argv[1], '<?php /* ' . base64_encode(gzdeflate(serialize($links))) . ' */ ?>');
"""


class Shaarli(App):
    name = "shaarli"
    kind = "bookmarks"
    debian = ("shaarli", "php-cli", "php-intl", "php-mbstring", "php-gd")
    hosts = ("shaarli.test",)
    port = 8665

    def links(self):
        """What was noted, the newest first, as the page shows it."""
        by = words.seeded("shaarli")
        out = []
        for at in range(160):
            what, part, city = by.choice(WHAT), by.choice(PARTS), by.choice(words.CITIES)
            when = datetime.datetime(2025, 2, 1) + datetime.timedelta(minutes=360 * at + by.randint(0, 350))
            path = f"{part.lower().replace('ü', 'ue').replace('ß', 'ss')}/{at + 1}?art={by.randint(10, 99)}"
            title = f"{what}: {part} aus {city}, Blatt {by.randint(1, 30)}"
            day, month = by.randint(1, 28), by.choice(("März", "Mai", "Juli"))
            text = f"Gilt ab {day}. {month} für {by.randint(2, 90)} Stück zu {by.randint(100, 9999) / 100:.2f} €."
            out.append(
                {
                    "id": at,
                    "short": f"n{at:05x}",
                    "url": f"http://{city.lower()}.test/{path}",
                    "title": title,
                    "text": text if by.random() < 0.8 else "",
                    "tags": by.sample(TAGS, by.randint(0, 3)),
                    "when": when,
                }
            )
        return out[::-1]

    def fill(self):
        if not os.path.isdir(SOURCE):
            raise Missing(f"there is no {SOURCE}")
        site, state = os.path.join(self.place.data, "site"), os.path.join(self.place.data, "state")
        shutil.copytree(SOURCE, site, ignore=shutil.ignore_patterns("cache", "doc"), ignore_dangling_symlinks=True)
        for it in ("data", "cache", "pagecache", "tmp"):
            os.makedirs(os.path.join(state, it))
        # The package has fixed paths for what it writes.
        for folder, _, names in os.walk(site):
            for path in (os.path.join(folder, it) for it in names if it.endswith(".php") and not os.path.islink(os.path.join(folder, it))):
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                moved = text.replace("/var/lib/shaarli", state).replace("/var/cache/shaarli", state).replace(SOURCE, site)
                if moved != text:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(moved)
        settings = {
            "credentials": {"login": "watch", "hash": "0", "salt": "0"},
            "general": {"title": "Fundstellen im Hafen", "timezone": "UTC", "links_per_page": 20, "enabled_plugins": []},
            "updates": {"check_updates": False},
            "thumbnails": {"mode": "none"},
            "translation": {"language": "de", "mode": "php"},
            "api": {"enabled": False},
        }
        with open(os.path.join(state, "data", "config.json.php"), "w", encoding="utf-8") as file:
            file.write(f"<?php /*\n{json.dumps(settings)}\n*/ ?>")
        with open(os.path.join(self.place.data, "fill.php"), "w", encoding="utf-8") as file:
            file.write(FILL.replace("'autoload.php'", f"'{site}/autoload.php'"))
        found = [{**it, "when": it["when"].isoformat()} for it in self.links()]
        store = os.path.join(state, "data", "datastore.php")
        self.run("php", os.path.join(self.place.data, "fill.php"), store, cwd=site, stdin=json.dumps(found))

    def command(self, port):
        site = os.path.join(self.place.data, "site")
        return ["php", "-d", "display_errors=0", "-S", f"127.0.0.1:{port}", "-t", site], site, {"PHP_CLI_SERVER_WORKERS": "3"}

    def found(self, term="", tag=""):
        """Bookmarks that hold a term anywhere and that have a tag."""

        def holds(it):
            text = " ".join([it["title"], it["text"], it["url"], *it["tags"]]).lower()
            return term.lower() in text and (not tag or tag in it["tags"])

        return [self.row(it) for it in self.links() if holds(it)]

    def row(self, it, date=True):
        out = {"title": it["title"], "url": it["url"]}
        out |= {"text": it["text"]} if it["text"] else {}
        out |= {f"tag{at}": name for at, name in enumerate(it["tags"])}
        if date:
            out["date"] = f"{it['when']:%B} {it['when'].day}, {it['when'].year} at {it['when']:%H:%M}"
        return out

    def tasks(self):
        term, tag = {"css": "#search-linklist input.searchterm"}, {"css": "#search-linklist input.searchtags"}
        shown = {"wait_for": {"text": "Ergebnisse"}}
        return [
            Task(
                "shaarli-search",
                "Suche Lesezeichen zu {query}",
                "http://shaarli.test/",
                [{"query": it} for it in ("kran", "prüf", "Setubal", "fähr")],
                [{"fill": {**term, "value": "{query}"}}, {"press": "Enter"}, {"wait_for": {"selector": ".search-result"}}, shown],
                lambda values: self.found(values["query"]),
                page=20,
                ways=("steps", "har"),
            ),
            Task(
                "shaarli-tag",
                "Zeige die Lesezeichen mit dem Tag {tag}, die neuesten zuerst",
                "http://shaarli.test/",
                [{"tag": it} for it in ("fähre", "kran", "öl-lager", "kräne")],
                [{"navigate": "http://shaarli.test/?searchtags={tag}"}, shown],
                lambda values: self.found(tag=values["tag"]),
                page=20,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task(
                "shaarli-both",
                "Suche Lesezeichen zu {query} mit dem Tag {tag}",
                "http://shaarli.test/",
                [
                    {"query": "Maße", "tag": "werft"},
                    {"query": "Winde", "tag": "hafen"},
                    {"query": "Kran", "tag": "kräne"},
                    # Nothing has both.
                    {"query": "Boje", "tag": "hafen"},
                ],
                [
                    {"fill": {**term, "value": "{query}"}},
                    {"fill": {**tag, "value": "{tag}"}},
                    {"click": {"css": "#search-linklist button.search-button"}},
                    {"wait_for": {"request": "searchtags="}},
                    shown,
                ],
                lambda values: self.found(values["query"], values["tag"]),
                page=20,
                ways=("steps", "har"),
            ),
            Task(
                "shaarli-daily",
                "Zeige die Lesezeichen vom Tag {day}",
                "http://shaarli.test/daily",
                [{"day": it} for it in ("20250212", "20250224", "20250303", "20250309")],
                [{"navigate": "http://shaarli.test/daily?day={day}"}, {"wait_for": {"selector": ".daily-entry"}}],
                lambda values: [self.row(it, date=False) for it in self.links() if f"{it['when']:%Y%m%d}" == values["day"]],
                endpoint="/daily",
                ways=("steps", "har"),
            ),
        ]
