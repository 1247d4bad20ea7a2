"""Namazu: full-text search over Japanese documents, a CGI program whose pages and queries are in EUC-JP."""

import datetime
import os
import shutil
import sys

import words
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "/usr/lib/cgi-bin/namazu.cgi"
CITIES = "リヨン クラクフ ユトレヒト ボローニャ ナント セトゥーバル セビリア タンペレ マルメ リエカ".split()
KINDS = {
    "灯台": "とても明るい",
    "倉庫": "とても広い",
    "図書館": "とても静かな",
    "醸造所": "とても古い",
    "発電所": "とても大きい",
    "市場": "とても楽しい",
}
WALLS = "煉瓦 御影石 鉄 硝子".split()
BEGIN = datetime.datetime(2021, 3, 1, 9, 0, tzinfo=datetime.timezone.utc)
PAGE = """<html><head><meta http-equiv="Content-Type" content="text/html; charset=EUC-JP">
<title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>
"""


class Namazu(App):
    name = "namazu"
    kind = "full-text search"
    debian = ("namazu2", "namazu2-index-tools", "libtext-kakasi-perl", "libnkf-perl", "locales")
    hosts = ("namazu.test",)
    port = 8663
    ready = "/cgi-bin/namazu.cgi"

    @property
    def japanese(self):
        return {"LOCPATH": os.path.join(self.place.data, "locale"), "LC_ALL": "ja_JP.eucJP", "LANG": "ja_JP.eucJP"}

    def documents(self):
        by = words.seeded("namazu")
        at = 0
        for number in range(1, 6):
            for city in CITIES:
                for kind, how in KINDS.items():
                    if by.random() < 0.35:
                        continue
                    at += 1
                    near = by.choice([it for it in CITIES if it != city])
                    title = f"{city}の{kind} 第{number}号"
                    text = f"{by.randint(1850, 1999)} 年に完成した{how}{kind}です。壁は{by.choice(WALLS)}で、窓は {by.randint(2, 90)} 枚あります。"
                    if by.random() < 0.2:
                        text += f" {near}からも見えます。"
                    yield {
                        "uri": f"/docs/{at:03}.html",
                        "title": title,
                        "text": text,
                        "when": BEGIN + datetime.timedelta(minutes=by.randint(1, 2_000_000)),
                    }

    def body(self, it):
        return PAGE.format(**it).encode("euc-jp")

    def fill(self):
        if not os.path.isfile(PROGRAM):
            raise Missing(f"there is no {PROGRAM}")
        data = self.place.data
        docs, index = os.path.join(data, "www", "docs"), os.path.join(data, "index")
        for it in (docs, index, self.japanese["LOCPATH"]):
            os.makedirs(it)
        self.run("localedef", "-i", "ja_JP", "-f", "EUC-JP", os.path.join(self.japanese["LOCPATH"], "ja_JP.eucJP"))
        for it in self.documents():
            path = os.path.join(data, "www", it["uri"].lstrip("/"))
            with open(path, "wb") as file:
                file.write(self.body(it))
            os.utime(path, (it["when"].timestamp(), it["when"].timestamp()))
        # What it says is in EUC-JP, and so nothing that can be read here.
        self.run("sh", "-c", f"mknmz -k -O '{index}' '{docs}' > '{data}/mknmz.log' 2>&1", env=self.japanese)
        shutil.copy(PROGRAM, data)
        with open(os.path.join(data, ".namazurc"), "w", encoding="ascii") as file:
            file.write(f"Index {index}\nLang ja\nLogging off\nReplace {docs}/ /docs/\n")

    def command(self, port):
        program = os.path.join(self.place.data, "namazu.cgi")
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, program, "/cgi-bin/namazu.cgi"]
        return [*args, os.path.join(self.place.data, "www")], None, self.japanese

    def found(self, *parts):
        return [
            {
                "title": it["title"],
                "text": it["text"],
                "date": f"{it['when']:%a, %d %b %Y %H:%M:%S}",
                "uri": it["uri"],
                "size": len(self.body(it)),
            }
            for it in self.documents()
            if all(part in it["title"] + it["text"] for part in parts)
        ]

    def newest(self, values):
        rows = {it["uri"]: it for it in self.found(values["query"])}
        return [rows[it["uri"]] for it in sorted(self.documents(), key=lambda it: it["when"], reverse=True) if it["uri"] in rows]

    def tasks(self):
        field = {"css": "input[name=query]"}
        return [
            Task(
                "namazu-search",
                "{query}に関する文書を検索する",
                "http://namazu.test/cgi-bin/namazu.cgi",
                [{"query": it} for it in ("灯台", "煉瓦", "リエカ", "セトゥーバル")],
                [
                    {"fill": {**field, "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "検索結果"}},
                ],
                lambda values: self.found(values["query"]),
                page=20,
                endpoint="/namazu.cgi",
                ways=("steps", "har"),
            ),
            Task(
                "namazu-newest",
                "{query}に関する文書を新しい順に一覧する",
                "http://namazu.test/cgi-bin/namazu.cgi",
                [{"query": it} for it in ("マルメ", "図書館", "クラクフ", "醸造所")],
                [
                    {"fill": {**field, "value": "{query}"}},
                    {"fill": {"css": "select[name=sort]", "value": "日付 (新しい順)"}},
                    {"click": {"css": "input[name=submit]"}},
                    {"wait_for": {"text": "検索結果"}},
                ],
                self.newest,
                page=20,
                ordered=True,
                endpoint="/namazu.cgi",
                ways=("steps", "har"),
            ),
            Task(
                "namazu-both",
                "{city}の{kind}を検索する",
                "http://namazu.test/cgi-bin/namazu.cgi",
                [
                    {"city": "リヨン", "kind": "倉庫"},
                    {"city": "タンペレ", "kind": "市場"},
                    {"city": "ナント", "kind": "発電所"},
                    {"city": "ボローニャ", "kind": "灯台"},
                ],
                [
                    {"fill": {**field, "value": "{city} {kind}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "検索結果"}},
                ],
                lambda values: self.found(values["city"], values["kind"]),
                page=20,
                endpoint="/namazu.cgi",
                ways=("steps", "har"),
            ),
        ]
