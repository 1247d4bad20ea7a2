"""AWStats: statistics of web servers, in French, drawn by a CGI program in Perl from access logs."""

import datetime
import os
import re
import shutil
import sys

import words
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "/usr/lib/cgi-bin/awstats.pl"
YEAR = 2025
# Host names without the ending, which is .test for all.
SITES = {"port": 1900, "phare": 1300, "musee": 1600, "chantier": 1100}
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148",
)
MOIS = "Jan Fév Mar Avr Mai Juin Juil Aoû Sep Oct Nov Déc".split()
CONFIG = """LogFile="{data}/{name}.log"
LogType=W
LogFormat=1
SiteDomain="{name}.test"
HostAliases="{name}.test localhost"
DNSLookup=0
DirData="{data}/db"
DirCgi="/cgi-bin"
DirIcons="/awstats-icon"
AllowToUpdateStatsFromBrowser=0
AllowFullYearView=2
UseFramesWhenCGI=0
Lang="fr"
DirLang="/usr/share/awstats/lang"
DefaultFile="index.html"
SkipHosts=""
MaxNbOfHostsShown=10
MinHitHost=1
MinHitFile=1
"""


def size(count):
    """Bytes as they are shown."""
    for unit, name in ((1 << 30, "Go"), (1 << 20, "Mo"), (1 << 10, "Ko")):
        if count >= unit:
            return f"{count / unit:.2f} {name}"
    return str(count)


def french(when):
    return f"{when.day:02} {MOIS[when.month - 1]} {when.year} - {when:%H:%M}"


