"""Supervisor: the web page of a process control system, with the state of each process and the end of its log."""

import os

import words
from app import App, Task

CONFIG = """
[supervisord]
nodaemon=true
user=root
logfile=%(here)s/supervisord.log
pidfile=%(here)s/supervisord.pid
childlogdir=%(here)s

[inet_http_server]
port=127.0.0.1:%(ENV_SUPERVISOR_PORT)s

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""

PROGRAM = """
[program:{name}]
command=/bin/sh -c "cat %(here)s/{name}.txt; exec sleep 86400"
stdout_logfile=%(here)s/{name}.out
stdout_logfile_backups=0
redirect_stderr=true
startsecs=0
autorestart=false
"""

NAMES = "beacon beacon-2 crane crane-hoist crane-hoist-2 ferry gate lock-north lock-south mail pump pump-1 pump-10 tide".split()


class Supervisor(App):
    name = "supervisor"
    kind = "process monitor"
    pins = ("supervisor==4.3.0", "setuptools==80.9.0")
    hosts = ("processes.test",)
    port = 8656

    @staticmethod
    def lines(name):
        by = words.seeded("supervisor", name)
        out = []
        for at in range(by.randint(28, 60)):
            what = f"{by.choice(words.GEAR)} {by.choice(['checked', 'moved', 'failed', 'idle'])}"
            time = f"2026-03-{1 + at // 24:02} {at % 24:02}:{by.randint(0, 59):02}"
            out.append(f"{time} {by.choice(['INFO', 'INFO', 'WARN', 'ERROR'])} {what}, {by.randint(1, 900)} kg")
        return out

    def fill(self):
        with open(os.path.join(self.place.data, "supervisord.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIG + "".join(PROGRAM.format(name=it) for it in NAMES))
        for name in NAMES:
            with open(os.path.join(self.place.data, f"{name}.txt"), "w", encoding="utf-8") as file:
                file.write("".join(f"{it}\n" for it in self.lines(name)))

    def command(self, port):
        # What was logged when it ran before is not part of the log.
        for name in NAMES:
            path = os.path.join(self.place.data, f"{name}.out")
            if os.path.exists(path):
                os.remove(path)
        return [self.place.bin("supervisord"), "-n", "-c", "supervisord.conf"], None, {"SUPERVISOR_PORT": str(port)}

    def end(self, name, size):
        """The lines that stand whole in the last bytes of a log."""
        text = "".join(f"{it}\n" for it in self.lines(name))
        whole = text[-size:] if len(text) <= size else text[-size:].partition("\n")[2]
        return [{f"line {at}": it for at, it in enumerate(whole.splitlines())}]

    def tasks(self):
        # Fewer than 1024 are never shown.
        sizes = [("ferry", "1200"), ("gate", "1500"), ("tide", "1100"), ("pump-1", "1400")]
        return [
            Task(
                "supervisor-log",
                "Show the end of the log of the process {process}",
                "http://processes.test/",
                [{"process": it} for it in ("crane", "pump-10", "lock-south", "beacon-2")],
                [{"navigate": "http://processes.test/tail.html?processname={process}"}, {"wait_for": {"text": "kg"}}],
                lambda values: self.end(values["process"], 1024),
                one=True,
                endpoint="/tail.html",
                ways=("steps", "har"),
            ),
            Task(
                "supervisor-log-size",
                "Show the last {size} bytes of the log of the process {process}",
                "http://processes.test/",
                [{"process": name, "size": size} for name, size in sizes],
                [
                    {"navigate": "http://processes.test/tail.html?processname={process}&limit={size}"},
                    {"wait_for": {"text": "kg"}},
                ],
                lambda values: self.end(values["process"], int(values["size"])),
                one=True,
                endpoint="/tail.html",
                ways=("steps", "har"),
            ),
        ]
