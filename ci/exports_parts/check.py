"""What ci/exports runs: see there."""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import jmespath
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

import circle
import document
import echo

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMMIS = os.environ["COMMIS"]
TOOLS = pathlib.Path(os.environ["TOOLS"])
FORMS = ["openapi", "arazzo", "curl", "hurl", "python", "typescript", "postman", "openai-tools", "mcp", "skill"]
READ = {"int": int, "float": float, "str": str, "bool": lambda it: it == "true"}


class Table:
    """What became of each form, and what was wrong."""

    def __init__(self):
        self.rows = {it: {"exported": 0, "run": 0, "equal": 0, "refused": {}, "validated": []} for it in FORMS}
        self.wrong = []

    def compare(self, form, name, got, want):
        self.rows[form]["run"] += 1
        if got == want:
            self.rows[form]["equal"] += 1
        else:
            self.fault(form, f"{name}: {json.dumps(got)[:200]} is not {json.dumps(want)[:200]}")

    def fault(self, form, what):
        self.wrong.append(f"{form}: {what}")

    def print(self):
        print(f"{'form':<14}{'exported':>9}{'run':>5}{'equal':>7}  refused, validated by")
        for form, it in self.rows.items():
            reasons = {}
            for name, why in it["refused"].items():
                reasons.setdefault(why, []).append(name)
            told = [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
            lines = told + [f"valid: {it}" for it in it["validated"]] or [""]
            print(f"{form:<14}{it['exported']:>9}{it['run']:>5}{it['equal']:>7}  {lines[0]}")
            for line in lines[1:]:
                print(" " * 37 + line)


class Web:
    """The test web, and how programs get there."""

    def __init__(self, folder):
        self.ca = str(folder / "ca.pem")
        self.process = subprocess.Popen(
            [COMMIS, "testbed", "serve", "--port", "0", "--ca", self.ca, "--until-eof"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.port = ""
        for line in self.process.stdout:
            if it := re.fullmatch(r"--test-host \*\.test=127\.0\.0\.1:(\d+)\n", line):
                self.port = it[1]
            if line.startswith("--test-ca"):
                break
        self.flags = ["--test-host", f"*.test=127.0.0.1:{self.port}", "--test-ca", self.ca]
        curl = folder / "curl"
        curl.mkdir()
        (curl / ".curlrc").write_text(f'connect-to = "::127.0.0.1:{self.port}"\ncacert = "{self.ca}"\n')
        self.env = {
            **os.environ,
            "CURL_HOME": str(curl),
            "SSL_CERT_FILE": self.ca,
            "REQUESTS_CA_BUNDLE": self.ca,
            "NODE_EXTRA_CA_CERTS": self.ca,
            "NODE_OPTIONS": f"--require {HERE / 'preload.cjs'}",
            "COMMIS_TEST_WEB": self.port,
        }

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def commis(home, *args):
    return subprocess.run([COMMIS, "--home", str(home), *map(str, args)], capture_output=True, text=True)


def examples(recipe):
    """Values of both examples, as text."""
    out = []
    for i in (0, 1):
        values = {}
        for it in recipe.get("parameters") or []:
            all_of = it.get("examples") or []
            if it["required"] or it.get("default") is not None:
                values[it["name"]] = all_of[min(i, len(all_of) - 1)] if all_of else it["default"]
        out.append(values)
    return out


def typed(recipe, values):
    kinds = {it["name"]: "str" if (it.get("constraints") or {}).get("map") else it["type"] for it in recipe.get("parameters") or []}
    return {name: READ[kinds[name]](text) for name, text in values.items()}


def params(values):
    return [it for name, text in values.items() for it in ("-p", f"{name}={text}")]


def draft(recipe):
    """The flag that a run of a draft needs."""
    return ["--draft"] if recipe["status"] == "draft" else []


def camel(name):
    first, *rest = name.split("-")
    return first + "".join(it[:1].upper() + it[1:] for it in rest)


def response_of(recipe):
    """How its last answer is read."""
    return recipe["response"] if "response" in recipe else recipe["steps"][-1]["response"]


def extracted(recipe, text):
    """The data as the recipe reads it out of a JSON answer."""
    data = json.loads(text, object_pairs_hook=lambda it: dict(sorted(it)))
    expression = response_of(recipe).get("extract")
    return jmespath.search(expression, data) if expression else data


def words(data):
    """Texts in data, for answers that only commis can read."""
    if isinstance(data, dict):
        return [it for value in data.values() for it in words(value)]
    if isinstance(data, list):
        return [it for value in data for it in words(value)]
    return [data] if isinstance(data, str) else []


def stands_in(data, page):
    flat = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)) + page
    shown = [it for it in words(data) if it.strip()]
    import html

    flat = html.unescape(flat)
    return sum(re.sub(r"\s+", " ", it) in flat for it in shown) >= 0.95 * len(shown) > 0


def exported(table, home, form, names, folder, extra=()):
    """Writes the form, and returns its folder; counts what was refused."""
    out = folder / form
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    done = commis(home, "recipe", "export", *names, "--as", form, "--out", f"{out}/", "--json", *extra)
    try:
        told = json.loads(done.stdout)
    except json.JSONDecodeError:
        table.fault(form, f"export failed: {done.stderr.strip()}")
        return out, set(names)
    refused = {it["name"]: it["why"] for it in told["refused"]}
    if bool(refused) != (done.returncode == 1):
        table.fault(form, f"exit code {done.returncode} with {len(refused)} refused")
    return out, refused


def driven(client, calls, env):
    """Calls functions of a client in a process of its own."""
    if client.suffix == ".py":
        command = [sys.executable, HERE / "drive.py", client]
    else:
        command = ["node", HERE / "drive.mjs", client]
    done = subprocess.run(list(map(str, command)), input=json.dumps(calls), capture_output=True, text=True, env=env)
    if done.returncode:
        return [{"error": done.stderr.strip()[-300:], "asked": []} for _ in calls]
    return json.loads(done.stdout)


def compiled(table, source, folder):
    """TypeScript, strictly, as JavaScript."""
    out = folder / "js"
    shutil.rmtree(out, ignore_errors=True)
    # Where the selector library is found.
    packages = folder / "node_modules"
    if not packages.exists():
        packages.symlink_to(TOOLS / "node_modules")
    project = folder / "tsconfig.json"
    project.write_text(json.dumps({
        # fetch is of lib.dom; no types of Node's.
        "compilerOptions": {
            "strict": True, "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "target": "es2022",
            "module": "es2022", "moduleResolution": "bundler", "lib": ["es2022", "dom"], "types": [], "outDir": str(out),
            "skipLibCheck": True,
        },
        "files": [str(source)],
    }))
    done = subprocess.run([str(TOOLS / "node_modules/.bin/tsc"), "--project", str(project)], capture_output=True, text=True)
    if done.returncode:
        table.fault("typescript", "tsc: " + done.stdout.strip()[:600])
        return None
    file = out / "commis_recipes.mjs"
    (out / "commis_recipes.js").rename(file)
    return file


def run_all(table, home, web, recipes, folder):
    names = sorted(recipes)
    want = {}
    for name in names:
        for i, values in enumerate(examples(recipes[name])):
            done = commis(home, "recipe", "run", name, *params(values), *draft(recipes[name]), *web.flags)
            want[name, i] = json.loads(done.stdout) if done.returncode == 0 else None
            needs_browser = (recipes[name].get("verification") or {}).get("requires_session")
            if want[name, i] is None and not needs_browser:
                table.fault("recipe run", f"{name}: {done.stderr.strip()[:200]}")
    for form in FORMS:
        out, refused = exported(table, home, form, names, folder)
        row = table.rows[form]
        row["refused"] = refused
        row["exported"] = len(names) - len(refused)
        kept = [it for it in names if it not in refused]
        globals()[f"run_{form.replace('-', '_')}"](table, home, web, recipes, kept, want, out, folder)


def one_by_one(table, home, form, recipes, names, folder):
    """Each recipe with the values of each example in its place."""
    for name in names:
        for i, values in enumerate(examples(recipes[name])):
            out, _ = exported(table, home, form, [name], folder / f"{name}-{i}", params(values))
            yield name, i, next(it for it in out.rglob("*") if it.is_file())


def judged(table, form, recipe, name, text, want):
    if response_of(recipe)["type"] == "html":
        table.compare(form, name, stands_in(want, text), True)
        return
    try:
        got = extracted(recipe, text)
    except (json.JSONDecodeError, jmespath.exceptions.JMESPathError) as err:
        got = f"{err}: {text[:200]}"
    table.compare(form, name, got, want)


def run_curl(table, home, web, recipes, names, want, out, folder):
    for name, i, file in one_by_one(table, home, "curl", recipes, names, folder):
        done = subprocess.run(["sh", str(file)], capture_output=True, text=True, env=web.env)
        if want[name, i] == [] and done.stdout == "[]\n":
            # Of an empty list nothing is asked.
            table.compare("curl", f"{name} {i}", [], want[name, i])
            continue
        judged(table, "curl", recipes[name], f"{name} {i}", done.stdout or done.stderr, want[name, i])


def run_hurl(table, home, web, recipes, names, want, out, folder):
    hurl = os.environ.get("HURL") or shutil.which("hurl")
    if not hurl:
        print("ci/exports: there is no hurl here; its files are not run", file=sys.stderr)
        return
    for name, i, file in one_by_one(table, home, "hurl", recipes, names, folder):
        flags = ["--connect-to", f"::127.0.0.1:{web.port}", "--cacert", web.ca, "--no-color"]
        done = subprocess.run([hurl, *flags, str(file)], capture_output=True, text=True)
        judged(table, "hurl", recipes[name], f"{name} {i}", done.stdout or done.stderr, want[name, i])


def run_python(table, home, web, recipes, names, want, out, folder):
    calls = [(name, i, values) for name in names for i, values in enumerate(examples(recipes[name]))]
    asked = [{"function": name.replace("-", "_"), "given": typed(recipes[name], values)} for name, _, values in calls]
    for (name, i, _), it in zip(calls, driven(out / "commis_recipes.py", asked, web.env)):
        table.compare("python", f"{name} {i}", it.get("data", it.get("error")), want[name, i])


def run_typescript(table, home, web, recipes, names, want, out, folder):
    client = compiled(table, out / "commis_recipes.ts", folder)
    if not client:
        return
    table.rows["typescript"]["validated"].append("tsc 5 --strict")
    calls = [(name, i, values) for name in names for i, values in enumerate(examples(recipes[name]))]
    asked = [{"function": camel(name), "given": typed(recipes[name], values)} for name, _, values in calls]
    for (name, i, _), it in zip(calls, driven(client, asked, web.env)):
        table.compare("typescript", f"{name} {i}", it.get("data", it.get("error")), want[name, i])


def run_postman(table, home, web, recipes, names, want, out, folder):
    newman = str(TOOLS / "node_modules/.bin/newman")
    for name, i, file in one_by_one(table, home, "postman", recipes, names, folder):
        report = file.with_suffix(".report")
        done = subprocess.run(
            [newman, "run", str(file), "--reporters", "json", "--reporter-json-export", str(report)],
            capture_output=True, text=True, env=web.env,
        )
        try:
            ran = json.loads(report.read_text())["run"]
            text = bytes(ran["executions"][0]["response"]["stream"]["data"]).decode()
            if ran["failures"]:
                table.fault("postman", f"{name}: {ran['failures'][0]['error']['message']}")
        except (OSError, KeyError, IndexError):
            text = (done.stdout + done.stderr)[-300:]
        judged(table, "postman", recipes[name], f"{name} {i}", text, want[name, i])


def run_openapi(table, home, web, recipes, names, want, out, folder):
    """By the document alone: the request is made of its parameters' examples and constants."""
    for file in sorted(out.glob("*.json")):
        it = json.loads(file.read_text())
        try:
            validate(it)
        except Exception as err:
            table.fault("openapi", f"{file.name}: {str(err)[:300]}")
        for name, request, operation in document.requests(it):
            for i in (0, 1):
                done = subprocess.run(document.curl(request(i)), capture_output=True, text=True, env=web.env)
                judged(table, "openapi", recipes[name], f"{name} {i}", done.stdout or done.stderr, want[name, i])
                content = operation["responses"]["200"]["content"]
                if "application/json" in content:
                    faults = list(Draft202012Validator(content["application/json"]["schema"]).iter_errors(json.loads(done.stdout)))
                    if faults:
                        table.fault("openapi", f"{name}: the answer is not as its schema says: {faults[0].message[:200]}")
        types = subprocess.run([str(TOOLS / "node_modules/.bin/openapi-typescript"), str(file), "-o", str(file.with_suffix(".d.ts"))], capture_output=True, text=True)
        if types.returncode:
            table.fault("openapi", f"{file.name}: openapi-typescript: {types.stderr[-300:]}")
    table.rows["openapi"]["validated"] += ["openapi-spec-validator 0.9", "openapi-typescript 7", "JSON Schema: every live answer"]


def run_arazzo(table, home, web, recipes, names, want, out, folder):
    """By the documents alone, as the runner reads them; inputs are the examples that the workflow names."""
    calls, asked = [], []
    for name in names:
        file = out / f"{name}.arazzo.json"
        workflow = json.loads(file.read_text())["workflows"][0]
        if not recipes[name].get("steps") and file.read_text().count('"type": "openapi"') > 1:
            table.fault("arazzo", f"{name}: one request, and more than one document")
        for i, values in enumerate(examples(recipes[name])):
            given = typed(recipes[name], values)
            inputs = {}
            for key, schema in workflow["inputs"]["properties"].items():
                picked = document.pick(schema, i)
                inputs[key] = given.get(key) if picked is None else picked
            calls.append((name, i, workflow["steps"][-1]["outputs"]["data"]))
            asked.append({"file": str(file), "workflow": workflow["workflowId"], "inputs": inputs})
    done = subprocess.run([sys.executable, str(HERE / "arazzo.py")], input=json.dumps(asked), capture_output=True, text=True, env=web.env)
    if done.returncode:
        table.fault("arazzo", f"the runner failed: {done.stderr[-300:]}")
        return
    for (name, i, place), it in zip(calls, json.loads(done.stdout)):
        data = it.get("data")
        if "error" in it or data is None:
            table.compare("arazzo", f"{name} {i}", it, want[name, i])
        elif isinstance(data, str) and place == "$response.body":
            judged(table, "arazzo", recipes[name], f"{name} {i}", data, want[name, i])
        elif place == "$response.body":
            judged(table, "arazzo", recipes[name], f"{name} {i}", json.dumps(data), want[name, i])
        else:
            table.compare("arazzo", f"{name} {i}", data, want[name, i])
    for file in sorted(it for it in out.glob("*.json") if not it.name.endswith(".arazzo.json")):
        try:
            validate(json.loads(file.read_text()))
        except Exception as err:
            table.fault("arazzo", f"{file.name}: {str(err)[:300]}")
    table.rows["arazzo"]["validated"].append("arazzo-runner 0.9; openapi-spec-validator 0.9")


def run_openai_tools(table, home, web, recipes, names, want, out, folder):
    for it in json.loads((out / "openai-tools.json").read_text()):
        function = it["function"]
        Draft202012Validator.check_schema(function["parameters"])
        recipe = recipes[function["name"]]
        for values in examples(recipe):
            Draft202012Validator(function["parameters"]).validate(typed(recipe, values))
    table.rows["openai-tools"]["validated"].append("JSON Schema: both examples")


def run_mcp(table, home, web, recipes, names, want, out, folder):
    for it in json.loads((out / "mcp-tools.json").read_text()):
        Draft202012Validator.check_schema(it["inputSchema"])
        Draft202012Validator.check_schema(it["outputSchema"])
        for i in (0, 1):
            if (data := want[it["name"], i]) is not None:
                table.rows["mcp"]["run"] += 1
                faults = list(Draft202012Validator(it["outputSchema"]).iter_errors({"data": data}))
                table.rows["mcp"]["equal"] += not faults
                for fault in faults[:1]:
                    table.fault("mcp", f"{it['name']}: {fault.message[:200]}")
    table.rows["mcp"]["validated"].append("JSON Schema: live data against outputSchema")


def run_skill(table, home, web, recipes, names, want, out, folder):
    for name in names:
        text = (out / name / "SKILL.md").read_text()
        front = yaml.safe_load(text.split("---\n")[1])
        if front["name"] != name or len(front["description"]) > 1024 or len(front["compatibility"]) > 500:
            table.fault("skill", f"{name}: its head is not as the format wants it")
        if want[name, 0] is None:
            continue
        for i, values in enumerate(examples(recipes[name])):
            line = next(it for it in text.splitlines() if it.startswith("    commis ")).strip()
            command = [re.sub("=VALUE$", lambda _, it=it: "=" + values[it.split("=")[0]], it) for it in shlex.split(line)[1:]]
            said = {it.split("=")[0] for it in command if "=" in it}
            given = params({key: text for key, text in values.items() if key not in said})
            answer = json.loads(commis(home, *command, *given, *draft(recipes[name]), *web.flags).stdout)
            table.compare("skill", f"{name} {i}", answer["data"], want[name, i])


def library(table, folder):
    """Recipes that come with commis: every form is valid, and code gives the recorded data of the recorded answers."""
    home = folder / "library"
    home.mkdir(mode=0o700)
    cases, recipes = {}, {}
    for file in sorted((ROOT / "src/recipe/library/cases").glob("*.json")):
        cases[file.stem] = json.loads(file.read_text())
        recipes[file.stem] = yaml.load((ROOT / f"src/recipe/library/{file.stem}.yaml").read_text(), yaml.BaseLoader)
        for it in recipes[file.stem].get("parameters") or []:
            it["required"] = it["required"] == "true"
    names = sorted(cases)
    outs = {form: exported(table, home, form, names, home / "out") for form in FORMS}
    for form, (_, refused) in outs.items():
        for name in refused:
            table.fault(form, f"library recipe {name} is refused: {refused[name]}")
    for file in outs["openapi"][0].glob("*.json"):
        try:
            validate(json.loads(file.read_text()))
        except Exception as err:
            table.fault("openapi", f"library {file.name}: {str(err)[:300]}")
    for file in outs["arazzo"][0].glob("*.json"):
        it = json.loads(file.read_text())
        try:
            if "arazzo" not in it:
                validate(it)
        except Exception as err:
            table.fault("arazzo", f"library {file.name}: {str(err)[:300]}")
    for file in outs["curl"][0].glob("*.sh"):
        if subprocess.run(["sh", "-n", str(file)]).returncode:
            table.fault("curl", f"{file.name} does not parse")
    if hurl := os.environ.get("HURL") or shutil.which("hurl"):
        # 2: it does not parse; 3: nobody is there.
        for file in outs["hurl"][0].glob("*.hurl"):
            done = subprocess.run([hurl, "--connect-to", "::127.0.0.1:1", str(file)], capture_output=True, text=True)
            if done.returncode != 3:
                table.fault("hurl", f"{file.name}: {done.stderr[:300]}")
    calls = [(name, side) for name in names for side in ("a", "b")]
    js = compiled(table, outs["typescript"][0] / "commis_recipes.ts", home)
    for form, client, called in [
        ("python", outs["python"][0] / "commis_recipes.py", lambda it: it.replace("-", "_")),
        ("typescript", js, camel),
    ]:
        if not client:
            continue
        asked = [
            {"function": called(name), "given": typed(recipes[name], cases[name][side]["values"]), "answers": [json.dumps(cases[name][side]["answer"])]}
            for name, side in calls
        ]
        for (name, side), it in zip(calls, driven(client, asked, dict(os.environ))):
            table.compare(form, f"library {name} {side}", it.get("data", it.get("error")), cases[name][side]["data"])
    table.rows["python"]["validated"].append(f"{len(calls)} recorded answers of the library")
    table.rows["typescript"]["validated"].append(f"{len(calls)} recorded answers of the library")
    for form in ("arazzo", "curl", "hurl", "openapi", "postman"):
        table.rows[form]["validated"].append(f"{len(names)} recipes of the library parse")


def asked_alike(table, folder):
    """What code asks for is what a run would: spellings, choices, defaults, what may be left out, hostile texts."""
    home = folder / "odd"
    (home / "recipes").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    cases = yaml.safe_load((HERE / "odd.yaml").read_text())
    for it in cases:
        (home / "recipes" / f"{it['recipe']['name']}.yaml").write_text(json.dumps(it["recipe"]))
    names = [it["recipe"]["name"] for it in cases]
    calls = [(it["recipe"], given) for it in cases for given in it["given"]]
    flags = ["--test-host", "*.test=127.0.0.1:1"]
    want = []
    for recipe, given in calls:
        done = commis(home, "recipe", "dry-run", recipe["name"], *params(given), "--json", *flags)
        if done.returncode:
            table.fault("recipe dry-run", f"{recipe['name']}: {done.stderr}")
            return
        want.append(json.loads(done.stdout))
    for form, called in [("python", lambda it: it.replace("-", "_")), ("typescript", camel)]:
        out, refused = exported(table, home, form, names, folder / "odd-out")
        for name in refused:
            table.fault(form, f"{name}: {refused[name]}")
        client = out / "commis_recipes.py" if form == "python" else compiled(table, out / "commis_recipes.ts", folder / "odd-out")
        if not client:
            continue
        asked = [{"function": called(recipe["name"]), "given": typed(recipe, given), "answers": ["{}"]} for recipe, given in calls]
        for (recipe, given), it, wanted in zip(calls, driven(client, asked, dict(os.environ)), want):
            got = it["asked"][-1] if it.get("asked") else {"url": it.get("error"), "body": None, "headers": {}, "method": ""}
            table.compare(form, f"{recipe['name']} {given}", seen(got), seen(wanted))
    received(table, home, calls, want, folder / "received")
    for (recipe, given), wanted in zip(calls, want):
        out, _ = exported(table, home, "curl", [recipe["name"]], folder / "odd-out", params(given))
        told = shlex.split((out / f"{recipe['name']}.sh").read_text(), comments=True)
        headers = dict(it.split(": ", 1) for flag, it in zip(told, told[1:]) if flag == "--header")
        body = next((it for flag, it in zip(told, told[1:]) if flag == "--data-raw"), None)
        got = {"url": told[-1], "headers": headers, "body": body, "method": "POST" if body is not None else "GET"}
        table.compare("curl", f"{recipe['name']} {given}", seen(got), seen(wanted))


def received(table, home, calls, want, folder):
    """The same of forms that send by themselves: what arrives at a server is what a run would send."""
    server = echo.Echo()
    curl = folder / "curl"
    curl.mkdir(parents=True)
    (curl / ".curlrc").write_text(f'connect-to = "::127.0.0.1:{server.port}"\n')
    env = {**os.environ, "CURL_HOME": str(curl), "NODE_OPTIONS": f"--require {HERE / 'preload.cjs'}", "COMMIS_TEST_WEB": str(server.port)}
    hurl = os.environ.get("HURL") or shutil.which("hurl")
    programs = {
        "curl": lambda file: ["sh", file],
        "hurl": lambda file: [hurl, "--connect-to", f"::127.0.0.1:{server.port}", file],
        "postman": lambda file: [str(TOOLS / "node_modules/.bin/newman"), "run", file],
    }
    for form, command in programs.items():
        if form == "hurl" and not hurl:
            continue
        for i, ((recipe, given), wanted) in enumerate(zip(calls, want)):
            out, refused = exported(table, home, form, [recipe["name"]], folder / str(i), params(given))
            if refused:
                table.rows[form]["refused"].update(refused)
                continue
            file = next(it for it in out.rglob("*") if it.is_file())
            done = subprocess.run(command(str(file)), capture_output=True, text=True, env=env)
            got = server.last()
            try:
                got = echo.meant(got, wanted)
            except ValueError as err:
                got = f"{err}: {got}"
            if not got or isinstance(got, str) or got["method"] == "":
                got = (done.stdout + done.stderr)[-300:]
            table.compare(form, f"{recipe['name']} {given}", got, echo.meant(wanted, wanted))
    server.end()


def seen(request):
    """Equal for servers: spaces and `~` are written in two ways."""
    body = request.get("body")
    try:
        body = json.loads(body)
    except (TypeError, json.JSONDecodeError):
        body = body and body.replace("%7E", "~").replace("*", "%2A")
    headers = {k.lower(): v for k, v in request["headers"].items() if k.lower() not in ("user-agent",)}
    url = request["url"].replace("%7E", "~").replace("*", "%2A")
    return {"method": request["method"], "url": url, "body": body or None, "headers": headers}


def main():
    parser = argparse.ArgumentParser(prog="ci/exports", description=__doc__)
    parser.add_argument("--home", help="recipes that were learned before; else manifests/quickstart.yaml is learned")
    args = parser.parse_args()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="commis-exports-") as it:
        folder = pathlib.Path(it)
        home = pathlib.Path(args.home) if args.home else folder / "home"
        if not args.home:
            home.mkdir(mode=0o700)
            learned = commis(home, "--testbed", "recipe", "learn-batch", "--manifest", ROOT / "manifests/quickstart.yaml")
            print(learned.stdout.strip().splitlines()[-2] if learned.stdout else learned.stderr, file=sys.stderr)
        for it in yaml.safe_load((HERE / "chains.yaml").read_text()):
            (home / "recipes" / f"{it['name']}.yaml").write_text(json.dumps(it))
        recipes = {it["name"]: it for it in json.loads(commis(home, "recipe", "list", "--source", "user", "--json").stdout)}
        recipes = {name: json.loads(commis(home, "recipe", "get", name, "--json").stdout) for name in recipes}
        if not recipes:
            print("ci/exports: no recipes", file=sys.stderr)
            return 3
        web = Web(folder)
        try:
            run_all(table, home, web, recipes, folder / "out")
            asked_alike(table, folder)
            library(table, folder)
            told = circle.round_trip(table, commis, home, web, folder)
        finally:
            web.end()
    table.print()
    print(told)
    for it in table.wrong:
        print("wrong:", it)
    return int(bool(table.wrong))


sys.path.insert(0, str(HERE))
sys.exit(main())
