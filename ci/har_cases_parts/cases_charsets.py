"""Charsets other than UTF-8, in pages, answers and forms."""

from case import case, page, pick, typed
from goods import goods, many, only_known
from sites import data, html, seeded

RUSSIAN = ["сталь", "медь", "сосна", "глина", "белый", "малый"]


@case("sklad-1251", "charset", "Найди в прайсе склада товары по слову {query}", ["лампа", "полка", "замок", "труба"], steps=typed("table.price", "input[name=q]"))
def _():
    @only_known
    def rows(query):
        by = seeded("sklad", query)
        return [
            {"code": f"А-{by.randint(1000, 9999)}", "name": f"{query.capitalize()} {kind} №{by.randint(2, 90)}", "left": by.randint(1, 400), "price": by.randint(90, 9000)}
            for kind in by.sample(RUSSIAN, by.randint(3, 6))
        ]

    def site(ask):
        if ask.path not in ("/", "/price.php"):
            return None
        query = ask.fields("cp1251", ask.raw_query).get("q", "")
        body = "<h1>Склад «Северный»</h1><form action=/price.php><input name=q size=30> <input type=submit value=Искать></form>"
        if query:
            lines = "".join(
                f"<tr><td>{it['code']}</td><td><b>{it['name']}</b></td><td align=right>{it['left']}</td><td align=right>{it['price']} р.</td></tr>" for it in rows(query)
            )
            body += f"<p>По запросу «{query}»:</p><table class=price border=1><tr><th>Код</th><th>Наименование</th><th>Остаток</th><th>Цена</th></tr>{lines}</table>"
        return html(page("Прайс", body, lang="ru", charset="windows-1251"), "windows-1251")

    return site, rows


@case("tempo-sjis", "charset", "{query}の店舗を検索して、店名と住所と営業時間を表示する", ["北区", "南区", "中央区", "西区"], steps=typed("ul.shops", "input[name=area]"))
def _():
    @only_known
    def rows(query):
        by = seeded("tempo", query)
        return [
            {"name": f"{kind}堂 {query}{number}号店", "address": f"{query}見本町{by.randint(1, 9)}-{by.randint(1, 30)}", "hours": f"{by.randint(8, 11)}:00～{by.randint(18, 22)}:00"}
            for number, kind in enumerate(by.sample(["竹", "雪", "月", "海", "森"], by.randint(3, 5)), 1)
        ]

    def site(ask):
        if ask.path not in ("/", "/cgi-bin/shop.cgi"):
            return None
        query = ask.fields("cp932", ask.raw_query).get("area", "")
        body = '<form action="/cgi-bin/shop.cgi" method="get">エリア <input type="text" name="area"><input type="submit" value="検索"></form>'
        if query:
            found = "".join(f"<li><strong>{it['name']}</strong><br>住所：{it['address']}<br>営業時間：{it['hours']}</li>" for it in rows(query))
            body += f'<h2>「{query}」の検索結果</h2><ul class="shops">{found}</ul>'
        return html(page("店舗検索", body, lang="ja", charset="Shift_JIS"), "cp932", label="Shift_JIS")

    return site, rows


@case("shangpin-gb", "charset", "在商品目录中搜索{query}", ["螺丝", "电缆", "水管", "开关"], steps=typed("table.list", "input[name=keyword]"))
def _():
    @only_known
    def rows(query):
        by = seeded("shangpin", query)
        return [
            {"name": f"{kind}牌{query}{by.randint(10, 99)}型", "stock": by.randint(1, 900), "price": f"{by.randint(1, 400)}.{by.randint(10, 99)}"}
            for kind in by.sample(["样品", "示例", "虚构", "测试", "演示"], by.randint(3, 5))
        ]

    def site(ask):
        head = "<form method=post action=/search.asp><input name=keyword><input type=hidden name=lx value=1><button>搜索</button></form>"
        if ask.path == "/":
            return html(page("目录", head, lang="zh", charset="gb18030"), "gb18030")
        if ask.path == "/search.asp" and ask.method == "POST":
            query = ask.fields("gb18030").get("keyword", "")
            lines = "".join(f"<tr><td>{it['name']}</td><td>{it['stock']}</td><td>￥{it['price']}</td></tr>" for it in rows(query))
            return html(page("目录", f"{head}<table class=list><tr><th>品名</th><th>库存</th><th>单价</th></tr>{lines}</table>", lang="zh", charset="gb18030"), "gb18030")
        return None

    return site, rows


