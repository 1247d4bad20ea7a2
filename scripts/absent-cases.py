#!/usr/bin/env python3
"""Makes cases in which nothing answers the task, and says in how many of them something was chosen all the same.

    scripts/absent-cases.py --out /tmp/absent                     # a folder as `commis eval --corpus` reads it
    scripts/absent-cases.py --out /tmp/absent --eval              # and how the program does on it
    scripts/absent-cases.py --out /tmp/absent --way pending --every 1 --eval

They are made from the recipeable cases in ../shared/realworld (or $COMMIS_SHARED/realworld); without those, a line says so. In
the absent cases over there the right exchange was deleted. Here something stands in its place that looks more or less like it,
one way of taking an answer out for each function below. In all of them `needs_selection` and `non_recipeable` are right;
`saved_draft` and `verified` are a choice where there was nothing to choose.

Ways marked arguable keep the right request, and only what was recorded of its answer is poor: a person might choose it. They
are made and counted apart.

A case is left out where the answer's items still stand in what is left (`still_there`), or where its own answer was empty.
Each way takes every eighth base, others for each; `--every 1` takes all. Nothing is random, and nothing is written but to
`--out`. With `--eval` the program is $COMMIS or target/debug/commis, and the exit code is 1 when it chose anything in a way
that is not arguable.
"""
import argparse
import base64
import collections
import copy
import html
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("COMMIS_SHARED") or os.path.join(ROOT, "..", "shared")
WAYS = {}
ARGUABLE = set()

