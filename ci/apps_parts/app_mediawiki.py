"""MediaWiki: suggestions by its REST interface, full-text search, page history, categories."""

import os
import shutil
from xml.sax.saxutils import escape

import words
from app import App, Task
from place import Missing

TREES = "oak beech ash elm lime maple birch alder rowan hazel willow poplar larch spruce".split()
STUDIES = "pruning,planting,felling,leaf fall,bark beetles,roots,honeydew,storm damage,grafting,seedlings,hollows,fungi".split(",")
PARKS = "Millpark,Abbeygarden,Stationsquare,Canalwalk,Schoolyard,Castlehill,Marketgreen,Lakeshore,Oldwall,Riverbend,Westgate,Northfield".split(
    ","
)


class MediaWiki(App):
    name = "mediawiki"
    kind = "wiki"
    debian = ("php-cli", "php-sqlite3", "php-mbstring", "php-xml", "php-intl", "php-apcu", "mediawiki")
    hosts = ("wiki.test",)
    port = 8617
    ready = "/index.php/Main_Page"

    def version(self):
        return self.place.debian_version("mediawiki")

    def pages(self):
        by = words.seeded("mediawiki")
        for tree in TREES:
            for study in by.sample(STUDIES, 8):
                park = by.choice(PARKS)
                title = f"{tree.capitalize()} {study} in {park}, {by.randint(1950, 2023)}"
                text = f"Notes on the {study} of one {tree} in {park}: {by.randint(3, 40)} metres tall and {by.randint(9, 300)} years old."
                yield title, text, park

    def fill(self):
        source = next(
            (it for it in ("/var/lib/mediawiki", "/usr/share/mediawiki") if os.path.isdir(os.path.join(it, "maintenance"))), None
        )
        if not source:
            raise Missing("there is no MediaWiki under /var/lib or /usr/share")
        site = os.path.join(self.place.data, "site")
        shutil.copytree(source, site, ignore_dangling_symlinks=True, ignore=shutil.ignore_patterns("LocalSettings.php"))
        database = os.path.join(self.place.data, "database")
        os.makedirs(database)
        install = [
            "--dbtype",
            "sqlite",
            "--dbpath",
            database,
            "--dbname",
            "wiki",
            "--server",
            "http://wiki.test",
            "--scriptpath",
            "",
        ]
        self.run(
            "php",
            "maintenance/install.php",
            *install,
            "--pass",
            "Correct-Horse-9",
            "--skins=Vector",
            "Tree wiki",
            "Admin",
            cwd=site,
        )
        with open(os.path.join(site, "LocalSettings.php"), "a", encoding="utf-8") as file:
            file.write(
                '\n$wgEnableUploads = false;\n$wgMainCacheType = CACHE_ACCEL;\n$wgJobRunRate = 0;\n$wgDefaultSkin = "vector-2022";\n'
            )
        out = ['<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">']
        for title, text, park in self.pages():
            out.append(
                f"<page><title>{escape(title)}</title><ns>0</ns><revision><timestamp>2024-01-01T00:00:00Z</timestamp><contributor><username>Admin</username>"
                f"</contributor><model>wikitext</model><format>text/x-wiki</format><text xml:space='preserve'>{escape(text)}\n[[Category:{park}]]</text></revision></page>"
            )
        path = os.path.join(self.place.data, "pages.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*out, "</mediawiki>"]))
        for script in (["importDump.php", path], ["rebuildrecentchanges.php"], ["runJobs.php"], ["rebuildtextindex.php"]):
            self.run("php", f"maintenance/{script[0]}", *script[1:], cwd=site, seconds=600)

    def command(self, port):
        return ["php", "-S", f"127.0.0.1:{port}"], os.path.join(self.place.data, "site"), {"PHP_CLI_SERVER_WORKERS": "4"}

    def tasks(self):
        trees = [{"query": it} for it in ("Maple", "Willow", "Beech", "Larch")]
        suggest = [
            {"fill": {"role": "searchbox", "name": "Search Tree wiki", "value": "{query}"}},
            {"wait_for": {"selector": ".cdx-menu-item"}},
        ]

        def titled(values):
            return [{"title": title} for title, _, _ in self.pages() if title.startswith(values["query"])]

        return [
            Task(
                "mediawiki-suggest",
                "Suggest wiki articles whose title starts with {query}",
                "http://wiki.test/index.php/Main_Page",
                trees,
                suggest,
                titled,
                page=8,
                endpoint="search/title",
                ways=("steps", "har"),
            ),
            Task(
                "mediawiki-search",
                "Search the wiki for articles that mention {query}",
                "http://wiki.test/index.php/Special:Search",
                [{"query": it} for it in ("alder", "rowan", "larch", "hazel")],
                [
                    {"fill": {"role": "combobox", "name": "", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "Results 1"}},
                ],
                # Each is there twice: among the titles that match, and among the texts.
                lambda values: 2 * [{"title": title, "text": text} for title, text, _ in self.pages() if values["query"] in text],
                ways=("steps", "har"),
            ),
            Task(
                "mediawiki-category",
                "List the articles in the category {category}",
                "http://wiki.test/index.php/Main_Page",
                [{"category": it} for it in ("Millpark", "Riverbend", "Westgate", "Oldwall")],
                [{"navigate": "http://wiki.test/index.php/Category:{category}"}, {"wait_for": {"text": "Pages in category"}}],
                lambda values: [{"title": title} for title, _, park in self.pages() if park == values["category"]],
                endpoint="Category:",
                ways=("steps", "har"),
            ),
            Task(
                "mediawiki-article",
                "Show the wiki article {title}",
                "http://wiki.test/index.php/Special:AllPages",
                [{"title": it} for it in self.some()],
                [{"click": {"role": "link", "name": "{title}"}}, {"wait_for": {"text": "metres tall"}}],
                lambda values: [{"title": title, "text": text} for title, text, _ in self.pages() if title == values["title"]],
                one=True,
            ),
            Task(
                "mediawiki-history",
                "Show the history of the article {title}",
                "http://wiki.test/index.php/Main_Page",
                [{"title": it} for it in self.some()],
                [
                    {"navigate": "http://wiki.test/index.php?title={title}&action=history"},
                    {"wait_for": {"text": "Revision history"}},
                ],
                lambda values: [{"time": {"00:00, 1 January 2024", "2024-01-01"}, "by": "Admin"}],
            ),
        ]

    def some(self):
        titles = [title for title, _, _ in self.pages()]
        return [titles[at] for at in (3, 20, 41, 77)]
