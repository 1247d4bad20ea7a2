"""The folders of the npm packages: npm_packages.py FOLDER TARGET=PROGRAM…, names and systems from platforms.json."""

import json
import pathlib
import shutil
import subprocess
import sys

out, given = pathlib.Path(sys.argv[1]), dict(it.split("=", 1) for it in sys.argv[2:])
packages = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]))["packages"]
crate = next(it for it in packages if it["name"] == "commis")
platforms = [it for it in json.load(open("packaging/platforms.json", encoding="utf-8")) if "later" not in it]
unknown = set(given) - {it["target"] for it in platforms}
if unknown:
    sys.exit(f"no such system in platforms.json: {', '.join(sorted(unknown))}")


def name(it):
    return f"{crate['name']}-{it['os']}-{it['cpu']}"


def write(folder, package, files):
    folder.mkdir(parents=True)
    common = {
        "version": crate["version"],
        "description": crate["description"],
        "license": f"({crate['license']})",
        "keywords": crate["keywords"],
    }
    if crate["repository"]:
        common["repository"] = {"type": "git", "url": f"git+{crate['repository']}.git"}
    (folder / "package.json").write_text(json.dumps({**package, **common}, indent=2) + "\n", encoding="utf-8")
    for it in ["LICENSE-MIT", "LICENSE-APACHE", *files]:
        shutil.copy(it, folder)


write(
    out / crate["name"],
    {
        "name": crate["name"],
        "bin": {crate["name"]: "launch.js"},
        "files": ["launch.js", "LICENSE-*"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {name(it): crate["version"] for it in platforms},
    },
    ["README.md", "packaging/launch.js"],
)
for it in platforms:
    if it["target"] in given:
        folder = out / name(it)
        package = {
            "name": name(it),
            "os": [it["os"]],
            "cpu": [it["cpu"]],
            "files": ["bin", "LICENSE-*", "THIRD-PARTY.txt"],
            "preferUnplugged": True,
        }
        if "libc" in it:
            package["libc"] = [it["libc"]]
        write(folder, package, ["THIRD-PARTY.txt"])
        (folder / "README.md").write_text(
            f"The program of `{crate['name']}` for {it['target']}. Install `{crate['name']}`, which takes the package that fits.\n", encoding="utf-8"
        )
        (folder / "bin").mkdir()
        program = pathlib.Path(given[it["target"]])
        for file in [program, program.with_name("commis-core")]:
            shutil.copy(file, folder / "bin" / file.name)
            (folder / "bin" / file.name).chmod(0o755)
