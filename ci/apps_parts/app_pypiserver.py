"""pypiserver: an index of Python packages, on plain pages."""

import os

import words
from app import App, Task

NAMES = [f"{gear}-{what}" for gear in words.GEAR for what in ("tables", "maps", "book")]


class PypiServer(App):
    name = "pypiserver"
    kind = "package registry"
    pins = ("pypiserver==2.4.2",)
    hosts = ("pypi.test",)
    port = 8619

    def versions(self, name):
        by = words.seeded("pypiserver", name)
        return sorted({f"{by.randint(0, 3)}.{by.randint(0, 9)}.{by.randint(0, 9)}" for _ in range(by.randint(3, 8))})

    def fill(self):
        os.makedirs(os.path.join(self.place.data, "packages"))
        for name in NAMES:
            for version in self.versions(name):
                # Nobody opens them.
                with open(os.path.join(self.place.data, "packages", f"{name}-{version}.tar.gz"), "wb") as file:
                    file.write(b"")

    def command(self, port):
        args = [self.place.bin("pypi-server"), "run", "-i", "127.0.0.1", "-p", port, "--disable-fallback", "-P", ".", "-a", "."]
        return [*args, os.path.join(self.place.data, "packages")], None, {}

    def tasks(self):
        return [
            Task(
                "pypiserver-files",
                "List the files of the package {name}",
                "http://pypi.test/simple/",
                [{"name": it} for it in ("capstan-tables", "davit-maps", "fender-book", "ladder-maps")],
                [{"click": {"role": "link", "name": "{name}"}}, {"wait_for": {"text": "Links for {name}"}}],
                lambda values: [{"file": f"{values['name']}-{it}.tar.gz"} for it in self.versions(values["name"])],
                endpoint="/simple/",
                ways=("steps", "har"),
            ),
        ]
