"""Roundup: a tracker that shows each user the issues that are theirs."""

import json
import os

import app_roundup as plain
import words
from members import FIRST, SECOND, Behind, Members

FILL = """
import json, sys
from roundup import instance, password
tracker = instance.open(sys.argv[1])
db = tracker.open("admin")
db.setCurrentUser("admin")
given = json.load(sys.stdin)
users = {
    name: db.user.create(username=name, password=password.Password(word, config=db.config), address=f"{name}@roundup.test", roles="User")
    for name, word in given["words"].items()
}
keywords = {name: db.keyword.create(name=name) for name in json.loads(sys.argv[2])}
for it in given["issues"]:
    note = db.msg.create(content=it["text"], author="1", summary=it["text"], date=__import__("roundup.date").date.Date("2024-01-01"))
    db.issue.create(
        title=it["title"], priority=it["priority"], status=it["status"], keyword=[keywords[it["keyword"]]], messages=[note],
        assignedto=users[it["for"]], nosy=[users[name] for name in it["watch"]],
    )
db.commit()
db.close()
"""

# As the documentation of Roundup restricts issues to those who are named in them.
OWN = """
def own_issue(db, userid, itemid):
    return userid == db.issue.get(itemid, 'assignedto') or userid in db.issue.get(itemid, 'nosy')

p = db.security.addPermission(name='View', klass='issue', check=own_issue)
db.security.addPermissionToRole('User', p)
p = db.security.addPermission(name='Search', klass='issue')
db.security.addPermissionToRole('User', p)
for cl in 'file', 'msg', 'keyword':
"""


class Tracker(Members, plain.Roundup):
    name = "tracker-accounts"
    kind = "issue tracker"
    packages_of = plain.Roundup
    port = 8712
    login = "/harbour/"
    fields = ("css=input[name=__login_name]", "css=input[name=__login_password]")

    def issues(self):
        by = words.seeded("tracker-accounts")
        for at, it in enumerate(super().issues(), 1):
            own = by.choice([FIRST, SECOND])
            yield {**it, "id": at, "for": own, "watch": [FIRST, SECOND] if by.random() < 0.3 else [own]}

    def fill_issues(self):
        # Nobody is told of an issue by mail.
        os.remove(os.path.join(self.site, "detectors", "nosyreaction.py"))
        path = os.path.join(self.site, "schema.py")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = text.replace("for cl in 'issue', 'file', 'msg', 'keyword':\n    db.security.addPermissionToRole('User', 'View', cl)", OWN + "    db.security.addPermissionToRole('User', 'View', cl)", 1)
        text = text.replace("for cl in 'issue', 'file', 'msg', 'keyword', 'priority', 'status':\n", "for cl in 'priority', 'status':\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        given = {"words": self.words, "issues": list(self.issues())}
        self.run(self.place.bin("python"), "-c", FILL, self.site, json.dumps(words.PORTS), stdin=json.dumps(given))

    def own(self, account):
        return [it for it in self.issues() if account in it["watch"]]

    def tasks(self):
        def row(it):
            return {"id": it["id"], "title": it["title"], "status": it["status"], "creator": "admin"}

        ids = [str(it["id"]) for it in self.own(FIRST) if it["id"] > 9]
        return [
            Behind(
                "tracker-search",
                "Search my issues for {query}",
                "http://roundup.test/harbour/",
                [{"query": it} for it in ("capstan", "davit", "fender", "ladder")],
                [
                    {"fill": {"css": "#search-text", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "search_text={query}"}},
                    {"wait_for": {"text": "List of issues"}},
                ],
                lambda values, account: [row(it) for it in self.own(account) if values["query"] in it["title"]],
                page=50,
                endpoint="/harbour/issue",
            ),
            Behind(
                "tracker-issue",
                "Show the issue number {id}",
                "http://roundup.test/harbour/",
                [{"id": ids[at]} for at in (3, 11, 24, 40)],
                [{"navigate": "http://roundup.test/harbour/issue{id}"}, {"wait_for": {"text": "Created on"}}],
                lambda values, account: next(
                    (
                        [{name: it[name] for name in ("title", "text", "priority", "status", "keyword")}]
                        for it in self.own(account)
                        if str(it["id"]) == values["id"]
                    ),
                    None,
                ),
                one=True,
                endpoint="/harbour/issue",
            ),
            Behind(
                "tracker-mine",
                "List the issues that are assigned to me",
                "http://roundup.test/harbour/",
                [{}, {}],
                [{"click": {"role": "link", "name": "Your Issues"}}, {"wait_for": {"text": "List of issues"}}],
                lambda values, account: [row(it) for it in self.issues() if it["for"] == account and it["status"] != "resolved"],
                answerable=False,
                because="the request names the account",
            ),
        ]
