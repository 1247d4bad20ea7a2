"""Verdaccio: a registry of npm packages; a single page that asks JSON."""

import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
import urllib.request

import words
from app import App, Task

TOPICS = "clock ledger route badge menu slider pixel vector wallet poem radio tariff".split()
FLAVOURS = "base plus mini pro flow half".split()


class Verdaccio(App):
    name = "verdaccio"
    kind = "package registry"
    pins = ("verdaccio@6.8.0",)
    hosts = ("depot.test",)
    port = 8618
    ready = "/-/ping"
    seconds = 90

    def install(self):
        self.place.node(self.pins, overrides={"node-fetch": "2.6.7"})

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def packages(self):
        by = words.seeded("verdaccio")
        for topic in TOPICS:
            for flavour in by.sample(FLAVOURS, 4):
                yield {
                    "name": f"{topic}-{flavour}",
                    "version": f"{by.randint(0, 4)}.{by.randint(0, 9)}.{by.randint(0, 9)}",
                    "description": f"{topic} functions for {by.choice(['large', 'quiet', 'shared'])} {flavour} projects",
                    "keywords": [topic, flavour],
                    "license": "MIT",
                }

    def fill(self):
        with open(os.path.join(self.place.data, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(
                "storage: ./storage\nauth: { htpasswd: { file: ./htpasswd, max_users: 10 } }\nuplinks: {}\n"
                "packages: { '**': { access: $all, publish: $all, unpublish: $all } }\nweb: { title: Depot }\n"
                "publish: { allow_offline: true }\nlog: { type: stdout, format: json, level: warn }\n"
            )

    def command(self, port):
        program = os.path.join(self.place.npm, "node_modules", "verdaccio", "bin", "verdaccio")
        return (
            ["node", program, "--config", os.path.join(self.place.data, "config.yaml"), "--listen", f"127.0.0.1:{port}"],
            None,
            {},
        )

    def settle(self):
        """Publishes what is not there yet, as `npm publish` does."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        known = json.loads(self.get("/-/verdaccio/data/packages"))
        names = {it["name"] for it in known}
        for it in self.packages():
            if it["name"] in names:
                continue
            made = packed(it)
            dist = {
                "shasum": hashlib.sha1(made).hexdigest(),
                "tarball": f"http://depot.test/{it['name']}/-/{it['name']}-{it['version']}.tgz",
            }
            body = {
                "_id": it["name"],
                "name": it["name"],
                "description": it["description"],
                "dist-tags": {"latest": it["version"]},
                "versions": {
                    it["version"]: {**it, "_id": f"{it['name']}@{it['version']}", "dist": dist, "readme": f"# {it['name']}\n"}
                },
                "_attachments": {
                    f"{it['name']}-{it['version']}.tgz": {
                        "content_type": "application/octet-stream",
                        "data": base64.b64encode(made).decode(),
                        "length": len(made),
                    }
                },
            }
            request = urllib.request.Request(f"{self.url}/{it['name']}", data=json.dumps(body).encode(), method="PUT")
            request.add_header("content-type", "application/json")
            request.add_header("host", "depot.test")
            opener.open(request, timeout=30).close()

    def found(self, values):
        """What the registry finds, which is more than what has the word in its name."""
        names = {it["name"] for it in json.loads(self.get(f"/-/verdaccio/data/search/{values['query']}"))}
        return [{name: it[name] for name in ("name", "version", "description")} for it in self.packages() if it["name"] in names]

    def tasks(self):
        topics = [{"query": it} for it in ("clock", "ledger", "pixel", "radio")]
        names = [it["name"] for it in self.packages()]
        return [
            Task(
                "verdaccio-suggest",
                "Search the depot for packages named {query}",
                "http://depot.test/",
                topics,
                [
                    {"fill": {"role": "combobox", "name": "Search Packages", "value": "{query}"}},
                    {"wait_for": {"text": "{query} functions"}},
                ],
                self.found,
                endpoint="search",
                ways=("steps", "har"),
            ),
            Task(
                "verdaccio-package",
                "Show the package {name} with its versions",
                "http://depot.test/",
                [{"name": names[at]} for at in (2, 13, 27, 44)],
                [{"navigate": "http://depot.test/-/web/detail/{name}"}, {"wait_for": {"text": "npm install {name}"}}],
                lambda values: [
                    {name: it[name] for name in ("name", "version", "description", "license")}
                    for it in self.packages()
                    if it["name"] == values["name"]
                ],
                one=True,
                endpoint="sidebar|detail|data",
                ways=("steps", "har"),
            ),
        ]


def packed(about):
    """The archive of a package with nothing in it but what says so; the same bytes each time."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        text = json.dumps(about).encode()
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return out.getvalue()
