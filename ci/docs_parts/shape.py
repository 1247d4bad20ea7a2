"""What holds for pages besides their links: the README is short, every page has one title, and says nothing of this machine."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
wrong = []
readme = (ROOT / "README.md").read_text(encoding="utf-8")
if readme.count("\n") > 150:
    wrong.append(f"README.md has {readme.count(chr(10))} lines, and 150 are enough")
for command in ("scripts/quickstart", "scripts/test"):
    if not re.search(rf"^{command} ", readme, re.M):
        wrong.append(f"README.md does not show {command}")
for page in sorted((ROOT / "docs").rglob("*.md")):
    text = page.read_text(encoding="utf-8")
    bare = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    titles = re.findall(r"^# ", bare, re.M)
    name = page.relative_to(ROOT)
    if len(titles) != 1 and "<!-- the text of " not in text:
        wrong.append(f"{name} has {len(titles)} titles")
    if bare.count("```"):
        wrong.append(f"{name} has code that does not end")
    for held in re.findall(r"(?<![~\w])/(?:root|work|home/(?!ada|commis)\w+)/\S*", text):
        wrong.append(f"{name} names a folder of a machine: {held}")
for it in wrong:
    print(it, file=sys.stderr)
sys.exit(1 if wrong else 0)
