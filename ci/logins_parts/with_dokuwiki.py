"""DokuWiki with access lists: pages of all users, and a namespace that is each user's own."""

import os
import re

import app_dokuwiki as plain
import words
from members import FIRST, SECOND, Behind, Members


class Notes(Members, plain.DokuWiki):
    name = "notes-accounts"
    kind = "wiki"
    port = 8702
    login = "/doku.php?id=start&do=login"
    fields = ("css=#dw__login input[name=u]", "css=#dw__login input[name=p]")

    def notes(self, account):
        by = words.seeded("notes-accounts", account)
        for gear in words.GEAR:
            if by.random() < 0.8:
                text = f"The {gear} of {account} hangs on hook {by.randint(10, 99)}, bought in {by.choice(words.PORTS)}."
                yield f"{account}:{gear}", f"{gear.title()} of {account}", text

    def fill(self):
        super().fill()
        for account in (FIRST, SECOND):
            os.makedirs(self.site("data", "pages", account))
            for page, title, text in self.notes(account):
                self.write(page.replace(":", "/") + ".txt", f"====== {title} ======\n{text}\n")
        with open(self.site("conf", "local.php"), encoding="utf-8") as file:
            text = file.read().replace("['useacl'] = 0", "['useacl'] = 1")
        with open(self.site("conf", "local.php"), "w", encoding="utf-8") as file:
            file.write(text + "$conf['authtype'] = 'authplain';\n$conf['disableactions'] = 'register';\n")
        with open(self.site("conf", "users.auth.php"), "w", encoding="utf-8") as users:
            users.write("# <?php exit()?>\n")
            for account in (FIRST, SECOND):
                made = self.run("php", "-r", f"echo password_hash('{self.words[account]}', PASSWORD_BCRYPT);").strip()
                made = made.replace("$2y$", r"$2y$")
                users.write(f"{account}:{made}:{account.title()}:{account}@dokuwiki.test:user\n")
        with open(self.site("conf", "acl.auth.php"), "w", encoding="utf-8") as file:
            file.write("# <?php exit()?>\n*\t@ALL\t0\nstart\t@user\t1\nships:*\t@user\t1\n")
            file.write("".join(f"{it}:*\t@user\t0\n{it}:*\t{it}\t1\n" for it in (FIRST, SECOND)))
        self.run("php", "bin/indexer.php", "-c", "-q", cwd=self.site())

    def seen(self, account):
        return [*self.pages(), *self.notes(account)]

    def tasks(self):
        def found(values, account):
            word, rows = values["query"], []
            for page, title, text in self.seen(account):
                count = len(re.findall(rf"\b{word}", f"{title}\n{text}", re.IGNORECASE))
                if count:
                    rows.append({"title": title, "hits": {f"{count} Hits", f"{count} Hit"}})
            return rows

        own = {page: (title, text) for page, title, text in self.notes(FIRST)}
        names = [it.partition(":")[2] for it in own]
        return [
            Behind(
                "notes-search",
                "Search the wiki for pages about {query}",
                "http://dokuwiki.test/doku.php?id=start",
                [{"query": it} for it in ("capstan", "davit", "fender", "lantern")],
                [
                    {"fill": {"role": "textbox", "name": "[F]", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Search"}},
                    {"wait_for": {"text": "Fulltext results"}},
                ],
                found,
            ),
            Behind(
                "notes-page",
                "Show my note about the {thing}",
                "http://dokuwiki.test/doku.php?id=start",
                [{"thing": names[at]} for at in (0, 2, 4, 5)],
                [{"navigate": f"http://dokuwiki.test/doku.php?id={FIRST}:{{thing}}"}, {"wait_for": {"text": "hangs on hook"}}],
                lambda values, account: [{"text": own[f"{FIRST}:{values['thing']}"][1]}] if account == FIRST else None,
                one=True,
            ),
        ]
