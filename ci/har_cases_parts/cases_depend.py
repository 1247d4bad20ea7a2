"""Answers that depend on headers, cookies, the session or the day."""

import datetime
import json

from case import ANY, DECLINED, case, page, pick, typed
from goods import goods
from sites import data, html, redirect, seeded


def shop(path, options="{}", draw="${r.name} <b>${r.price}</b> <i>${r.place}</i>", head="", extra=""):
    code = f"<script>document.forms[0].onsubmit=async e=>{{e.preventDefault();const q=document.querySelector('input').value;const j=await(await fetch('{path}'+encodeURIComponent(q){extra},{options})).json();document.getElementById('out').innerHTML=j.items.map(r=>`<li>{draw}</li>`).join('')}}</script>"
    return html(page("Shop", f"<form><input type=search aria-label=Search></form><ul id=out></ul>{code}", head))


def english(query):
    return [{"name": f"{it['name']} (EN)", "price": f"${it['price']:.2f}"} for it in goods("lang", query)]


def in_english(log):
    """The headless browser names no language; another browser names the one of its user."""
    for it in log["entries"]:
        it["request"]["headers"].append({"name": "Accept-Language", "value": "en-GB,en;q=0.9"})
        if "/api/" in it["request"]["url"]:
            it["response"]["content"] = {"mimeType": "application/json", "text": json.dumps({"items": english("broom")}), "size": 0}


@case("by-language", "depend", "Search the shop for {query}", ["broom", "bucket", "ladder", "shovel"], steps=typed("#out li"), bend=in_english)
def _():
    rows = english

    def site(ask):
        if ask.path == "/":
            return shop("/api/search?q=", draw="${r.name} <b>${r.price}</b>")
        if ask.path == "/api/search":
            if ask.header("accept-language").startswith("en"):
                return data({"items": rows(ask.query["q"])})
            return data({"items": [{"name": f"{it['name']} (ND)", "price": f"{it['price'] * 9:.0f} kr"} for it in goods("lang", ask.query["q"])]})
        return None

    return site, rows


