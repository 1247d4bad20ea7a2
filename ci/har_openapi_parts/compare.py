"""Three tools over the same HARs, held to a list made by hand (truth.py), as one table."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml
from openapi_spec_validator import validate

import made
import truth

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMIS = os.environ["COMMIS"]
SHARED = pathlib.Path(os.environ.get("COMMIS_SHARED", ROOT.parent / "shared"))
HARS = SHARED / "realworld" / "hars"
METHODS = {"get", "post", "put", "delete", "patch", "head", "options", "trace"}


def operations(document, host):
    """`(method, host, segments, fragment)` of a document, whose servers may stand at the paths."""
    out = []
    for path, item in (document.get("paths") or {}).items():
        servers = (item or {}).get("servers") or document.get("servers") or []
        own = urlsplit(servers[0]["url"]).hostname if servers else None
        base = urlsplit(servers[0]["url"]).path.rstrip("/") if servers else ""
        path, _, fragment = path.partition("#")
        segments = tuple((base + path).strip("/").split("/"))
        for method in set(item or {}) & METHODS:
            out.append((method.upper(), host or own, segments, fragment))
    return out


def run_commis(file, _hosts, place):
    out = place / "commis.json"
    done = subprocess.run([COMMIS, "--home", str(place / "home"), "har", "openapi", str(file), "--out", str(out)], capture_output=True, text=True)
    if not out.exists():
        return [], done.stderr
    return [(None, json.loads(out.read_text()))], out.read_text()


def run_mitmproxy2swagger(file, hosts, place):
    """As its readme says: a first pass, `ignore:` taken off the paths (but those that a template of it stands for), a second pass;
    for each origin, which has to be known."""
    documents, text = [], ""
    for host in hosts:
        out = place / f"{host}.yaml"
        command = [os.environ["MITMPROXY2SWAGGER"], "-i", str(file), "-o", str(out), "-p", f"https://{host}", "-f", "har"]
        subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        if not out.exists():
            continue
        lines = out.read_text().splitlines()
        offered = [it[len("- ignore:"):] for it in lines if it.startswith("- ignore:")]
        templates = [re.compile(re.sub(r"\\{[^/]*\\}", "[^/]+", re.escape(it)) + "$") for it in offered if "{" in it]
        kept = [it for it in offered if "{" in it or not any(its.match(it) for its in templates)]
        lines = [it for it in lines if not it.startswith("- ignore:")] + [f"- {it}" for it in kept]
        out.write_text("\n".join(lines) + "\n")
        subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        written = out.read_text()
        text += written
        documents.append((host, yaml.safe_load(written)))
    return documents, text


def run_har_to_openapi(file, _hosts, place):
    command = ["node", str(pathlib.Path(os.environ["NODE_PLACE"]) / "har.mjs"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return [], done.stderr
    all = json.loads(done.stdout)
    return [(urlsplit("https://" + it["domain"]).hostname, it["spec"]) for it in all], done.stdout


TOOLS = {"commis": run_commis, "mitmproxy2swagger": run_mitmproxy2swagger, "har-to-openapi": run_har_to_openapi}


def fits(segment, wanted):
    """Whether a tool's segment can stand for one of the list."""
    if "{" in segment:
        return True
    if wanted.startswith("~"):
        return wanted[1:] == unquote(segment)
    return "{" in wanted or wanted == segment or unquote(wanted) == unquote(segment)


def judge(found, wanted):
    """Found, wrong merges, missed merges, and operations that are of no endpoint in the list."""
    seen, wrong, missed, other = set(), 0, 0, 0
    by_endpoint = defaultdict(list)
    for method, host, segments, fragment in found:
        hits = [
            it for it in wanted
            if it[0] == method and it[1] == host and len(it[2]) == len(segments)
            and all(map(fits, segments, it[2]))
            and (not fragment or not it[3] or fragment.split("&")[0].split("=")[-1] == it[3])
        ]
        # A word is nearer than a place for any.
        exact = [it for it in hits if all(("{" in a) == ("{" in b) or b.startswith("~") for a, b in zip(segments, it[2]))]
        hits = exact or hits
        if not hits:
            other += 1
            continue
        wrong += len(hits) - 1
        seen.add(hits[0])
        by_endpoint[hits[0]].append(segments)
    for endpoint, ways in by_endpoint.items():
        literal = [it for it in ways if any("{" in b and "{" not in a for a, b in zip(it, endpoint[2]))]
        missed += max(len(literal), len(ways) - 1)
    return len(seen), wrong, missed, other


