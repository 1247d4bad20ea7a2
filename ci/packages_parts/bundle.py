"""config.json for runc: bundle.py ROOT COMMAND, with what Podman gives a container by default: its capabilities, and its rules for
system calls, from the Debian package golang-github-containers-common. The network and the control groups are this machine's."""

import json
import subprocess
import sys

CAPABILITIES = [
    f"CAP_{it}"
    for it in "CHOWN DAC_OVERRIDE FOWNER FSETID KILL NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT".split()
]
subprocess.run(["runc", "spec"], check=True)
config = json.load(open("config.json", encoding="utf-8"))
rules = json.load(open("/usr/share/containers/seccomp.json", encoding="utf-8"))


def holds(rule):
    only, never = rule.get("includes") or {}, rule.get("excludes") or {}
    return (
        set(only.get("caps") or []) <= set(CAPABILITIES)
        and not set(never.get("caps") or []) & set(CAPABILITIES)
        and "amd64" in (only.get("arches") or ["amd64"])
        and "amd64" not in (never.get("arches") or [])
    )


calls = []
for it in filter(holds, rules["syscalls"]):
    call = {"names": it["names"], "action": it["action"]}
    if it.get("args"):
        call["args"] = [{k: arg[k] for k in ("index", "value", "valueTwo", "op") if k in arg} for arg in it["args"]]
    if it.get("errnoRet") is not None:
        call["errnoRet"] = it["errnoRet"]
    calls.append(call)

config["root"] = {"path": sys.argv[1], "readonly": False}
process = config["process"]
process.update(terminal=False, user={"uid": 1000, "gid": 1000}, cwd="/home/commis", args=["sh", "-c", sys.argv[2]])
process["env"] = ["PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/commis"]
for kind in process["capabilities"]:
    process["capabilities"][kind] = CAPABILITIES if kind == "bounding" else []
linux = config["linux"]
linux["seccomp"] = {"defaultAction": rules["defaultAction"], "architectures": ["SCMP_ARCH_X86_64"], "syscalls": calls}
linux["namespaces"] = [it for it in linux["namespaces"] if it["type"] not in ("network", "cgroup")]
config["mounts"] = [it for it in config["mounts"] if it["type"] != "cgroup"]
json.dump(config, open("config.json", "w", encoding="utf-8"))