@case("by-cookie", "depend", "Search offers near me for {query}", ["awning", "grill", "parasol", "swing"], steps=typed("#out li"), expect=ANY)
def _():
    def rows(query):
        return pick(goods("region-7", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            status, headers, out = shop("/api/offers?q=")
            return status, {**headers, "set-cookie": "region=7; Path=/"}, out
        if ask.path == "/api/offers":
            found = goods("region-7", ask.query["q"]) if ask.cookies().get("region") == "7" else goods("region-0", ask.query["q"])[:2]
            return data({"items": found})
        return None

    return site, rows


@case("csrf-meta", "depend", "Suche Zubehör für {query}", ["Fräse", "Bagger", "Winde", "Pumpe"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("csrf", query), "name", "price", "place")

    count = [0]
    given = set()

    def site(ask):
        if ask.path == "/":
            count[0] += 1
            token = f"tk{seeded('token', count[0]).randint(10**12, 10**13)}"
            given.add(token)
            head = f'<meta name="csrf-token" content="{token}">'
            status, headers, out = shop("/suche?begriff=", "{method:'POST',headers:{'x-csrf-token':document.querySelector('meta[name=csrf-token]').content}}", head=head)
            return status, {**headers, "set-cookie": f"sid={token[::-1]}; Path=/; HttpOnly"}, out
        if ask.path == "/suche":
            token = ask.header("x-csrf-token")
            if token not in given or ask.cookies().get("sid") != token[::-1]:
                return data({"error": "token mismatch"}, status=419)
            return data({"items": rows(ask.query["begriff"])})
        return None

    return site, rows


@case("by-referer", "depend", "Find spare parts for {query}", ["mower", "tiller", "baler", "drill"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("referer", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return shop("/ajax/parts?q=")
        if ask.path == "/ajax/parts":
            found = rows(ask.query["q"])
            return data({"items": found if ask.header("referer").startswith("http://by-referer.test/") else found[:1]})
        return None

    return site, rows


@case("by-version", "depend", "Cerca ricambi per {query}", ["forno", "motore", "trapano", "sega"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("version", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return shop("/api/ricambi?q=", "{headers:{'x-api-version':'3','x-channel':'web'}}")
        if ask.path == "/api/ricambi":
            found = rows(ask.query["q"])
            return data({"items": found if ask.header("x-api-version") == "3" else [{"name": it["name"]} for it in found]})
        return None

    return site, rows


@case("by-ajax-mark", "depend", "Rechercher des outils : {query}", ["rabot", "scie", "burin", "serre"], steps=typed("#out li"))
def _():
    def rows(query):
        return pick(goods("mark", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/":
            return shop("/outils?q=", "{headers:{'X-Requested-With':'XMLHttpRequest',accept:'application/json'}}")
        if ask.path == "/outils":
            if ask.header("x-requested-with") != "XMLHttpRequest":
                return html(page("Outils", "<h1>Outils</h1><p>Utilisez le formulaire.</p>", lang="fr"))
            return data({"items": rows(ask.query["q"])})
        return None

    return site, rows


@case("account-name", "depend", "Show my saved parts of kind {query}", ["belt", "chain", "gear", "shaft"], start="/login", expect=DECLINED,
      steps=[{"fill": {"css": "[name=user]", "value": "tester-41"}}, {"fill": {"css": "[name=pass]", "value": "fixture-pass-41"}}, {"click": {"css": "button"}}, {"wait_for": {"selector": "input[type=search]"}}, *typed("#out li")])
def _():
    def rows(query):
        return pick(goods("tester-41", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/login":
            if ask.method == "POST":
                user = ask.fields().get("user", "")
                return redirect(f"/u/{user}/saved", set_cookie=f"session=s{seeded('session', user).randint(10**9, 10**10)}; Path=/; HttpOnly")
            return html(page("Log in", "<form method=post><input name=user><input name=pass type=password><button>Log in</button></form>"))
        parts = ask.path.strip("/").split("/")
        if parts[0] == "u" and parts[2] == "saved":
            return shop(f"/api/users/{parts[1]}/parts?kind=")
        if parts[:2] == ["api", "users"]:
            return data({"items": goods(parts[2], ask.query["kind"])})
        return None

    return site, rows


@case("logged-in", "depend", "List my orders that hold {query}", ["screw", "plate", "hook", "cable"], start="/orders", expect=DECLINED, steps=typed("#out li"),
      login={"url": "http://logged-in.test/login", "steps": [{"fill": {"css": "[name=user]", "value": "tester-52"}}, {"fill": {"css": "[name=pass]", "value": "fixture-pass-52"}}, {"click": {"css": "button"}}]})
def _():
    def rows(query):
        return pick(goods("tester-52", query), "name", "price", "place")

    def site(ask):
        if ask.path == "/login":
            if ask.method == "POST":
                return redirect("/orders", set_cookie="session=tester-52.8842; Path=/; HttpOnly")
            return html(page("Log in", "<form method=post><input name=user><input name=pass type=password><button>Log in</button></form>"))
        inside = ask.cookies().get("session", "").startswith("tester-52")
        if ask.path == "/orders":
            return shop("/api/orders?has=") if inside else redirect("/login")
        if ask.path == "/api/orders":
            return data({"items": rows(ask.query["has"]) if inside else []})
        return None

    return site, rows


@case("today", "depend", "Show the departures at {query} today", ["velmora", "sarvik", "dunmere", "lindoka"], steps=typed("#out li"), expect=ANY,
      inspect=lambda text: "the day of the recording is frozen in the request" if datetime.date.today().isoformat() in text.partition("\nverification")[0].partition("request:")[2].partition("response:")[0] else None)
def _():
    def rows(query, day=None):
        by = seeded("today", query, day or datetime.date.today().isoformat())
        return [{"name": f"Line {by.randint(2, 80)}", "price": f"{hour:02}:{by.randint(10, 59)}", "place": by.choice(["quay A", "quay B", "quay C"])} for hour in sorted(by.sample(range(6, 23), by.randint(4, 6)))]

    def site(ask):
        if ask.path == "/":
            return shop("/api/board?stop=", extra="+'&day='+new Date().toISOString().slice(0,10)")
        if ask.path == "/api/board":
            return data({"items": rows(ask.query["stop"], ask.query["day"])})
        return None

    return site, rows
