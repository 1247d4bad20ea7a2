"""Apache's directory listings as Debian sets them up: tables of files, sorted by links, names beyond ASCII."""

import datetime
import fnmatch
import os

import words
from app import App, Task
from place import Missing

MODULES = "/usr/lib/apache2/modules"
FOLDERS = ("Fahrpläne", "Größenlisten", "Überfahrten & Häfen", "Protokolle 2024", "Pläne", "Łódź")
KINDS = {"Maße": "pdf", "Aufriss": "tif", "Liste": "ods", "Zeiten": "txt", "Kopie": "tar.gz", "Übersicht": "pdf", "Bild": "jpg"}
CONFIG = """ServerRoot {data}
Listen 127.0.0.1:{port}
ServerName autoindex.test
PidFile {data}/run/pid
DefaultRuntimeDir {data}/run
ErrorLog {data}/run/errors
{modules}
TypesConfig /etc/mime.types
DocumentRoot {data}/files
Alias /icons/ /usr/share/apache2/icons/
<Directory {data}/files>
    Options Indexes
    Require all granted
</Directory>
<Directory /usr/share/apache2/icons>
    Require all granted
</Directory>
Include /etc/apache2/mods-available/autoindex.conf
"""


def size(count):
    """Bytes as Apache shows them: three places at most."""
    if count < 973:
        return str(count)
    for letter in "KMGT":
        rest, count = count & 1023, count >> 10
        if count >= 973:
            continue
        if count < 9 or count == 9 and rest < 973:
            tenths = (rest * 5 + 256) // 512
            return f"{count + tenths // 10}.{tenths % 10}{letter}"
        return f"{count + (rest >= 512)}{letter}"
    raise ValueError(count)


class Autoindex(App):
    name = "autoindex"
    kind = "directory listing"
    debian = ("apache2-bin", "apache2", "media-types")
    hosts = ("autoindex.test",)
    port = 8664

    def files(self, folder):
        by = words.seeded("autoindex", folder)
        seen = set()
        for _ in range(by.randint(14, 40)):
            kind = by.choice(list(KINDS))
            name = f"{kind} {by.choice(words.SHIPS)} {by.choice((1, 2, 3, 10, 11, 20, 100))}.{KINDS[kind]}"
            if by.random() < 0.3:
                name = name.replace(" ", "_")
            if name in seen:
                continue
            seen.add(name)
            yield {
                "name": name,
                "count": int(10 ** by.uniform(0.5, 8.2)),
                "when": datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(minutes=by.randint(0, 700_000)),
            }

    def fill(self):
        if not os.path.isfile("/etc/apache2/mods-available/autoindex.conf"):
            raise Missing("there is no autoindex.conf of Apache")
        os.makedirs(os.path.join(self.place.data, "run"))
        for folder in FOLDERS:
            place = os.path.join(self.place.data, "files", folder)
            os.makedirs(place)
            for it in self.files(folder):
                path = os.path.join(place, it["name"])
                with open(path, "wb") as file:
                    file.truncate(it["count"])
                os.utime(path, (it["when"].timestamp(), it["when"].timestamp()))

    def command(self, port):
        names = "mpm_event authz_core alias autoindex dir mime".split()
        modules = "\n".join(f"LoadModule {it}_module {MODULES}/mod_{it}.so" for it in names)
        path = os.path.join(self.place.data, "run", "apache.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(data=self.place.data, port=port, modules=modules))
        command = ["apache2", "-f", path, "-D", "FOREGROUND"]
        if os.geteuid() == 0:
            # It does not serve as root. What it needs of root's rights is to read the files here.
            rights = "+dac_override,+dac_read_search"
            command = [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                f"--inh-caps={rights}",
                f"--ambient-caps={rights}",
                *command,
            ]
        return command, None, {}

    def listed(self, folder, key, reverse=False, pattern="*"):
        """The rows of a folder; the one that leads back up may be given or not."""
        found = [it for it in self.files(folder) if fnmatch.fnmatchcase(it["name"], pattern)]
        rows = [
            {"name": it["name"], "modified": f"{it['when']:%Y-%m-%d %H:%M}", "size": size(it["count"])}
            for it in sorted(found, key=key, reverse=reverse)
        ]
        return rows, [{"name": "Parent Directory"}, *rows]

    def tasks(self):
        start = "http://autoindex.test/"
        folders = [{"folder": it} for it in ("Fahrpläne", "Größenlisten", "Überfahrten & Häfen", "Protokolle 2024")]
        opened = [{"click": {"role": "link", "name": "{folder}/"}}, {"wait_for": {"text": "Parent Directory"}}]
        return [
            Task(
                "autoindex-folder",
                "List the files in the folder {folder} with their sizes",
                start,
                folders,
                opened,
                lambda values: self.listed(values["folder"], lambda it: it["name"]),
                ways=("steps", "har"),
            ),
            Task(
                "autoindex-largest",
                "List the files in the folder {folder}, the largest first",
                start,
                folders,
                [
                    *opened,
                    {"click": {"role": "link", "name": "Size"}},
                    {"wait_for": {"request": "C=S;O=A"}},
                    {"wait_for": {"text": "Parent Directory"}},
                    {"click": {"role": "link", "name": "Size"}},
                    {"wait_for": {"request": "C=S;O=D"}},
                    {"wait_for": {"text": "Parent Directory"}},
                ],
                lambda values: self.listed(values["folder"], lambda it: it["count"], reverse=True),
                ordered=True,
                endpoint="C|S",
                ways=("steps", "har"),
            ),
            Task(
                "autoindex-type",
                "List the files of type {type} in the folder Fahrpläne, the newest first",
                start + "Fahrpläne/",
                [{"type": it} for it in ("pdf", "tar.gz", "tif", "ods")],
                [{"navigate": start + "Fahrpläne/?C=M;O=D;P=*.{type}"}, {"wait_for": {"text": "Parent Directory"}}],
                lambda values: self.listed("Fahrpläne", lambda it: it["when"], reverse=True, pattern=f"*.{values['type']}"),
                ordered=True,
                ways=("steps", "har"),
            ),
        ]
