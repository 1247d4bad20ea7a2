"""A small repository with a known history, for the programs that show one."""

import datetime
import os

import words

FOLDERS = {
    "lib": ["lantern.c", "fender.c", "ladder.c", "davit.c", "capstan.c"],
    "docs": ["manual.txt", "rules.txt"],
    "tests": ["ladder_test.c", "davit_test.c", "capstan_test.c"],
    "tools": ["build.sh", "check.sh"],
}
FILES = [f"{folder}/{name}" for folder, names in FOLDERS.items() for name in names]
DEEDS = ["Rework", "Shorten", "Explain", "Rename parts of", "Check bounds in"]
WHY = ["", " once more", " on slow machines", " after the review"]
CREWS = ["crew one", "crew two", "night watch", "day watch"]
# 2023-11-14 08:00 UTC.
BEGUN = 1_699_948_800


def commits(count=120):
    """From the oldest to the newest: subject, file, author, seconds since 1970, and the file's text after it."""
    by = words.seeded("repository")
    texts = dict.fromkeys(FILES, "")
    out = []
    for at in range(count):
        file = FILES[at] if at < len(FILES) else by.choice(FILES)
        topic = os.path.basename(file).split(".")[0].lower()
        texts[file] += f"line {at}: {by.choice(words.GEAR)} {by.randint(1, 99)}\n"
        out.append(
            {
                "subject": f"{by.choice(DEEDS)} {topic}{by.choice(WHY)}, part {at}",
                "file": file,
                "author": by.choice(CREWS),
                "time": BEGUN + at * 86_400 + by.randint(0, 40_000),
                "text": texts[file],
            }
        )
    return out


def day(it):
    return datetime.datetime.fromtimestamp(it["time"], datetime.timezone.utc).strftime("%Y-%m-%d")


def rows(fits, *names):
    """What pages show of the commits that fit, the newest first."""
    return [{name: day(it) if name == "day" else it[name] for name in names} for it in reversed(commits()) if fits(it)]


def about(word, *names):
    return rows(lambda it: word in it["subject"].lower(), *names)


def history(path, *names):
    return rows(lambda it: it["file"] == path, *names)


def folder(name):
    """Files of a folder with their sizes."""
    last = {it["file"]: len(it["text"]) for it in commits()}
    return [{"name": it, "size": last[f"{name}/{it}"]} for it in sorted(FOLDERS[name])]


WORDS = [{"query": it} for it in ("ladder", "capstan", "davit", "fender")]
NAMES = [{"file": it} for it in ("ladder.c", "capstan.c", "davit.c", "fender.c")]
PLACES = [{"folder": it} for it in ("lib", "tests", "docs", "tools")]


def mail(author):
    return f"{author.replace(' ', '.')}@ships.test"


def make(app, path):
    """The history as a bare git repository."""
    os.makedirs(path)
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    app.run("git", "init", "-q", "--bare", "-b", "main", path, env=git)
    out = []
    for it in commits():
        who = f"{it['author']} <{mail(it['author'])}> {it['time']} +0000"
        text, message = it["text"], it["subject"] + "\n"
        out.append(f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(message.encode())}\n{message}")
        out.append(f"M 100644 inline {it['file']}\ndata {len(text.encode())}\n{text}\n")
    out.append("tag v1.0\nfrom refs/heads/main\ntagger crew one <crew.one@ships.test> 1710000000 +0000\ndata 5\nv1.0\n\n")
    app.run("git", "fast-import", "--quiet", cwd=path, stdin="".join(out), env=git)
    with open(os.path.join(path, "description"), "w", encoding="utf-8") as file:
        file.write("Software of the harbour\n")
