"""A warm run with a login beside one without, in turns, of the same address of a site that answers both."""

import http.client
import json
import os
import re
import statistics
import subprocess
import time

from daemon import Daemon

UNLIMITED = "[serve]\nrest_per_minute = 10000000\nrest_burst = 1000000\nrun_per_minute = 10000000\nrun_burst = 1000000\n"


def browsers_below(pid):
    """How many processes of a browser a process has started."""
    out = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in out.splitlines()]
    known, grown = {str(pid)}, True
    while grown:
        more = {it[0] for it in rows if it[1] in known} - known
        known, grown = known | more, bool(more)
    return sum(it[0] in known and "chrom" in it[2] for it in rows)


def must(learner, *args):
    """A call that has to succeed."""
    code, out, err = learner.call(*args)
    if code != 0:
        raise SystemExit(f"{' '.join(args)}: {out}{err}")


def compare(learner, site, runs=int(os.environ.get("RUNS", "300"))):
    """Median milliseconds of a run by `public_http` and by `login_http`, and how many browsers there are after them."""
    if trouble := learner.log_in(site, "ada-lund"):
        raise SystemExit(trouble)
    steps = os.path.join(learner.home, "wishes.yaml")
    with open(steps, "w", encoding="utf-8") as file:
        json.dump(site.steps, file)
    values = ("-p", "for=Nora", "--second", "for=Emil")
    for name, login in (("wishes-public", ()), ("wishes-own", ("--login", "keepsake-ada-lund"))):
        must(learner, "recipe", "learn", "--url", site.url, "--steps", steps, "--task", site.sentence, "--name", name, *values, *login)
    # A stranger gets samples here, so each run asks once more as a stranger. Of a site that refuses strangers, none does.
    path = os.path.join(learner.home, "recipes", "wishes-own.yaml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    refused, changed = re.subn(r"stranger: other\b", "stranger: refused", text)
    if changed != 1:
        raise SystemExit(f"{path} does not say what a stranger gets")
    with open(path, "w", encoding="utf-8") as file:
        file.write(refused)
    digest = re.search(r"--digest (\w+)", learner.call("recipe", "trust", "wishes-own")[2]).group(1)
    must(learner, "recipe", "trust", "wishes-own", "--digest", digest)
    learner.call("daemon", "stop")
    with open(os.path.join(learner.home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(UNLIMITED)
    daemon = Daemon(learner.binary, learner.home, *learner.flags).start()
    try:
        made = daemon.run("token", "create", "--can", "run:*,vault:keepsake-ada-lund", "--json")
        token = json.loads(made.out)["token"]
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        line = http.client.HTTPConnection("127.0.0.1", daemon.state()["port"])
        took = {"wishes-public": [], "wishes-own": []}
        for at in range(runs + 20):
            for name, all_ms in took.items():
                body = {"params": {"for": f"Nora {at}"}, **({"login": "keepsake-ada-lund"} if name == "wishes-own" else {})}
                begun = time.perf_counter()
                line.request("POST", f"/api/recipes/{name}/run", json.dumps(body), headers)
                answer = json.load(line.getresponse())
                ms = (time.perf_counter() - begun) * 1000
                if not answer.get("ok") or not answer["data"]:
                    raise SystemExit(f"{name}: {json.dumps(answer)[:400]}")
                if at >= 20:
                    all_ms.append(ms)
        return statistics.median(took["wishes-public"]), statistics.median(took["wishes-own"]), browsers_below(daemon.pid)
    finally:
        daemon.stop()