# What else a person could have asked for, of the kind that the task names: old and new, in request and answer.
OTHER_VALUE = {
    "ala-search": [("macropus", "vombatus")],
    "anilist-media": [
        ("5114", "9253"),
        ("hagane no renkinjutsushi", "kaze no tabibito"),
        ("fullmetal alchemist", "windborne courier"),
    ],
    "bandcamp-suggestions": [("c418", "tycho")],
    "bitbucket-repo-issues": [("ecollins", "morgan"), ("passlib", "tinytag")],
    "darksky-forecast": [("37.8267", "51.5072"), ("-122.423", "-0.1276")],
    "dpird-weather-daily": [(r"\bBI\b", "KA")],
    "earth-search-stac-search": [("cop-dem-glo-30", "sentinel-2-l2a")],
    "eol-search": [("ursus", "lynx"), ("americanus", "rufus")],
    "espn-fantasy-league": [("77421173", "65033120")],
    "gbif-species-suggest": [("puma", "lynx"), ("concolor", "rufus")],
    "gbif-literature": [("2010", "1990"), ("2024", "2004")],
    "getty-aat-sparql": [("300265560", "300011914")],
    "gitlab-project-ase": [(r"\base\b", "gpaw"), ("(?<=%2F)ase", "gpaw")],
    "google-trends-interest-over-time": [("pizza", "sushi"), ("bagel", "ramen")],
    "google-trends-suggestions": [("pizza", "sushi")],
    "google-trends-top-charts": [("2021", "2016")],
    "hn-algolia-search-stories": [("hiring", "freelancing")],
    "hn-algolia-search-comments": [("47975571", "41129813")],
    "iucn-species": [("species_name=gorilla", "species_name=paniscus"), ("gorilla gorilla", "pan paniscus"), ("gorilla", "pan")],
    "kew-powo-search": [("quercus", "fagus")],
    "lichess-team-search": [(r"lichess(?!\.org)", "berlin")],
    "lichess-broadcasts": [(r"\bchess", "blitz")],
    "loc-suggest": [(r"\bfoo", "bar")],
    "media-ccc-search": [("linux", "openbsd")],
    "musicbrainz-release": [
        ("f205627f-b70a-409d-adbe-66289b614e80", "a84b9fc9-a6c1-4a3b-8f2f-c0e3e8b1b1d7"),
        ("dark side of the moon", "hour before the frost"),
    ],
    "musicbrainz-recording-works": [("44edee69-9ff3-4fdc-9a05-d16f0b9e51a1", "b97670e0-08cd-4cd1-9b0c-1f4a1e0b6f7a")],
    "natureserve-species-search": [("robin", "heron")],
    "natureserve-combined-search": [("robin", "heron")],
    "noaa-ncdc-data": [("2010-05", "2008-11")],
    "nominatim-geocode": [("florida", "nevada")],
    "npi-registry-search": [("atlanta", "denver")],
    "obis-occurrences": [("mola%20mola", "thunnus%20alalunga"), ("mola mola", "thunnus alalunga"), ("mola", "thunnus")],
    "packagist-mailchimp-api": [("drewm", "pellet"), ("mailchimp-api", "invoice-client"), ("mailchimp", "invoice")],
    "petstore-swagger-fullpage-available": [("available", "pending")],
    "planetary-computer-stac-search": [("naip", "landsat-8")],
    "plos-search": [("ecology", "virology")],
    "pokemontcg-cards": [("generations", "evolutions")],
    "puppet-forge-module-apache": [("apache", "mysql")],
    "remotive-jobs-devops": [("devops", "marketing")],
    "rubygems-versions-rails": [("rails", "sinatra")],
    "soundcloud-search-tracks": [("lill", "aphex"), (r"\blil\b", "aphex"), (r"\buzi\b", "twin"), (r"\bvert\b", "live")],
    "soundcloud-search-users": [("lill", "aphex"), (r"\blil\b", "aphex"), (r"\buzi\b", "twin"), (r"\bvert\b", "live")],
    "soundcloud-charts": [("trending", "top")],
    "soundcloud-channel-albums": [("4803918", "2991807"), ("big sean", "tall mick")],
    "sourcegraph-search-repositories": [("cody", "scip")],
    "spotify-album-search": [(r"\bAM\b", "Humbug")],
    "spotify-playlist-search": [("andrew", "sufjan"), ("bird", "stevens")],
    "synoptic-acis-acis-request": [("klnk", "kord")],
    "terraform-registry-azurerm-versions": [("azurerm", "google")],
    "tiingo-daily-prices": [("googl", "msft")],
    "tiingo-news": [("aapl", "tsla"), ("googl", "nflx")],
    "twitter-api-search-tweets": [("tweepy", "django")],
    "twitter-api-search-users": [(r"twitter(?!\.com)", "nasa")],
    "usgs-earthquakes-search": [("1994-01-1(?=[78])", "2011-03-1"), (r"\b6\.6\b", "7.9")],
    "usgs-earthquakes-count": [("1994-01-1(?=[78])", "2011-03-1"), (r"\b6\.6\b", "7.9")],
    "vertnet-search": [("accipiter", "falco"), ("striatus", "sparverius")],
    "vimeo-video": [("136971428", "224810327")],
    "youtube-search-all": [(r"\btest\b", "pottery")],
    "youtube-search-playlists": [(r"\btest\b", "pottery")],
    "youtube-channel-videos": [("UCsXVk37bltHxD1rDPwtNM8Q", "UCHnyfMqiRRG1u7jHxK4WQsg"), ("kurzgesagt", "veritas")],
    "youtube-suggestions": [("hello", "piano")],
}
# The same for two cases that are one endpoint asked for two values.
RECORDED_VALUE = {
    "algolia-fincap-search-young": "algolia-fincap-search-wellbeing",
    "algolia-fincap-search-wellbeing": "algolia-fincap-search-young",
}
# A task, and the case of the same site that answers another kind of thing; what is changed in that one's request and answer so
# that it was asked for the same value.
OTHER_KIND = {
    "bandcamp-featured": ("bandcamp-suggestions", []),
    "bandcamp-suggestions": ("bandcamp-featured", []),
    "gbif-species-suggest": ("gbif-literature", [("year=2010%2C2024", "q=Puma+concolor")]),
    "gbif-literature": ("gbif-datasets", [(r"dataset\?", "dataset?year=2010%2C2024&")]),
    "gbif-datasets": ("gbif-literature", [("year=2010%2C2024&", "")]),
    "google-trends-interest-over-time": ("google-trends-suggestions", []),
    "google-trends-suggestions": ("google-trends-interest-over-time", []),
    "hn-algolia-search-stories": ("hn-algolia-search-comments", [("tags=comment,story_47975571", "tags=comment&query=hiring")]),
    "hn-algolia-search-comments": ("hn-algolia-search-stories", [(",author_whoishiring&query=hiring", "&query=47975571")]),
    "inaturalist-get-observations": ("inaturalist-species-counts", []),
    "inaturalist-species-counts": ("inaturalist-get-observations", []),
    "lichess-team-search": ("lichess-broadcasts", [("q=chess", "q=lichess")]),
    "lichess-broadcasts": ("lichess-team-search", [("text=lichess", "text=chess")]),
    "media-ccc-search": ("media-ccc-conferences", [("public/conferences$", "public/conferences/search?q=linux")]),
    "media-ccc-conferences": ("media-ccc-search", []),
    "musicbrainz-release": (
        "musicbrainz-recording-works",
        [("44edee69-9ff3-4fdc-9a05-d16f0b9e51a1", "f205627f-b70a-409d-adbe-66289b614e80")],
    ),
    "musicbrainz-recording-works": (
        "musicbrainz-release",
        [("f205627f-b70a-409d-adbe-66289b614e80", "44edee69-9ff3-4fdc-9a05-d16f0b9e51a1")],
    ),
    "noaa-ncdc-datasets": ("noaa-ncdc-data", []),
    "noaa-ncdc-data": ("noaa-ncdc-datasets", [(r"datasets\?", "datasets?startdate=2010-05-01&enddate=2010-05-10&")]),
    "soundcloud-search-tracks": ("soundcloud-search-users", []),
    "soundcloud-search-users": ("soundcloud-search-tracks", []),
    "soundcloud-channel-albums": ("soundcloud-search-tracks", [(r"search/tracks\?q=lill\+uzi\+vert&", "users/4803918/tracks?")]),
    "spotify-album-search": ("spotify-playlist-search", [("%22andrew[%+]2?0?bird%22", "AM"), ("andrew bird", "AM")]),
    "spotify-playlist-search": ("spotify-album-search", [("(q|query)=AM", "q=%22Andrew%20Bird%22"), (r"\bAM\b", "Andrew Bird")]),
    "tiingo-daily-prices": ("tiingo-news", [("tickers=aapl&", "")]),
    "tiingo-news": ("tiingo-daily-prices", [("googl", "aapl")]),
    "twitter-api-search-tweets": ("twitter-api-search-users", [(r"twitter(?!\.com)", "tweepy")]),
    "twitter-api-search-users": ("twitter-api-search-tweets", [("tweepy", "twitter")]),
    "usgs-earthquakes-search": ("usgs-earthquakes-count", []),
    "youtube-channel-videos": ("youtube-trending", []),
    "youtube-comments": ("youtube-search-all", [(r"\btest\b", "bjFtFMilb34")]),
    "youtube-suggestions": ("youtube-search-all", [(r"\btest\b", "hello")]),
    "youtube-trending": ("youtube-channel-videos", []),
}
# What a person looks for, where the case does not say what was typed or more was typed than that.
LOOKED_FOR = {
    "ala-search": "Macropus",
    "bitbucket-repo-issues": "passlib",
    "eol-search": "Ursus americanus",
    "gitlab-project-ase": "ase",
    "google-trends-interest-over-time": "pizza",
    "iucn-species": "Gorilla gorilla",
    "packagist-mailchimp-api": "drewm/mailchimp-api",
    "pokemontcg-cards": "Generations",
    "puppet-forge-module-apache": "puppetlabs-apache",
    "rubygems-versions-rails": "rails",
    "spotify-album-search": "AM",
    "spotify-playlist-search": "Andrew Bird",
    "terraform-registry-azurerm-versions": "azurerm",
    "tiingo-daily-prices": "GOOGL",
    "tiingo-news": "aapl",
    "vertnet-search": "Accipiter striatus",
    "youtube-channel-videos": "kurzgesagt",
}
# What continues an answer at another address.
FURTHER_PAGES = {"bandcamp-featured": "/feed_older"}
PAGING = {"page", "offset", "start", "startindex", "skip", "limit", "rows", "size", "pagesize", "per_page", "cursor", "_"}
# A number is the answer, or counts are.
COUNTS = {"usgs-earthquakes-count", "plos-search", "inaturalist-species-counts", "mitmproxy-org-fullpage-stars"}