@case("spravka-koi8", "charset", "Покажи расписание автобусов от станции {query}", ["Берёзки", "Ельня", "Ключи", "Ручьи"], steps=typed("pre + table, table.r", "input[name=st]"))
def _():
    @only_known
    def rows(query):
        by = seeded("spravka", query)
        return [
            {"line": str(by.randint(2, 99)), "to": f"Посёлок-{by.randint(1, 40)}", "at": f"{hour:02}:{by.randint(10, 59)}"} for hour in sorted(by.sample(range(6, 22), by.randint(3, 6)))
        ]

    def site(ask):
        if ask.path not in ("/", "/bus"):
            return None
        query = ask.fields("koi8-r", ask.raw_query).get("st", "")
        body = "<form action=/bus>Станция: <input name=st></form>"
        if query:
            lines = "".join(f"<tr><td>{it['line']}<td>{it['to']}<td>{it['at']}" for it in rows(query))
            body += f"<h3>{query}</h3><table class=r><tr><th>Маршрут<th>Куда<th>Отправление{lines}</table>"
        return html(f'<html><head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><title>Справка</title></head><body>{body}</body></html>', "koi8-r", declared=False)

    return site, rows


@case("bupum-euckr", "charset", "{query} 부품 검색 결과를 보여 줘", ["볼트", "너트", "벨트", "필터"], steps=typed("#list tr", "#word"))
def _():
    @only_known
    def rows(query):
        by = seeded("bupum", query)
        return [{"name": f"{kind} {query} {by.randint(10, 99)}호", "count": by.randint(1, 99), "price": by.randint(10, 900) * 10} for kind in by.sample(["예시", "가상", "시험", "견본"], by.randint(2, 4))]

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>document.querySelector('form').onsubmit=async e=>{e.preventDefault();const r=await fetch('/ajax/list?word='+encodeURIComponent(word.value));"
                "const t=new TextDecoder(r.headers.get('content-type').split('charset=')[1]).decode(await r.arrayBuffer());"
                "list.innerHTML=JSON.parse(t).rows.map(r=>`<tr><td>${r.name}</td><td>${r.count}</td><td>${r.price}원</td></tr>`).join('')}</script>"
            )
            return html(page("부품", f"<form><input id=word></form><table><thead><tr><th>품명<th>수량<th>가격</thead><tbody id=list></tbody></table>{code}", lang="ko"))
        if ask.path == "/ajax/list":
            return data({"rows": rows(ask.query["word"])}, "euc-kr")
        return None

    return site, rows


@case("cennik-8859-2", "charset", "Wyszukaj w cenniku części {query}", ["łożysko", "śruba", "wąż", "źródło"], steps=typed("dl.wynik", "input[name=czesc]"))
def _():
    def rows(query):
        return [{**it, "name": it["name"].replace("rust", "rdza")} for it in pick(goods("cennik", query, 3, 5), "name", "stock", "day")]

    def site(ask):
        query = ask.fields("iso-8859-2", ask.raw_query).get("czesc", "")
        body = "<form action=/szukaj accept-charset=iso-8859-2><input name=czesc><button>Szukaj</button></form>"
        if query:
            found = "".join(f"<dl class=wynik><dt>Nazwa</dt><dd>{it['name']}</dd><dt>Sztuk</dt><dd>{it['stock']}</dd><dt>Dostawa</dt><dd>{it['day']}</dd></dl>" for it in rows(query))
            body += f"<h2>Części: {query}</h2>{found}"
        return html(page("Cennik", body, lang="pl", charset="iso-8859-2"), "iso-8859-2") if ask.path in ("/", "/szukaj") else None

    return site, rows


@case("csv-latin1", "charset", "Exporte la liste des pièces du rayon {query}", [{"query": it} for it in ("éclairage", "fenêtre", "chaîne", "façade")], steps=typed("#t tr", "#rayon"))
def _():
    def rows(query):
        return pick(many("rayon", query, 6), "id", "name", "price")

    def site(ask):
        if ask.path == "/":
            code = (
                "<script>rayon.onchange=async()=>{const b=await (await fetch('/export.json?rayon='+encodeURIComponent(rayon.value))).arrayBuffer();"
                "const j=JSON.parse(new TextDecoder('latin1').decode(b));t.innerHTML=j.map(r=>`<tr><td>${r.id}</td><td>${r.name}</td><td>${r.price} €</td></tr>`).join('')}</script>"
            )
            return html(page("Pièces", f"<input id=rayon><table><tbody id=t></tbody></table>{code}", lang="fr"))
        if ask.path == "/export.json":
            return data(rows(ask.query["rayon"]), "iso-8859-1")
        return None

    return site, rows
