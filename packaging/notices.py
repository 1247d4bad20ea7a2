"""The licences of all that is compiled into the program, from `cargo metadata` on standard input: who redistributes the program
hands them on. A licence that several crates have word for word is written once, under their names."""

import json
import os
import re
import sys

metadata = json.load(sys.stdin)
packages = {it["id"]: it for it in metadata["packages"]}
nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]
ours = set(metadata["workspace_members"])

# C that is compiled in, below its crate; `None`: nothing has to be said, and this is why.
BUNDLED = {"zstd-sys": "zstd/LICENSE", "libsqlite3-sys": None}
# Crates without the file, and one of the same authors and licence that has it.
SAME = {"alloc-stdlib": "alloc-no-stdlib", "selectors": "cssparser"}
FILES = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)([-_.].*)?$")
# Where a crate leaves the choice, the first of these that it offers is taken.
CHOICE = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib"]
MIT = open("LICENSE-MIT", encoding="utf-8").read()
PERMISSION = MIT[MIT.index("Permission is hereby granted") :]


def texts(package):
    """The files of one crate, by name. Of `MIT OR Apache-2.0`, only the one that was chosen."""
    like = SAME.get(package["name"], package["name"])
    folder = next(os.path.dirname(it["manifest_path"]) for it in (package, *packages.values()) if it["name"] == like)
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if FILES.match(name) and os.path.isfile(path):
            found[name] = open(path, encoding="utf-8", errors="replace").read().strip()
    if BUNDLED.get(package["name"]):
        found[BUNDLED[package["name"]]] = open(os.path.join(folder, BUNDLED[package["name"]]), encoding="utf-8").read().strip()
    offered = re.split(r" OR |/", package["license"] or "")
    chosen = next((it for it in CHOICE if it in offered), None)
    mark = {"MIT": "mit", "Apache-2.0": "apache"}.get(chosen)
    of_it = {name: text for name, text in found.items() if mark and mark in name.lower()}
    others = {name: text for name, text in found.items() if re.match(r"(?i)(notice|copyright)|.*/", name)}
    return {**of_it, **others} if of_it else found


seen, todo = set(), [root]
while todo:
    id = todo.pop()
    if id not in seen:
        seen.add(id)
        todo += [it["pkg"] for it in nodes[id]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]

alike, bare = {}, []
for id in sorted(seen - ours, key=lambda it: (packages[it]["name"], packages[it]["version"])):
    package = packages[id]
    label = f"{package['name']} {package['version']} ({package['license']})"
    files = texts(package)
    if not files:
        bare.append(label)
        if "MIT" in re.split(r" OR |/", package["license"] or ""):
            files = {"": f"Copyright (c) {', '.join(re.sub(' <.*', '', it) for it in package['authors']) or 'the authors of ' + package['name']}\n\n{PERMISSION}"}
    for text in files.values():
        key = " ".join(text.split())
        alike.setdefault(key, (text, []))[1].append(label)

print("commis is under the MIT licence or the Apache licence 2.0, as you choose. Compiled into the program are the libraries")
print("named below, each under the terms that follow its name, and Rust's standard library (MIT OR Apache-2.0). SQLite, which")
print("is among them, is in the public domain. The source of each is the crate of that name and version; nothing was changed.")
for text, labels in sorted(alike.values(), key=lambda it: it[1]):
    print("\n" + "-" * 100 + "\n")
    print("\n".join(dict.fromkeys(labels)))
    print("\n" + text)
unsaid = [it for it in bare if "MIT" not in it]
print(f"notices: {len(seen) - 1} libraries, {len(alike)} texts; without a file of their own: {len(bare)}", file=sys.stderr)
if unsaid:
    sys.exit(f"no text for {unsaid}")
