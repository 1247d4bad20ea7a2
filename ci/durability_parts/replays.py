"""Killed at each note of the replay journal: a replay that was noted is not sent again. The web counts, in a process of its own, and
no browser is needed: the task is learned from a recording, and replayed over the network."""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request

from live import Web
from store import Look
from traced import killed, points

CALL = "shop.test GET /api/search"
EXAMPLES = ["lantern", "garden hose"]


def fetch(web, path):
    ask = urllib.request.Request(f"http://127.0.0.1:{web.port}{path}", headers={"Host": "shop.test"})
    with urllib.request.urlopen(ask, timeout=30) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def entry(web, path, kind):
    text, mime = fetch(web, path)
    return {
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "time": 1,
        "_resourceType": kind,
        "request": {
            "method": "GET",
            "url": f"http://shop.test{path}",
            "httpVersion": "HTTP/1.1",
            # Headers are what minimize tries to leave out, one replay each.
            "headers": [{"name": it, "value": "1"} for it in ["X-App-Build", "X-Client-Kind", "X-Page-Part"]],
            "queryString": [],
            "cookies": [],
            "headersSize": -1,
            "bodySize": -1,
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "HTTP/1.1",
            "headers": [{"name": "Content-Type", "value": mime}],
            "cookies": [],
            "content": {"size": len(text), "mimeType": mime, "text": text},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 0},
    }


def manifest(web, scratch):
    query = urllib.parse.quote(EXAMPLES[0])
    search = f"/api/search?q={query}&page=1&sort=relevance&lang=en&view=grid"
    entries = [entry(web, "/", "document"), entry(web, search, "fetch")]
    with open(os.path.join(scratch, "shop.har"), "w", encoding="utf-8") as file:
        json.dump({"log": {"version": "1.2", "creator": {"name": "durability", "version": "1"}, "entries": entries}}, file)
    path = os.path.join(scratch, "replays.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "version: 1\ndefaults: { delay_s: 0 }\nrecipes:\n  - name: shop-search\n    har: shop.har\n"
            "    task: 'Search the shop for {query} and list the products with their prices'\n"
            f"    examples: [{', '.join(f'{{ query: {it} }}' for it in EXAMPLES)}]\n"
        )
    return path


def calls(web):
    ask = urllib.request.Request(f"http://127.0.0.1:{web.port}/hits", headers={"Host": "control.test"})
    with urllib.request.urlopen(ask, timeout=30) as answer:
        return json.load(answer).get(CALL, 0)


def new_home(scratch):
    """A home that draws no page: a browser that is traced does not start."""
    home = tempfile.mkdtemp(dir=scratch)
    with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
        file.write("[learning]\nrender_har = false\n")
    os.chmod(file.name, 0o600)
    return home


def main(binary, scratch, long):
    os.environ["no_proxy"] = "*"
    web, bad = Web(binary, scratch), []
    try:
        rest = ["recipe", "learn-batch", "--manifest", manifest(web, scratch), "--resume"]
        command = lambda home: [binary, "--test-host", web.pin, "--home", home, *rest]
        home = new_home(scratch)
        before = calls(web)
        end = subprocess.run(command(home), capture_output=True, text=True, check=False)
        usual = calls(web) - before
        home = new_home(scratch)
        # Only notes are synced without their metadata.
        notes = points(command(home), home, scratch, ["fdatasync"]).get("fdatasync", [])
        if end.returncode != 0 or "verified" not in end.stderr or not notes:
            return [f"nothing was replayed: {end.stderr[-300:]}"]
        repeated = dead = 0
        for ordinal in notes if long else notes[:: max(1, len(notes) // 5)]:
            home = new_home(scratch)
            begun = calls(web)
            dead += killed(command(home), "fdatasync", ordinal)
            noted = sum(map(len, Look(home).journals.values()))
            before = calls(web)
            end = subprocess.run(command(home), capture_output=True, text=True, check=False)
            sent = calls(web) - before
            # It is killed after a note, before the next is sent: none is in flight.
            again = before - begun + sent - usual
            repeated += again
            print(f"  killed at note {ordinal}: {noted} noted, {before - begun} and then {sent} calls sent, {usual} are usual")
            if end.returncode != 0:
                bad.append(f"note {ordinal}: {end.stderr[-300:]}")
            shutil.rmtree(home)
        print(f"  {dead} kills, {repeated} calls too many")
        if repeated or not dead:
            bad.append(f"{repeated} calls too many in {dead} kills")
    finally:
        web.end()
    return bad

