"""Calls functions of an exported client, as drive.mjs does: `drive.py CLIENT < calls`."""

import importlib.util
import inspect
import json
import os
import socket
import sys

port = os.environ.get("COMMIS_TEST_WEB")
connect = socket.create_connection


def to_test_web(address, *args, **more):
    if port and address[0].endswith(".test"):
        address = ("127.0.0.1", int(port))
    return connect(address, *args, **more)


socket.create_connection = to_test_web
def called(function, given):
    """The arguments as the code calls them, where a name means something in the language."""
    names = inspect.signature(function).parameters
    free = lambda it: next(name for name in (it, f"{it}_", f"p{it}") if name in names)
    return function(**{free(name): value for name, value in given.items()})


spec = importlib.util.spec_from_file_location("client", sys.argv[1])
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
ask, out = client._ask, []
for it in json.load(sys.stdin):
    asked = []
    if it.get("answers"):
        answers = list(it["answers"])

        def instead(method, url, query, headers, body, hosts, key=None):
            text = client._query(query)
            asked.append({
                "url": url + ("?" + text if text else ""),
                "method": method,
                "headers": headers,
                "body": body.decode() if body is not None else None,
            })
            return answers.pop(0)

        client._ask = instead
    else:
        client._ask = ask
    try:
        out.append({"data": called(getattr(client, it["function"]), it["given"]), "asked": asked})
    except Exception as err:
        out.append({"error": f"{type(err).__name__}: {err}", "asked": asked})
json.dump(out, sys.stdout)