class AWStats(App):
    name = "awstats"
    kind = "web statistics"
    debian = ("awstats",)
    hosts = ("awstats.test",)
    port = 8662
    ready = "/cgi-bin/awstats.pl?config=port"
    seconds = 90

    @property
    def db(self):
        return os.path.join(self.place.data, "db")

    def lines(self, site, count):
        """An access log of half a year in its order."""
        by = words.seeded("awstats", site)
        gear = [f"/{part}/{name}.html" for part in ("boutique", "guide") for name in words.GEAR]
        ports = [f"/escale/{name.lower()}-{at}.html" for name in words.PORTS for at in (1, 2, 10)]
        pages = ["/", "/horaires.html", "/tarifs.html", "/contact.html", *gear, *ports]
        weights = [by.randint(1, 1000) ** 2 for _ in pages]
        guests = [f"10.{by.randint(0, 255)}.{by.randint(0, 255)}.{by.randint(1, 254)}" for _ in range(90)]
        sizes = {it: by.randint(2_000, 90_000) for it in pages}
        begin = datetime.datetime(YEAR, 1, 1)
        whens = sorted(begin + datetime.timedelta(seconds=by.randint(0, 181 * 86_400 - 600)) for _ in range(count))
        for when in whens:
            guest, agent = by.choice(guests), by.choice(AGENTS)
            for at, page in enumerate(by.choices(pages, weights, k=by.randint(1, 4))):
                now = when + datetime.timedelta(seconds=40 * at)
                yield now, guest, page, 404 if by.random() < 0.02 else 200, sizes[page], agent
                if by.random() < 0.4:
                    yield now, guest, f"/images/{by.choice(words.SHIPS)}.png", 200, by.randint(900, 60_000), agent

    def fill(self):
        if not os.path.isfile(PROGRAM):
            raise Missing(f"there is no {PROGRAM}")
        cgi, www = os.path.join(self.place.data, "cgi"), os.path.join(self.place.data, "www")
        for it in (cgi, www, self.db):
            os.makedirs(it)
        # It looks for its settings beside itself.
        shutil.copy(PROGRAM, cgi)
        os.symlink("/usr/share/awstats/icon", os.path.join(www, "awstats-icon"))
        for name, count in SITES.items():
            with open(os.path.join(cgi, f"awstats.{name}.conf"), "w", encoding="utf-8") as file:
                file.write(CONFIG.format(data=self.place.data, name=name))
            with open(os.path.join(self.place.data, f"{name}.log"), "w", encoding="utf-8") as file:
                for when, guest, page, code, size, agent in sorted(self.lines(name, count)):
                    day = when.strftime("%d/%b/%Y:%H:%M:%S +0000")
                    file.write(f'{guest} - - [{day}] "GET {page} HTTP/1.1" {code} {size} "-" "{agent}"\n')
            self.run(os.path.join(cgi, "awstats.pl"), f"-config={name}", "-update", seconds=200)

    def command(self, port):
        program = os.path.join(self.place.data, "cgi", "awstats.pl")
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, program, "/cgi-bin/awstats.pl"]
        return [*args, os.path.join(self.place.data, "www")], None, {}

    def section(self, site, month, name):
        """Rows of a part of the application's own data file, the first word of each as its key."""
        with open(os.path.join(self.db, f"awstats{month}{YEAR}.{site}.txt"), encoding="utf-8") as file:
            text = file.read()
        found = re.search(rf"^BEGIN_{name} \d+\n(.*?)^END_{name}$", text, re.MULTILINE | re.DOTALL)
        return {(row := it.split())[0]: row[1:] for it in found.group(1).splitlines()}

    def pages(self, site, month, part=""):
        """Pages that were called, most often first; those called equally often in any order."""
        found = self.section(site, month, "SIDER")
        rows = [(page, *map(int, it)) for page, it in found.items() if part in page]
        return [
            {
                "page": page,
                "views": views,
                "size": size(count / views),
                **({"entries": entries} if entries else {}),
                **({"exits": exits} if exits else {}),
            }
            for page, views, count, entries, exits in sorted(rows, key=lambda it: -it[1])
        ]

    def filtered(self, part):
        """Pages whose name has a part; the last row of the table adds up the others."""
        rows = self.pages("musee", "03", part)
        rest = [it for it in self.pages("musee", "03") if it not in rows]
        sums = {name: sum(it.get(name, 0) for it in rest) for name in ("views", "entries", "exits")}
        return rows, [*rows, {"page": "Autres", **sums}]

    def guests(self, site, month):
        rows = self.section(site, month, "VISITOR")
        out = []
        for host, it in sorted(rows.items(), key=lambda it: -int(it[1][0])):
            last = datetime.datetime.strptime(it[3], "%Y%m%d%H%M%S")
            out.append({"host": host, "pages": int(it[0]), "hits": int(it[1]), "size": size(int(it[2])), "last": french(last)})
        return out

    def days(self, site, month):
        """The days of a month; the page adds their mean and their sum, which may be given or not."""
        rows, sums = [], [0, 0, 0, 0]
        for day, it in sorted(self.section(site, f"{month:02}", "DAY").items()):
            pages, hits, count, visits = map(int, it)
            rows.append({"day": f"{day[6:]} {MOIS[month - 1]} {YEAR}", "visits": visits, "pages": pages, "hits": hits, "size": size(count)})
            sums = [a + b for a, b in zip(sums, (visits, pages, hits, count))]
        total = dict(zip(("day", "visits", "pages", "hits", "size"), ("Total", *sums[:3], size(sums[3]))))
        return rows, [*rows, {"day": "Moyenne"}, total]

    def tasks(self):
        program = "http://awstats.test/cgi-bin/awstats.pl"
        each = [
            {"site": "port", "month": "03"},
            {"site": "musee", "month": "05"},
            {"site": "phare", "month": "02"},
            {"site": "chantier", "month": "06"},
        ]
        return [
            Task(
                "awstats-pages",
                "Montrer les pages vues du site {site} au mois {month} de 2025, la plus vue d'abord",
                f"{program}?config=port&month=01&year=2025",
                each,
                [
                    {"navigate": f"{program}?config={{site}}&month={{month}}&year=2025"},
                    {"wait_for": {"text": "Pages-URL (Top 10)"}},
                    {"navigate": f"{program}?month={{month}}&year=2025&output=urldetail&config={{site}}&framename=index"},
                    {"wait_for": {"text": "Filtre"}},
                ],
                lambda values: self.pages(values["site"], values["month"]),
                endpoint="/awstats.pl",
                ways=("steps", "har"),
            ),
            Task(
                "awstats-filter",
                "Chercher les pages dont l'adresse contient {query} dans les statistiques de mars",
                f"{program}?month=03&year=2025&output=urldetail&config=musee",
                [{"query": it} for it in ("escale", "guide", "-1", "bo")],
                [
                    {"fill": {"css": "input[name=urlfilter]", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "urlfilter={query}"}},
                    {"wait_for": {"text": "Pages-URL"}},
                ],
                lambda values: self.filtered(values["query"]),
                endpoint="/awstats.pl",
                ways=("steps", "har"),
            ),
            Task(
                "awstats-guests",
                "Montrer tous les hôtes qui ont visité le site {site} au mois {month}",
                f"{program}?config=port&month=01&year=2025",
                each,
                [
                    {"navigate": f"{program}?month={{month}}&year=2025&output=allhosts&config={{site}}"},
                    {"wait_for": {"text": "Filtre exclusion"}},
                ],
                lambda values: self.guests(values["site"], values["month"]),
                endpoint="/awstats.pl",
                ways=("steps", "har"),
            ),
            Task(
                "awstats-month",
                "Montrer la ligne de chaque jour du mois {month} dans les statistiques",
                f"{program}?config=port&month=01&year=2025",
                [{"month": it} for it in ("Fév", "Mai", "Juin", "Mar")],
                [
                    {"fill": {"css": "select[name=month]", "value": "{month}"}},
                    {"click": {"css": "form[name=FormDateFilter] input[type=submit]"}},
                    {"wait_for": {"request": "databasebreak="}},
                    {"wait_for": {"text": "Jours du mois"}},
                ],
                lambda values: self.days("port", MOIS.index(values["month"]) + 1),
                # The month is chosen by its name and sent by its number, which is written in the form.
                endpoint="/awstats.pl",
                ways=("steps", "har"),
            ),
        ]