SECRET = re.compile(r"token|secret|passw|session|api[-_]?key|apikey|auth|csrf|xsrf|client_id|(^|[-_])key$|(^|[-_])sid$", re.I)


def secrets_of(har):
    """Values of 16 characters and more in cookies, credentials, and under names of secrets."""
    out = set()

    def keep(value):
        value = str(value).strip()
        if len(value) >= 16 and "REDACTED" not in value and not value.startswith(("http", "{", "[")):
            out.add(value)

    def walk(value, name=""):
        if isinstance(value, dict):
            for key, it in value.items():
                walk(it, key)
        elif isinstance(value, list):
            for it in value:
                walk(it, name)
        elif isinstance(value, str) and SECRET.search(name) and " " not in value and re.search(r"\d", value):
            keep(value)

    for entry in har["log"]["entries"]:
        for side in ("request", "response"):
            message = entry.get(side) or {}
            for it in message.get("cookies") or []:
                keep(unquote(it.get("value") or ""))
            headers = message.get("headers")
            for it in headers if isinstance(headers, list) else []:
                name, value = (it.get("name") or "").lower(), it.get("value") or ""
                if name in ("authorization", "proxy-authorization"):
                    keep(value.split(" ")[-1])
                elif name == "cookie":
                    for pair in value.split(";"):
                        keep(pair.partition("=")[2])
                elif name == "set-cookie":
                    keep(value.split(";")[0].partition("=")[2])
                elif SECRET.search(name) and not name.startswith((":", "sec-", "access-control")):
                    keep(value)
        request = entry.get("request") or {}
        try:
            pairs = parse_qsl(urlsplit(request.get("url") or "").query)
        except ValueError:
            pairs = []
        data = request.get("postData")
        text = data.get("text") if isinstance(data, dict) else None
        for body in (text, ((entry.get("response") or {}).get("content") or {}).get("text")):
            try:
                walk(json.loads(body))
            except (TypeError, ValueError):
                if body is text and text and "=" in text:
                    pairs += parse_qsl(text)
        for name, value in pairs:
            if SECRET.search(name):
                keep(value)
    return out


def is_valid(documents):
    for _, it in documents:
        try:
            validate(it)
        except Exception as err:  # noqa: BLE001  any of them says that it is not
            return f"no: {str(err).splitlines()[0][:60]}"
    return "yes" if documents else "nothing"


