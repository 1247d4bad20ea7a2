"""A recording of the test web's shop, as a browser's export would hold it: shop_har.py FILE PORT. The page, the suggestions beside
it, and the search that carries the data."""

import http.client
import json
import sys

out, port = sys.argv[1], int(sys.argv[2])
entries = []


def get(path, kind, accept):
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Host": "shop.test", "Accept": accept}
    if kind == "fetch":
        headers["Referer"] = "http://shop.test/"
    link.request("GET", path, headers=headers)
    answer = link.getresponse()
    body = answer.read().decode()
    entries.append(
        {
            "startedDateTime": f"2026-11-20T10:00:0{len(entries)}.000Z",
            "time": 5,
            "_resourceType": kind,
            "request": {
                "method": "GET",
                "url": f"http://shop.test{path}",
                "httpVersion": "HTTP/1.1",
                "headers": [{"name": k, "value": v} for k, v in headers.items()],
            },
            "response": {
                "status": answer.status,
                "headers": [{"name": k, "value": v} for k, v in answer.getheaders()],
                "content": {"mimeType": answer.getheader("content-type", ""), "text": body, "size": len(body)},
            },
        }
    )


get("/", "document", "text/html")
get("/api/suggest?q=lantern", "fetch", "*/*")
get("/api/search?q=lantern", "fetch", "*/*")
with open(out, "w", encoding="utf-8") as file:
    json.dump({"log": {"version": "1.2", "creator": {"name": "ci/packages", "version": "1"}, "entries": entries}}, file)