def way(make):
    WAYS[make.__name__.replace("_", "-")] = make
    return make


def arguable(make):
    ARGUABLE.add(make.__name__.replace("_", "-"))
    return way(make)


class Base:
    """A recipeable case, its session, and where the right answers stand in it."""

    def __init__(self, folder, line):
        self.line, self.id = line, line["id"]
        self.plain = re.sub("-(siblings|rich)$", "", self.id)
        with open(os.path.join(folder, line["har"]), encoding="utf-8") as file:
            self.har = json.load(file)
        self.entries = self.har["log"]["entries"]
        self.right = [it for it in self.entries if is_right(it, line["expect"]["request"])]
        good = [it for it in self.right if it["response"]["status"] == 200]
        self.entry = max(good, key=lambda it: len(items(parsed(text_of(it))[1], self.pointer)))
        # What a person would take too: the same search's further pages.
        more = FURTHER_PAGES.get(self.plain)
        self.entries = [
            it
            for it in self.entries
            if any(it is right for right in self.right)
            or not (asks_for(it) == asks_for(self.entry) or more and re.search(more, it["request"]["url"]))
        ]
        self.prefix, self.answer = parsed(text_of(self.entry))
        # Of several pages, every item.
        self.items = [item for it in self.right for item in items(parsed(text_of(it))[1], self.pointer)]
        self.turn = zlib.crc32(self.id.encode())

    @property
    def pointer(self):
        return self.line["expect"].get("items_pointer")

    @property
    def looked_for(self):
        typed = [it["value"] for it in self.line["typed"]]
        return LOOKED_FOR.get(self.plain) or next(iter(typed), None)

    def pick(self, choices, shift=0):
        return choices[(self.turn // 7 + shift) % len(choices)]


def is_right(entry, wanted):
    request = entry["request"]
    body = (request.get("postData") or {}).get("text") or ""
    return (
        request["method"] == wanted["method"]
        and re.search(wanted["url_regex"], request["url"]) is not None
        and (not wanted.get("body_regex") or re.search(wanted["body_regex"], body) is not None)
    )


def asks_for(entry):
    """Method, address and body, but for which part of a list."""
    request = entry["request"]
    url = urllib.parse.urlsplit(request["url"])
    query = [it for it in urllib.parse.parse_qsl(url.query) if it[0].lower() not in PAGING]
    return request["method"], url.netloc, url.path, sorted(query), (request.get("postData") or {}).get("text")


def text_of(entry):
    content = entry["response"].get("content") or {}
    text = content.get("text") or ""
    if content.get("encoding") == "base64":
        return base64.b64decode(text).decode("utf-8", "replace")
    return text


def parsed(text):
    """What stands before the JSON, and the JSON."""
    before = re.match(r"\)\]\}'?,?\s*", text)
    before = before.group() if before else ""
    try:
        return before, json.loads(text[len(before) :])
    except ValueError:
        return "", None


def written(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def at(answer, pointer):
    for key in (pointer or "").split("/")[1:]:
        key = key.replace("~1", "/").replace("~0", "~")
        if isinstance(answer, list):
            answer = answer[int(key)] if key.isdigit() and int(key) < len(answer) else None
        else:
            answer = answer.get(key) if isinstance(answer, dict) else None
    return answer


def items(answer, pointer):
    if pointer is None:
        return [answer] if answer is not None else []
    # The list itself is meant, which a pointer to the whole says by a lone slash.
    found = answer if pointer == "/" else at(answer, pointer)
    if isinstance(found, dict):
        found = list(found.values())
    return found if isinstance(found, list) else [] if found is None else [found]


def leaves(value):
    if isinstance(value, dict):
        for it in value.values():
            yield from leaves(it)
    elif isinstance(value, list):
        for it in value:
            yield from leaves(it)
    elif isinstance(value, str):
        yield value
    elif value is not None and not isinstance(value, bool):
        yield str(value)


# What an answer is made into.


def answered(entry, text, status=200, mime="application/json; charset=utf-8"):
    """The exchange with another answer, nothing of the old one left."""
    out = copy.deepcopy(entry)
    response = out["response"]
    kept = ("date", "server", "vary", "cache-control", "access-control-allow-origin")
    response["headers"] = [it for it in response["headers"] if it["name"].lower() in kept]
    response["headers"].append({"name": "content-type", "value": mime})
    response["status"], response["statusText"], response["redirectURL"] = status, "", ""
    response["content"] = {"size": len(text.encode()), "mimeType": mime, "text": text}
    response["bodySize"] = -1
    return out


def asked(entry, url, method="GET", body=None):
    """The exchange with another request, of which nothing was known but that it is the same page's."""
    out = copy.deepcopy(entry)
    request = out["request"]
    request["method"], request["url"] = method, url
    request["headers"] = [it for it in request["headers"] if not re.match("(?i)content-|:path|referer", it["name"])]
    request["queryString"] = [
        {"name": name, "value": value}
        for name, value in urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True)
    ]
    request.pop("postData", None)
    if body is not None:
        request["postData"] = {"mimeType": "application/json", "text": written(body)}
    return out


def with_all(base, change):
    """Every right exchange changed. A call that had failed before is no longer one that was tried again, and goes."""
    right = [id(it) for it in base.right]
    failed = [id(it) for it in base.right if it["response"]["status"] != 200]
    return [change(it) if id(it) in right else it for it in base.entries if id(it) not in failed]


def instead(base, *new):
    """The last right exchange replaced, the others gone."""
    out = []
    for it in base.entries:
        if it is base.entry:
            out.extend(new)
        elif not any(it is right for right in base.right):
            out.append(it)
    return out


def near(base, path):
    """An address on the right one's host."""
    parts = urllib.parse.urlsplit(base.entry["request"]["url"])
    return f"{parts.scheme}://{parts.netloc}{path}"


def below(base, path):
    """An address below the right one's path, without its query."""
    parts = urllib.parse.urlsplit(base.entry["request"]["url"])
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}{path}"


def quoted(text):
    return urllib.parse.quote_plus(text)


def swap(text, pairs):
    def as_written(new):
        def one(found):
            old = found.group()
            if len(old) > 1 and old.isupper() and old.isalpha():
                return new.upper()
            return new[0].upper() + new[1:] if new and old[0].isupper() else new

        return one

    for old, new in pairs:
        text = re.sub(old, as_written(new), text, flags=re.IGNORECASE)
    return text


def request_for(entry, pairs):
    """The request with other values after its host; the entry itself when nothing was there to change."""
    out = copy.deepcopy(entry)
    request = out["request"]
    head, slash, rest = request["url"].partition("://")
    host, _, path = rest.partition("/")
    request["url"] = f"{head}{slash}{host}/{swap(path, pairs)}"
    request["headers"] = [it for it in request["headers"] if not re.match("(?i)content-length|:path|referer", it["name"])]
    for it in request.get("queryString") or []:
        it["value"] = swap(it["value"], pairs)
    data = request.get("postData") or {}
    if data.get("text"):
        data["text"] = swap(data["text"], pairs)
    for it in data.get("params") or []:
        it["value"] = swap(it.get("value") or "", pairs)
    changed = request["url"] != entry["request"]["url"] or data != (entry["request"].get("postData") or {})
    return out if changed else entry


VOWELS = str.maketrans("aeiouAEIOU", "eiouaEIOUA")
DIGITS = str.maketrans("0123456789", "3456789012")


def reworded(answer, pointer, kept):
    """The answer about other things: words and numbers that only some items hold are other words and numbers."""
    found = items(answer, pointer)
    seen = collections.Counter(word for it in found for word in set(re.findall("[a-z]{4,}", " ".join(leaves(it)).lower())))
    common = {word for word, n in seen.items() if len(found) >= 4 and n >= 0.3 * len(found)} | kept

    def word(found):
        return found.group() if found.group().lower() in common else found.group().translate(VOWELS)

    def digits(found):
        return found.group() if found.group() in kept else found.group().translate(DIGITS)

    def text(it):
        if re.fullmatch(r"\d{4}-\d\d(-\d\d.*)?", it):
            return it
        it = it if re.match("https?://", it) else re.sub("[A-Za-z]{4,}", word, it)
        return re.sub(r"\d{3,}", digits, it)

    def number(it):
        if str(it) in kept:
            return it
        if isinstance(it, float):
            return round(it * 1.07 + 0.3, 4)
        return int(str(abs(it)).translate(DIGITS).lstrip("0") or 7)

    def walk(it):
        if isinstance(it, dict):
            return {key: walk(value) for key, value in it.items()}
        if isinstance(it, list):
            return [walk(value) for value in it]
        if isinstance(it, str):
            return text(it)
        return it if it is None or isinstance(it, bool) else number(it)

    return walk(answer)


# The ways.


@way
def other_value(base, bases):
    """The same endpoint was asked for another value of the kind that the task names, and answered about that."""
    if base.plain in RECORDED_VALUE:
        return instead(base, bases[RECORDED_VALUE[base.plain]].entry)
    pairs = OTHER_VALUE.get(base.plain)
    if not pairs or request_for(base.entry, pairs) is base.entry:
        return None
    own = swap(" ".join(re.findall("[a-z]{4,}", base.line["task"].lower())), pairs)
    kept = set(own.split()) | {it for _, new in pairs for it in [new, *re.findall(r"[a-z]{4,}|\d+", new.lower())]}

    def other(entry):
        before, answer = parsed(swap(text_of(entry), pairs))
        mime = entry["response"]["content"].get("mimeType") or "application/json"
        if answer is None:
            return answered(request_for(entry, pairs), "{}", mime=mime)
        return answered(request_for(entry, pairs), before + written(reworded(answer, base.pointer, kept)), mime=mime)

    return with_all(base, other)


@way
def other_kind(base, bases):
    """Another kind of thing was asked for under the same value, as the same site answers it."""
    if base.plain not in OTHER_KIND:
        return None
    name, pairs = OTHER_KIND[base.plain]
    entry = bases[name].entry
    out = request_for(entry, pairs)
    mime = entry["response"]["content"].get("mimeType") or "application/json"
    return instead(base, answered(out, swap(text_of(entry), pairs), mime=mime))


def failure(base, status):
    """What servers say in JSON when something went wrong."""
    path = urllib.parse.urlsplit(base.entry["request"]["url"]).path
    what = base.looked_for or "this request"
    return base.pick(
        [
            {"error": {"code": status, "message": f"No answer can be given for {what} now", "status": "UNAVAILABLE"}},
            {"errors": [{"code": 88, "message": f"Too many requests for {what}"}]},
            {
                "timestamp": "2026-01-01T00:00:06.120+00:00",
                "status": status,
                "error": "Internal Server Error",
                "message": f"could not read {what}",
                "path": path,
                "requestId": "8f1c2d7e-311",
            },
            {
                "type": "https://problems.example/unavailable",
                "title": "The service is not available",
                "status": status,
                "detail": f"{what} could not be looked up",
                "instance": path,
                "traceId": "00-4bf92f3577b34da6a3ce929d0e0e4736-01",
            },
            {"success": False, "error": {"type": "limit_reached", "info": f"Your plan does not include {what}"}},
            {
                "data": None,
                "errors": [
                    {
                        "message": f"upstream did not answer for {what}",
                        "locations": [{"line": 2, "column": 5}],
                        "path": ["search"],
                        "extensions": {"code": "UPSTREAM_TIMEOUT", "service": "index", "retry": False},
                    }
                ],
            },
            {"Response": "False", "Error": f"Request limit reached for {what}"},
            {
                "message": "The request is not valid",
                "errors": [
                    {"field": "key", "code": "missing", "reason": "a key is needed"},
                    {"field": "query", "code": "too_short", "reason": f"{what} is too short"},
                    {"field": "limit", "code": "too_large", "reason": "no more than 20"},
                ],
                "documentation": "https://docs.example/errors",
            },
            {"loggedIn": False, "redirect": "/login?next=" + quoted(path), "reason": f"log in to see {what}"},
        ]
    )


@way
def error_status(base, _):
    """The right request was answered by an error."""
    status = base.pick([500, 403, 404, 503, 429, 401, 400], 3)
    return with_all(base, lambda it: answered(it, written(failure(base, status)), status))


@way
def error_answer(base, _):
    """The right request was answered by an error that says it is a success."""
    return with_all(base, lambda it: answered(it, written(failure(base, 500))))


LOGIN = """<!doctype html><html lang="en"><head><title>Log in</title><link rel="stylesheet" href="/login.css"></head><body>
<header><a href="/">Home</a><nav><ul><li><a href="/about">About us</a></li><li><a href="/plans">Plans and prices</a></li>
<li><a href="/developers">For developers</a></li><li><a href="/status">How we are doing</a></li></ul></nav></header>
<main><h1>Log in to go on</h1><p>You were looking for {what}. Your session has ended.</p>
<form method="post" action="/login"><input type="hidden" name="next" value="{path}"><label>E-mail <input name="email"></label>
<label>Password <input name="password" type="password"></label><button>Log in</button></form></main>
<footer><ul><li><a href="/terms">Terms of use</a></li><li><a href="/privacy">Privacy notice</a></li>
<li><a href="/imprint">Imprint</a></li><li><a href="/contact">Contact and help</a></li></ul></footer></body></html>"""
CHALLENGE = """<!doctype html><html lang="en"><head><title>One moment</title><meta name="robots" content="noindex"></head><body>
<div class="box"><h2>We are making sure that you are a person</h2><p>This takes a few seconds. {host} then goes on by itself.</p>
<noscript>Switch on JavaScript to go on.</noscript><form id="c" action="{path}" method="post"><input type="hidden" name="r"
value="b64f2a0e91"></form></div><script>window._c={{"v":2,"h":"{host}","t":"9c1f","o":["a","b","c"]}};</script></body></html>"""
CONSENT = """<!doctype html><html lang="en"><head><title>Before you go on</title></head><body><h1>Before you go on to {host}</h1>
<p>We and our partners keep data on your device.</p><table><tr><th>Partner</th><th>Purpose</th><th>Kept for</th></tr>
<tr><td>Northwind Reach</td><td>Showing advertisements</td><td>13 months</td></tr>
<tr><td>Blue Lantern Media</td><td>Counting visits</td><td>6 months</td></tr>
<tr><td>Ostrich Insights</td><td>Telling devices apart</td><td>24 months</td></tr>
<tr><td>Quill and Partners</td><td>Choosing what is shown</td><td>12 months</td></tr>
<tr><td>Harbour Audience</td><td>Showing advertisements</td><td>90 days</td></tr></table>
<form action="/consent"><input type="hidden" name="to" value="{path}"><button>Agree</button><button>Refuse</button></form></body></html>"""
MAINTENANCE = """<!doctype html><html lang="en"><head><title>Back soon</title></head><body><h1>We are working on it</h1>
<p>{what} cannot be looked up at the moment.</p><h2>What happened lately</h2><ol class="log">
<li><time>2 January, 08:10</time> <b>Search is slow</b> <span>We are looking into it.</span></li>
<li><time>1 January, 21:40</time> <b>Logging in failed for some</b> <span>This has been mended.</span></li>
<li><time>30 December, 13:05</time> <b>New machines</b> <span>Everything moved without a break.</span></li>
<li><time>28 December, 09:30</time> <b>Late e-mails</b> <span>All of them have been sent.</span></li></ol></body></html>"""


@way
def wall_page(base, _):
    """The right request was answered by a page: to log in, to agree, to prove to be a person, to come back later."""
    url = urllib.parse.urlsplit(base.entry["request"]["url"])
    what = base.looked_for or "something"
    page = base.pick([LOGIN, CHALLENGE, CONSENT, MAINTENANCE], 1)
    page = page.format(what=html.escape(what), host=url.netloc, path=html.escape(url.path))
    return with_all(base, lambda it: answered(it, page, mime="text/html; charset=utf-8"))


@way
def no_content(base, _):
    """The right request was answered without a body: nothing new, nothing there, elsewhere."""
    status = base.pick([304, 204, 302])

    def bare(entry):
        out = answered(entry, "", status, "application/json")
        out["response"]["content"] = {"size": 0, "mimeType": "application/json"}
        if status == 302:
            out["response"]["redirectURL"] = near(base, "/login")
        return out

    return with_all(base, bare)


@way
def suggestions(base, _):
    """Only what the box suggested while somebody typed was recorded, not the search."""
    value = base.looked_for
    if value is None or re.search("(?i)autocomplete|suggest", base.line["task"]):
        return None
    path = base.pick(
        [
            "/suggest?q=",
            "/autocomplete?term=",
            "/ac?q=",
            "/api/search/suggestions?query=",
            "/api/keywords?prefix=",
            "/search/instant?text=",
        ]
    )
    ends = ["", " guide", " list", " near me", " map", " history", " meaning", " for beginners"]
    texts = [value.lower() + end for end in ends]
    answer = base.pick(
        [
            [value, texts],
            {"suggestions": texts},
            {"query": value, "completions": [{"value": it, "score": 90 - i} for i, it in enumerate(texts)]},
            {"status": "ok", "result": {"terms": texts, "took": 3}},
        ],
        2,
    )
    return instead(base, answered(asked(base.entry, near(base, path + quoted(value))), written(answer)))


@way
def beside_the_search(base, _):
    """What a page asks for beside its results, for the same word, was recorded, and not the results."""
    value = base.looked_for
    if value is None or re.search("(?i)autocomplete|suggest", base.line["task"]):
        return None
    days = [f"2026-01-0{i}T1{i}:2{i}:00Z" for i in range(1, 6)]
    shop = "https://shop.example/"
    path, answer = base.pick(
        [
            (
                "/api/search/history?last=",
                {"recent": [{"query": it, "at": day} for it, day in zip([value, "weather", "lamp", "tea", "train"], days)]},
            ),
            ("/api/spelling?text=", {"input": value, "corrected": value, "changed": False, "language": "en", "tried": 4}),
            (
                "/api/sponsored?slots=4&keywords=",
                {
                    "ads": [
                        {"id": 4400 + i, "title": f"{value} {it}", "advertiser": "Printshop", "url": shop + it, "price": 9 + i}
                        for i, it in enumerate(["posters", "mugs", "shirts", "stickers"])
                    ]
                },
            ),
            (
                "/api/search/rights?query=",
                {"query": value, "canSave": False, "canExport": False, "plans": [{"name": "Free"}, {"name": "Team"}]},
            ),
            ("/api/alerts/status?search=", {"search": value, "subscribed": False, "frequency": None, "channels": []}),
            (
                "/api/help/articles?about=",
                {
                    "articles": [
                        {"id": i, "title": it, "url": f"/help/{i}", "minutes": 2 + i}
                        for i, it in enumerate(["How to search", "Saving a search", "Sharing what you found", "Using filters"])
                    ]
                },
            ),
            (
                "/api/searches/related?to=",
                {"related": [{"text": f"{value} {it}", "url": f"/search?q={quoted(value)}+{it}"} for it in ["books", "art"]]},
            ),
            (
                "/api/banners?placement=results&query=",
                {"banners": [{"id": 71, "headline": f"Everything about {value}", "image": "/b/71.jpg", "link": "/magazine"}]},
            ),
        ],
        5,
    )
    return instead(base, answered(asked(base.entry, near(base, path + quoted(value))), written(answer)))


@way
def facets_alone(base, _):
    """The right search was asked for what it can be narrowed down by, and answered without one result."""
    if base.plain in COUNTS or base.pointer is None or "graphql" in base.entry["request"]["url"]:
        return None
    buckets = lambda values, most: [{"value": it, "count": most // (i + 1)} for i, it in enumerate(values)]
    total = 40 + base.turn % 4000
    facets = {
        "year": buckets(["2026", "2025", "2024", "2023"], total // 2),
        "language": buckets(["en", "de", "fr"], total // 3),
        "licence": buckets(["open", "closed"], total),
    }
    listed = [{"field": name, "buckets": it} for name, it in facets.items()]
    answer = base.pick([{"total": total, "facets": facets}, {"facets": listed}, {"count": total}], 1)
    entry = base.entry
    url, body = entry["request"]["url"], parsed((entry["request"].get("postData") or {}).get("text") or "")[1]
    if entry["request"]["method"] == "POST" and isinstance(body, dict):
        out = asked(entry, url, "POST", {**body, "facets": ["year", "language", "licence"], "size": 0})
    elif entry["request"]["method"] == "POST":
        return None
    elif answer == {"count": total}:
        parts = urllib.parse.urlsplit(url)
        out = asked(entry, below(base, "/count") + ("?" + parts.query if parts.query else ""))
    else:
        parts = urllib.parse.urlsplit(url)
        kept = [it for it in parts.query.split("&") if it and it.split("=")[0].lower() not in PAGING]
        query = "&".join([*kept, "facets=year,language,licence", "limit=0"])
        out = asked(entry, urllib.parse.urlunsplit(parts._replace(query=query)))
    return instead(base, answered(out, written(answer)))


@way
def columns_alone(base, _):
    """What the table's columns are called was recorded, not its rows."""
    first = next((it for it in base.items if isinstance(it, dict)), None)
    if first is None or base.pointer is None:
        return None
    names = list(first)[:12]
    if "graphql" in base.entry["request"]["url"]:
        fields = [{"name": it, "type": {"name": "String", "kind": "SCALAR"}} for it in names]
        query = 'query Columns { __type(name: "Row") { name fields { name type { name kind } } } }'
        body = {"operationName": "Columns", "query": query}
        out = asked(base.entry, base.entry["request"]["url"], "POST", body)
        return instead(base, answered(out, written({"data": {"__type": {"name": "Row", "fields": fields}}})))
    labels = [it.replace("_", " ").capitalize() for it in names]
    rows = [{"name": it, "label": label, "type": "string", "visible": True} for it, label in zip(names, labels)]
    answer = base.pick([rows, {"columns": rows}, {"fields": rows, "version": 3}])
    path = base.pick(["/columns", "/fields", "/layout", "/mapping"], 4)
    return instead(base, answered(asked(base.entry, below(base, path)), written(answer)))


@way
def pending(base, _):
    """The right request was taken as a job, and the recording ends before that was done."""
    job = f"{base.turn:08x}"
    first = base.pick(
        [
            {"job": job, "state": "queued", "position": 3, "poll": f"/jobs/{job}"},
            {"id": job, "status": "accepted", "query": base.looked_for, "links": [{"rel": "status", "href": f"/jobs/{job}"}]},
            {"task": {"id": job, "progress": 0, "done": False, "created": "2026-01-01T00:00:05Z"}, "results": None},
        ]
    )
    entry = answered(base.entry, written(first), base.pick([200, 202], 1))
    poll = answered(asked(base.entry, near(base, f"/jobs/{job}")), written({"id": job, "state": "running", "progress": 40}))
    return instead(base, entry, poll)


def emptied(answer, pointer):
    out = copy.deepcopy(answer)
    if pointer == "/":
        return [] if isinstance(out, list) else {}
    parent, _, key = pointer.rpartition("/")
    holder = at(out, parent)
    key = key.replace("~1", "/").replace("~0", "~")
    if isinstance(holder, list):
        holder[int(key)] = []
    elif isinstance(holder, dict) and isinstance(holder.get(key), (list, dict)):
        holder[key] = type(holder[key])()
    else:
        return None
    for name, it in list(out.items()) if isinstance(out, dict) else []:
        if re.search("(?i)total|count|num|hits|records", name) and isinstance(it, int):
            out[name] = 0
    return out


@arguable
def empty(base, _):
    """The right request found nothing."""
    answer = emptied(base.answer, base.pointer) if base.pointer else None
    return None if answer is None else with_all(base, lambda it: answered(it, base.prefix + written(answer)))


@arguable
def lost_body(base, _):
    """The right answer's body was not recorded."""

    def lost(entry):
        out = copy.deepcopy(entry)
        out["response"]["content"].pop("text", None)
        out["response"]["content"].pop("encoding", None)
        return out

    return with_all(base, lost)


@arguable
def cut_body(base, _):
    """Of the right answer's body only the beginning was recorded."""

    def cut(entry):
        out = answered(entry, text_of(entry)[: min(160, len(text_of(entry)) // 2)])
        out["response"]["content"]["size"] = len(text_of(entry))
        return out

    return with_all(base, cut)


# Whether they are honest.


def telling(found):
    """Of each item, the values that the others have not."""
    seen = collections.Counter(leaf for it in found for leaf in set(leaves(it)))
    limit = max(1, len(found) // 2) if len(found) >= 4 else len(found)
    for it in found[:60]:
        own = [leaf for leaf in dict.fromkeys(leaves(it)) if len(leaf) >= 4 and seen[leaf] <= limit]
        yield sorted(own, key=len, reverse=True)[:12]


def still_there(base, entries):
    """The request that still holds the answer's items, more than one in five, each by most of what tells it from the others."""
    told = [it for it in telling(base.items) if it]
    for entry in entries:
        text = text_of(entry)
        if not text or not told:
            continue
        answer = parsed(text)[1]
        text = "\n".join(leaves(answer)) if answer is not None else text + html.unescape(text)
        # A document may carry the data as JSON, written out in a script.
        text = text.replace("\\/", "/")
        held = sum(5 * sum(leaf in text for leaf in it) >= 3 * len(it) for it in told)
        if 5 * held > len(told):
            return entry["request"]["url"][:100]
    return None


def still_listed(base, entries):
    """A request to the right path whose answer has a list where the right one has it, such as a further page."""
    path = lambda it: urllib.parse.urlsplit(it["request"]["url"])[1:3]
    for entry in entries:
        if base.pointer and path(entry) == path(base.entry) and not any(entry is it for it in base.right):
            found = items(parsed(text_of(entry))[1], base.pointer)
            if found and isinstance(found[0], dict) and isinstance(base.items[0], dict) and found[0].keys() == base.items[0].keys():
                return entry["request"]["url"][:100]
    return None


def make(source, out, ways, every):
    with open(os.path.join(source, "cases.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(it) for it in file if it.strip()]
    bases = {it["id"]: Base(source, it) for it in lines if it["expect"]["recipeable"]}
    shutil.rmtree(os.path.join(out, "hars"), ignore_errors=True)
    os.makedirs(os.path.join(out, "hars"))
    made, left_out = [], collections.Counter()
    for n, name in enumerate(WAYS):
        for turn, base in enumerate(bases.values()):
            if name not in ways or (turn + n) % every:
                continue
            if not [it for it in base.items if it not in (None, {}, [])]:
                left_out[name, "its own answer was empty"] += 1
                continue
            entries = WAYS[name](base, bases)
            if entries is None:
                continue
            # What asks for something else may go to the right path, but of what is new nothing may be the answer.
            judged = entries
            if name == "other-value":
                judged = []
            elif name == "other-kind":
                judged = [it for it in entries if not any(it is old for old in base.entries)]
            if still_there(base, entries):
                left_out[name, "the items are still there"] += 1
                continue
            if still_listed(base, judged):
                left_out[name, "another page of them is still there"] += 1
                continue
            made.append(write(base, name, entries, out))
    with open(os.path.join(out, "cases.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(it, ensure_ascii=False) + "\n" for it in made)
    for (name, why), count in sorted(left_out.items()):
        print(f"left out of {name}: {count}, {why}")
    return made


def write(base, name, entries, out):
    line = {key: base.line[key] for key in ("task", "typed", "made", "fidelity", "site", "licence", "source")}
    case = f"{base.id}-{name}"
    line |= {"id": case, "har": f"hars/{case}.har", "kind": "none", "expect": {"recipeable": False}}
    line |= {"way": name, "arguable": name in ARGUABLE, "base": base.id}
    har = {"log": {**base.har["log"], "entries": entries}}
    with open(os.path.join(out, line["har"]), "w", encoding="utf-8") as file:
        file.write(written(har))
    return line


def evaluate(made, out):
    program = os.environ.get("COMMIS") or os.path.join(ROOT, "target", "debug", "commis")
    said = os.path.join(out, "predictions.jsonl")
    command = [program, "eval", "--corpus", out, "--no-network", "--home", os.path.join(out, "home"), "--predictions", said]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(said, encoding="utf-8") as file:
        found = {it["case"]: it for it in map(json.loads, file)}
    wrong = 0
    print(f"{'way':20} cases  chosen  needs_selection  non_recipeable")
    for name in [it for it in WAYS if it not in ARGUABLE] + [it for it in WAYS if it in ARGUABLE]:
        mine = [found[it["id"]] for it in made if it["way"] == name]
        chosen = [it for it in mine if it["outcome"] in ("saved_draft", "verified")]
        count = collections.Counter(it["outcome"] for it in mine)
        mark = "  (arguable)" if name in ARGUABLE else ""
        print(f"{name:20} {len(mine):5}  {len(chosen):6}  {count['needs_selection']:15}  {count['non_recipeable']:14}{mark}")
        for it in chosen:
            first = it["candidates"][0]
            print(f"    {it['outcome']} {it['case']}: {first['method']} {first['url'][:110]}")
        wrong += 0 if name in ARGUABLE else len(chosen)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the cases, outside the repository")
    parser.add_argument("--eval", action="store_true", help="run the program on them")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only this way (repeatable)")
    parser.add_argument("--every", type=int, default=8, metavar="N", help="take every Nth base for each way (default 8)")
    args = parser.parse_args()
    source, out = os.path.join(SHARED, "realworld"), os.path.abspath(args.out)
    if not os.path.isfile(os.path.join(source, "cases.jsonl")):
        print("no real-traffic cases beside the repository: nothing to make absent cases from")
        return 0
    if os.path.commonpath([out, ROOT]) == ROOT:
        parser.error("--out is within the repository, which holds nothing of realworld/")
    made = make(source, out, args.way or list(WAYS), max(1, args.every))
    fair = sum(not it["arguable"] for it in made)
    print(f"{fair} cases and {len(made) - fair} arguable ones in {args.out}")
    return int(args.eval and evaluate(made, out) > 0)


if __name__ == "__main__":
    sys.exit(main())
