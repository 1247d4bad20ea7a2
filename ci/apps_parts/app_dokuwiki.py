"""DokuWiki: full-text search and suggestions on pages of PHP, revisions, a list of all pages."""

import html
import os
import re
import shutil

import words
from app import App, Task
from place import Missing


class DokuWiki(App):
    name = "dokuwiki"
    kind = "wiki"
    debian = ("php-cli", "php-xml", "php-mbstring", "dokuwiki")
    hosts = ("dokuwiki.test",)
    port = 8602
    ready = "/doku.php"
    short = True

    def version(self):
        return self.place.debian_version("dokuwiki")

    def site(self, *parts):
        return os.path.join(self.place.data, "site", *parts)

    def fill(self):
        source = "/usr/share/dokuwiki"
        if not os.path.isdir(source):
            raise Missing(f"there is no {source}")
        leave = shutil.ignore_patterns("data", "conf")
        shutil.copytree(source, self.site(), ignore=leave, ignore_dangling_symlinks=True)
        shutil.copytree("/etc/dokuwiki", self.site("conf"), ignore_dangling_symlinks=True)
        for name in ("conf/local.protected.php", "inc/preload.php"):
            if os.path.lexists(self.site(name)):
                os.remove(self.site(name))
        for name in "pages attic media media_attic media_meta meta cache index locks tmp log".split():
            os.makedirs(self.site("data", name), exist_ok=True)
        with open(self.site("conf", "local.php"), "w", encoding="utf-8") as file:
            file.write("<?php\n$conf['title'] = 'Harbour wiki';\n$conf['license'] = '0';\n$conf['useacl'] = 0;\n")
            file.write("$conf['savedir'] = './data';\n$conf['datadir'] = './data/pages';\n$conf['updatecheck'] = 0;\n")
        by = words.seeded("dokuwiki")
        os.makedirs(self.site("data", "pages", "ships"))
        for one in words.GEAR:
            for two in by.sample(words.GEAR, 5):
                text = (
                    f"====== {one.title()} and {two} ======\nOne {one} was kept near the {two} from {by.randint(1900, 1999)} on.\n"
                )
                text += f"Later it went to {by.choice(words.PORTS)} with {by.randint(2, 90)} others of its kind.\n"
                self.write(os.path.join("ships", f"{one}_{two}.txt"), text)
        self.write("start.txt", "====== Harbour wiki ======\nWelcome to the harbour wiki.\n")
        self.run("php", "bin/indexer.php", "-c", "-q", cwd=self.site())

    def write(self, name, text):
        path = self.site("data", "pages", name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # Pages show when they were changed.
        os.utime(path, (1_700_000_000, 1_700_000_000))

    def command(self, port):
        return ["php", "-S", f"127.0.0.1:{port}"], self.site(), {"PHP_CLI_SERVER_WORKERS": "4"}

    def pages(self):
        folder = self.site("data", "pages", "ships")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                title, text = file.read().split("\n", 1)
            yield f"ships:{name[:-4]}", title.strip("= "), text

    def searched(self, values):
        word = values["query"]
        rows = []
        for page, title, text in self.pages():
            count = len(re.findall(rf"\b{word}", f"{title}\n{text}", re.IGNORECASE))
            if count:
                rows.append(
                    {
                        "title": title,
                        "hits": {f"{count} Hits", f"{count} Hit"},
                        "says": f"One {page[6:].split('_')[0]} was kept near",
                    }
                )
        return rows

    def tasks(self):
        gear = [{"query": it} for it in ("capstan", "davit", "fender", "lantern")]
        field = {"fill": {"role": "textbox", "name": "[F]", "value": "{query}"}}
        return [
            Task(
                "dokuwiki-search",
                "Search the harbour wiki for pages about {query}",
                "http://dokuwiki.test/",
                gear,
                [field, {"click": {"role": "button", "name": "Search"}}, {"wait_for": {"text": "Fulltext results"}}],
                self.searched,
                ways=("steps", "har"),
            ),
            Task(
                "dokuwiki-suggest",
                "Suggest wiki pages whose name contains {query}",
                "http://dokuwiki.test/",
                gear,
                [field, {"wait_for": {"text": "Matching pagenames"}}],
                lambda values: [{"title": page[6:]} for page, _, _ in self.pages() if values["query"] in page],
                endpoint="ajax.php",
                ways=("steps", "har"),
            ),
            Task(
                "dokuwiki-page",
                "Show the wiki page {page}",
                "http://dokuwiki.test/",
                [{"page": it} for it in self.names()],
                [{"navigate": "http://dokuwiki.test/doku.php?id=ships:{page}"}, {"wait_for": {"text": "was kept near"}}],
                self.text,
                one=True,
                ways=("steps", "har"),
            ),
        ]

    def names(self):
        try:
            found = [page[6:] for page, _, _ in self.pages()]
        except OSError:
            found = ["a", "b", "c", "d"]
        return [found[at * len(found) // 4] for at in range(4)]

    def text(self, values):
        for page, title, text in self.pages():
            if page == f"ships:{values['page']}":
                lines = [" ".join(it.split()) for it in html.unescape(text).strip().split("\n")]
                return [{"title": title, "text": lines[0], "more": lines[1]}]
        return []
