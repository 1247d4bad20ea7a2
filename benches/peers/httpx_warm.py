"""Calls as a long-lived process would make them: one client, kept connections, a compiled expression.

Reads lines of {method, url, host, body, expression, n}; answers each with the microseconds of n calls.
"""

import json
import sys
import time

import httpx
import jmespath

with httpx.Client(headers={"accept": "application/json"}, follow_redirects=True) as client:
    for line in sys.stdin:
        ask = json.loads(line)
        expression = jmespath.compile(ask["expression"])
        headers = {"host": ask["host"]}
        took = []
        for _ in range(ask["n"]):
            start = time.perf_counter()
            answer = client.request(ask["method"], ask["url"], headers=headers, json=ask["body"])
            answer.raise_for_status()
            assert expression.search(answer.json())
            took.append((time.perf_counter() - start) * 1e6)
        print(json.dumps(took), flush=True)