def compare(names, place):
    rows, sums, valids, bad = [], {tool: [0] * 7 for tool in TOOLS}, dict.fromkeys(TOOLS, 0), []
    for name in names:
        secrets = set()
        if name == "made":
            har, planted = made.har()
            file = place / "made.har"
            file.write_text(json.dumps(har))
            secrets.update(planted)
        else:
            file = HARS / f"{name}.har"
            if not file.exists():
                print(f"skipped: {file} is absent", file=sys.stderr)
                continue
            har = json.loads(file.read_text(encoding="utf-8-sig"))
        secrets |= secrets_of(har)
        wanted = truth.endpoints(name)
        hosts = list(dict.fromkeys(it[1] for it in wanted))
        for tool, run in TOOLS.items():
            here = place / name / tool
            here.mkdir(parents=True)
            start = time.monotonic()
            documents, text = run(file, hosts, here)
            took = time.monotonic() - start
            found = [it for host, document in documents for it in operations(document, host)]
            if os.environ.get("TELL") == tool:
                for it in sorted(found, key=str):
                    print("   ", it[0], it[1], "/" + "/".join(it[2]), it[3], file=sys.stderr)
            right, wrong, missed, other = judge(found, wanted)
            left = sorted(it for it in secrets if it in text)
            valid = is_valid(documents)
            valids[tool] += valid == "yes"
            rows.append([name, tool, f"{right} of {len(wanted)}", wrong, missed, other, f"{len(left)} of {len(secrets)}", f"{took:.2f}", valid])
            total = sums[tool]
            for i, it in enumerate([right, len(wanted), wrong, missed, other, len(left), took]):
                total[i] += it
            if tool == "commis" and (wrong or left or valid != "yes" or (name == "made" and (right < len(wanted) or missed))):
                bad.append(f"{name}: {rows[-1]} {left[:3]}")
    print("| HAR | tool | endpoints found | wrong merges | missed merges | others | secrets left | seconds | valid |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    for tool, (right, wanted, wrong, missed, other, left, took) in sums.items():
        print(f"| **all** | {tool} | {right} of {wanted} | {wrong} | {missed} | {other} | {left} | {took:.2f} | |")
    heads = ["found", "endpoints", "wrong", "missed", "others", "secrets", "seconds"]
    told = {tool: {**dict(zip(heads, sums[tool])), "valid": valids[tool]} for tool in TOOLS}
    return bad, {"hars": len(rows) // len(TOOLS), "tools": told}


def all_hars(place):
    """Every HAR at hand: a document that validates, or a reason."""
    files = sorted(HARS.glob("*.har")) + sorted((ROOT / "tests/fixtures").glob("*.har"))
    bad, none, operations_seen = [], [], 0
    start = time.monotonic()
    for file in files:
        out = place / "one.json"
        out.unlink(missing_ok=True)
        done = subprocess.run([COMMIS, "--home", str(place / "home"), "har", "openapi", str(file), "--out", str(out), "--json"], capture_output=True, text=True)
        if done.returncode == 1 and not out.exists() and '"left_out"' in done.stdout and json.loads(done.stdout)["operations"] == 0:
            none.append(file.name)
        elif done.returncode == 0 and out.exists():
            document = json.loads(out.read_text())
            operations_seen += json.loads(done.stdout)["operations"]
            try:
                validate(document)
            except Exception as err:  # noqa: BLE001
                bad.append(f"{file.name}: not valid: {str(err).splitlines()[0][:200]}")
            left = [it for it in secrets_of(json.loads(file.read_text(encoding="utf-8-sig"))) if it in out.read_text()]
            if left:
                bad.append(f"{file.name}: secrets left: {left[:4]}")
        else:
            bad.append(f"{file.name}: exit {done.returncode}: {done.stderr[:200]}")
    print(f"{len(files)} HARs: {operations_seen} operations, {len(none)} without data, {len(bad)} wrong, {time.monotonic() - start:.0f} s")
    print("without data: " + ", ".join(none))
    return bad, {"hars": len(files), "operations": operations_seen, "without_data": len(none), "wrong": len(bad)}


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text()) if sys.platform == "linux" else None
    return f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}"


def main():
    parser = argparse.ArgumentParser(prog="ci/har-openapi", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="HAR", help="of the list, by name")
    parser.add_argument("--all", action="store_true", help="only go through all HARs")
    parser.add_argument("--json", metavar="FILE", help="keep the sums there")
    args = parser.parse_args()
    version = subprocess.run([COMMIS, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    versions = {"commis": version, "mitmproxy2swagger": os.environ["SWAGGER"], "har-to-openapi": os.environ["HAR_TO_OPENAPI"]}
    told = {"date": str(datetime.date.today()), "machine": machine(), "versions": versions}
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        bad = []
        if not args.all:
            bad, told["compared"] = compare(args.only or list(truth.TRUTH), place)
        if not args.only:
            more, told["all"] = all_hars(place)
            bad += more
        for it in bad:
            print(it, file=sys.stderr)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(told, indent=1) + "\n")
    return 1 if bad else 0


sys.exit(main())
