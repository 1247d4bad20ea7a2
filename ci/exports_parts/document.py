"""Requests made of an OpenAPI document and nothing else: examples, constants and defaults of what it declares."""

import json
import urllib.parse


def pick(schema, i):
    """A value that the schema names."""
    if "const" in schema:
        return schema["const"]
    if schema.get("examples"):
        return schema["examples"][min(i, len(schema["examples"]) - 1)]
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][min(i, len(schema["enum"]) - 1)]
    if "prefixItems" in schema:
        return [pick(it, i) for it in schema["prefixItems"]]
    if schema.get("type") == "object":
        return {key: pick(it, i) for key, it in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        return []
    return None


def text(value):
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def requests(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield operation["x-commis-recipe"], lambda i, m=method, p=path, o=operation: made(document, m, p, o, i), operation


def made(document, method, path, operation, i):
    query, headers = [], {}
    for it in operation.get("parameters", []):
        examples = list(it.get("examples", {}).values())
        value = examples[min(i, len(examples) - 1)]["value"] if examples else pick(it["schema"], i)
        if value is None:
            if it["required"]:
                raise ValueError(f"nothing is said of {it['name']}")
            continue
        if it["in"] == "path":
            path = path.replace("{" + it["name"] + "}", urllib.parse.quote(text(value), safe=""))
        elif it["in"] == "query":
            query += [(it["name"], text(one)) for one in (value if isinstance(value, list) else [value])]
        else:
            headers[it["name"]] = text(value)
    body = None
    for kind, it in operation.get("requestBody", {}).get("content", {}).items():
        headers["content-type"] = kind
        value = pick(it["schema"], i)
        form = kind.startswith("application/x-www-form")
        body = urllib.parse.urlencode(value) if form else value if isinstance(value, str) else json.dumps(value)
    url = document["servers"][0]["url"] + path
    return method.upper(), url + ("?" + urllib.parse.urlencode(query) if query else ""), headers, body


def curl(request):
    method, url, headers, body = request
    out = ["curl", "--silent", "--show-error", "--fail-with-body", "--location", "--globoff", "--request", method]
    for name, value in headers.items():
        out += ["--header", f"{name}: {value}"]
    return out + (["--data-raw", body] if body is not None else []) + [url]
