#!/usr/bin/env python3
"""A large HAR on stdout, always the same: large_har.py [--entries 2000] [--kilobytes 100]

A third of the answers is JSON, a third scripts, a third images; one of them is the search that was typed.
"""

import argparse
import base64
import json
import random
import sys

WORDS = (
    "brass lantern porch handle glass garden light river stone market evening morning copper winter summer harbour "
    "book small large blue red green seller rating stock review order customer"
).split()


def words(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def listing(rng, size):
    items, used = [], 0
    while used < size:
        items.append(
            {
                "id": f"SKU-{rng.randrange(10**6):06}",
                "title": words(rng, 4),
                "description": words(rng, 14),
                "price": {"amount": rng.randrange(10**5), "currency": "EUR"},
                "rating": rng.randrange(50) / 10,
                "image": f"https://shop.example/i/{rng.randrange(10**8):08x}.jpg",
            }
        )
        used += len(json.dumps(items[-1]))
    return json.dumps({"total": len(items), "items": items})


def script(rng, size):
    out, used = [], 0
    while used < size:
        line = f"function f{rng.randrange(10**6)}(a,b){{var c={{name:\"{words(rng, 3)}\",at:a+{rng.randrange(99)}}};return b?c:null}}\n"
        out.append(line)
        used += len(line)
    return "".join(out)


def entry(rng, n, entries, size):
    kind = n % 3
    if n == entries // 2 // 3 * 3:
        url = "https://shop.example/api/search?q=lantern&page=1"
    else:
        url = f"https://shop.example/{('api', 'js', 'img')[kind]}/part-{n}?v={n}"
    content = {"mimeType": ("application/json", "text/javascript", "image/jpeg")[kind]}
    if kind == 0:
        content["text"] = listing(rng, size)
    elif kind == 1:
        content["text"] = script(rng, size)
    else:
        content |= {"text": base64.b64encode(rng.randbytes(size * 3 // 4)).decode(), "encoding": "base64"}
    content["size"] = len(content["text"])
    return {
        "startedDateTime": f"2026-01-05T10:{n // 600 % 60:02}:{n // 10 % 60:02}.{n % 10}00Z",
        "time": 12,
        "_resourceType": ("xhr", "script", "image")[kind],
        "request": {
            "method": "GET",
            "url": url,
            "httpVersion": "HTTP/2",
            "headers": [
                {"name": "accept", "value": "*/*"},
                {"name": "cookie", "value": "session=9f8e7d6c5b4a39281706f5e4d3c2b1a0"},
            ],
            "queryString": [],
            "cookies": [],
            "headersSize": -1,
            "bodySize": 0,
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "HTTP/2",
            "headers": [{"name": "content-type", "value": content["mimeType"]}],
            "cookies": [],
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": content["size"],
            "content": content,
        },
        "cache": {},
        "timings": {"send": 0, "wait": 10, "receive": 2},
    }


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--entries", type=int, default=2000)
    args.add_argument("--kilobytes", type=int, default=100)
    args = args.parse_args()
    rng = random.Random(7)
    out = sys.stdout
    out.write('{"log": {"version": "1.2", "creator": {"name": "large_har", "version": "1"}, "entries": [\n')
    for n in range(args.entries):
        out.write(",\n" if n else "")
        json.dump(entry(rng, n, args.entries, args.kilobytes * 1000), out)
    out.write("\n]}}\n")


main()
