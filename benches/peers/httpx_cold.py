"""One call as a script would make it: a process, a request, an extraction, JSON out."""

import json
import sys

import httpx
import jmespath

method, url, host, body, expression = sys.argv[1:6]
headers = {"host": host, "accept": "application/json"}
with httpx.Client(headers=headers, follow_redirects=True) as client:
    answer = client.request(method, url, json=json.loads(body) if body else None)
answer.raise_for_status()
print(json.dumps(jmespath.search(expression, answer.json())))
