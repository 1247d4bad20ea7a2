"""What dist's workflow lacks, put into it: pinned.py FILE. Each change has to find its place, so a newer dist is seen here."""

import re
import sys

path = sys.argv[1]
text = open(path, encoding="utf-8").read()


def change(old, new, times=1):
    global text
    found = len(re.findall(old, text, re.M))
    if found != times:
        sys.exit(f"{found} times, not {times}, in what dist wrote: {old}")
    text = re.sub(old, lambda it: it.expand(new), text, flags=re.M)


# A pinned package of an index, instead of a script that is piped to a shell.
change(
    r" *# we specify bash to get pipefail.*\n.*\n *shell: bash\n *run: \"curl .*\"\n",
    r"        run: |\n          pipx install astral-dev-toolchain-cargo-dist==0.33.0\n          install -D \"$(pipx environment --value PIPX_LOCAL_VENVS)/astral-dev-toolchain-cargo-dist/bin/dist\" ~/.cargo/bin/dist\n".replace(r"\"", '"'),
)
# Nothing is allowed that a job does not need.
change(r'^permissions:\n  "contents": "write"$', "permissions: {}")
change(r'^  plan:\n    runs-on: (.*)$', r'  plan:\n    permissions:\n      "contents": "write" # a draft of the release\n    runs-on: \1')
change(r'^  build-global-artifacts:$', '  build-global-artifacts:\n    permissions:\n      "contents": "read"')
change(r'^  announce:$', '  announce:\n    permissions:\n      "contents": "read"')
change(r'^    secrets: inherit\n', "", 2)
# This repository's own files, at this commit.
change(r'uses: \./\.github', 'uses: $/.github', 2)
# A tag's name is data, also to a shell.
change(r'(?<=run: \|\n)( *)dist \$\{\{ (.*) \}\} --output-format=json > plan-dist', r'\1dist $STEPS --output-format=json > plan-dist')
change(r'(      - id: plan\n)', r"\1        env:\n          STEPS: ${{ (!github.event.pull_request && format('host --steps=create --tag={0}', github.ref_name)) || 'plan' }}\n")
change(r'\$\{\{ needs\.plan\.outputs\.tag-flag \}\}', "$TAG_FLAG", 2)
change(r'"\$\{\{ needs\.plan\.outputs\.tag \}\}"', '"$TAG"')
change(r'^      - id: (cargo-dist|host)\n', r'      - id: \1\n        env:\n          TAG_FLAG: ${{ needs.plan.outputs.tag-flag }}\n', 2)
change(r'^(          PRERELEASE_FLAG: .*)$', r'          TAG: "${{ needs.plan.outputs.tag }}"\n\1')
change(r'"notes\.txt"|\$RUNNER_TEMP/notes\.txt$', '"$RUNNER_TEMP/notes.txt"')
open(path, "w", encoding="utf-8").write(text)
