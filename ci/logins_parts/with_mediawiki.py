"""MediaWiki: a private wiki whose users each have a watchlist."""

import os
import sqlite3

import app_mediawiki as plain
import words
from members import FIRST, SECOND, Behind, Members


class Wiki(Members, plain.MediaWiki):
    name = "wiki-accounts"
    kind = "wiki"
    port = 8717
    ready = "/index.php/Special:UserLogin"
    login = "/index.php/Special:UserLogin"
    fields = ("css=#wpName1", "css=#wpPassword1")

    def account(self, account):
        return account.title()

    def watched(self, account):
        titles = sorted(title for title, _, _ in self.pages())
        by = words.seeded("wiki-accounts", account)
        # Some are watched by both.
        return sorted({*by.sample(titles, 9), *titles[:3]})

    def fill(self):
        super().fill()
        site = os.path.join(self.place.data, "site")
        with open(os.path.join(site, "LocalSettings.php"), "a", encoding="utf-8") as file:
            file.write("\n$wgGroupPermissions['*']['read'] = false;\n$wgGroupPermissions['*']['createaccount'] = false;\n")
        for account in (FIRST, SECOND):
            self.run("php", "maintenance/createAndPromote.php", self.account(account), self.words[account], cwd=site)
        base = sqlite3.connect(os.path.join(self.place.data, "database", "wiki.sqlite"))
        for account in (FIRST, SECOND):
            (user,) = base.execute("select user_id from user where cast(user_name as text) = ?", (self.account(account),)).fetchone()
            for title in self.watched(account):
                row = (user, title.replace(" ", "_"))
                base.execute("insert into watchlist (wl_user, wl_namespace, wl_title) values (?, 0, ?)", row)
        base.commit()
        base.close()

    def tasks(self):
        return [
            Behind(
                "wiki-watchlist",
                "List the articles on my watchlist",
                "http://wiki.test/index.php/Special:EditWatchlist",
                [{}, {}],
                [{"wait_for": {"text": "Remove titles"}}],
                lambda values, account: [{"title": it} for it in self.watched(account)],
                endpoint="EditWatchlist",
            ),
            Behind(
                "wiki-category",
                "List the articles in the category {category}",
                "http://wiki.test/index.php/Main_Page",
                [{"category": it} for it in ("Millpark", "Riverbend", "Westgate", "Oldwall")],
                [{"navigate": "http://wiki.test/index.php/Category:{category}"}, {"wait_for": {"text": "Pages in category"}}],
                lambda values, account: [{"title": title} for title, _, park in self.pages() if park == values["category"]],
                endpoint="Category:",
            ),
        ]
