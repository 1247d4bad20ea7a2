"""A HAR of a small shop: ids of every kind in paths, words beside them, operations at one address, and secrets in every place."""

import json
import random
import string

dice = random.Random(7)


def word(length, letters=string.ascii_letters + string.digits):
    return "".join(dice.choice(letters) for _ in range(length))


def uuid():
    return "-".join(word(it, "0123456789abcdef") for it in (8, 4, 4, 4, 12))


def har():
    """The HAR, and the secrets in it."""
    secrets = {name: word(32) for name in ("cookie", "bearer", "key", "query", "csrf", "answer", "form", "field")}
    secrets["github"] = "ghp_" + word(36)
    entries = []

    def add(method, url, answer, status=200, sent=None, mime="application/json", sent_mime="application/json", host="shop.test"):
        headers = {
            "Authorization": f"Bearer {secrets['bearer']}",
            "Cookie": f"session_id={secrets['cookie']}; theme=dark",
            "X-Api-Key": secrets["key"],
            "X-Csrf-Token": secrets["csrf"],
        }
        request = {
            "method": method,
            "url": f"https://{host}{url}",
            "httpVersion": "HTTP/1.1",
            "headers": [{"name": k, "value": v} for k, v in headers.items()],
            "cookies": [{"name": "session_id", "value": secrets["cookie"]}, {"name": "theme", "value": "dark"}],
            "queryString": [],
            "headersSize": -1,
            "bodySize": -1,
        }
        if sent is not None:
            text = sent if isinstance(sent, str) else json.dumps(sent)
            request["headers"].append({"name": "Content-Type", "value": sent_mime})
            request["postData"] = {"mimeType": sent_mime, "text": text}
        text = "" if answer is None else answer if isinstance(answer, str) else json.dumps(answer)
        entries.append({
            "startedDateTime": f"2026-03-01T10:00:{len(entries) % 60:02}.000Z",
            "time": 20,
            "_resourceType": "fetch",
            "request": request,
            "response": {
                "status": status,
                "statusText": "OK",
                "httpVersion": "HTTP/1.1",
                "headers": [{"name": "Content-Type", "value": mime}],
                "cookies": [],
                "redirectURL": "",
                "headersSize": -1,
                "bodySize": len(text),
                "content": {"mimeType": mime, "size": len(text), "text": text},
            },
            "cache": {},
            "timings": {"send": 1, "wait": 18, "receive": 1},
        })

    def user(i):
        return {"id": i, "name": f"User {i}", "mail": f"u{i}@shop.test", "joined": "2024-05-01T10:00:00Z", "plan": {"name": "free", "seats": 1}, "tags": ["a"], "manager": None if i % 2 else 3}

    def issue(i):
        return [{"number": i, "title": f"Issue {i}", "state": "open", "by": {"login": "ann", "id": 1}, "labels": [{"name": "bug"}], "at": "2024-05-01T10:00:00Z"}]

    for i in (12, 57, 901):
        add("GET", f"/api/users/{i}", user(i))
        add("GET", f"/api/users/{i}/orders?page=1&limit=20", {"orders": [{"id": i * 10, "total": 2.5, "at": "2026-01-01"}], "next": None})
    add("GET", "/api/users/me", {"user": user(1), "permissions": ["buy"], "session": {"access_token": secrets["answer"]}})
    add("GET", "/api/users/77", {"error": "no such user"}, status=404)
    add("DELETE", "/api/users/57", None, status=204, mime="")
    for _ in range(3):
        item = uuid()
        add("GET", f"/api/items/{item}?currency=EUR", {"id": item, "price": 2.5, "stock": 3, "sizes": [{"name": "S", "left": 1}]})
        add("GET", f"/api/items/{item}/reviews", {"reviews": [{"stars": 5, "text": "good", "by": 12}]})
    for q in ("lamp", "brass lamp"):
        add("GET", f"/api/items/search?q={q.replace(' ', '+')}&sort=price&tag=a&tag=b&api_key={secrets['query']}", {"hits": [{"id": uuid(), "score": 1.5}], "total": 1})
    for slug in ("on-brass-lamps", "a-day-in-the-shop", "why-oak"):
        add("GET", f"/api/articles/{slug}", {"slug": slug, "title": "A", "body": "b", "author": {"name": "Ann"}, "published": "2026-01-01"})
    add("GET", "/api/articles/latest", {"articles": [{"slug": "why-oak"}], "page": 1})
    for owner, repo in (("torvalds", "linux"), ("rust-lang", "rust"), ("ann", "lamps")):
        add("GET", f"/api/repos/{owner}/{repo}/issues?state=open", issue(3))
    for day in ("2026-03-01", "2026-03-02"):
        add("GET", f"/api/days/{day}", {"day": day, "sold": 5})
    add("GET", "/api/2/search?q=x", {"results": []})
    for i in (1, 2, 3):
        add("GET", f"/files/{word(22)}.json", {"file": i, "size": 10})
    for i in (1, 2):
        add("POST", "/api/orders", {"id": i, "total": 3.0}, sent={"items": [{"id": uuid(), "count": i}], "note": None, "card_token": secrets["field"]})
    add("PUT", "/api/orders/31", {"id": 31, "total": 3}, sent={"note": "x"})
    for name, field, more in (("GetUser", "user", 1), ("GetUser", "user", 2), ("Search", "hits", 1), ("AddToCart", "cart", 1)):
        kind = "mutation" if name == "AddToCart" else "query"
        add("POST", "/graphql", {"data": {field: user(more)}}, sent={"operationName": name, "query": f"{kind} {name}($id: Int) {{ {field}(id: $id) {{ id name }} }}", "variables": {"id": more}})
    for method, result in (("getBlock", {"hash": word(64, "0123456789abcdef")}), ("getBalance", 12)):
        add("POST", "/rpc", {"jsonrpc": "2.0", "id": 1, "result": result}, sent={"jsonrpc": "2.0", "id": 1, "method": method, "params": [1]})
    add("GET", "/api.php?action=query&titles=Lamp", {"query": {"pages": [{"id": 1, "title": "Lamp", "links": ["a"]}]}})
    add("GET", "/api.php?action=parse&page=Lamp", {"parse": {"text": "<p>", "sections": [{"line": "a", "index": 1}]}, "warnings": None})
    add("POST", "/upload", {"ok": True, "url": "https://shop.test/f/1"}, sent=f"--xx\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n{secrets['form']}\r\n--xx\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\n\r\nbytes\r\n--xx--\r\n", sent_mime="multipart/form-data; boundary=xx")
    add("GET", "/export/orders.csv", "a,b\n1,2\n", mime="text/csv")
    add("GET", "/api/items/search?q=lamp", {"other": [1, 2, 3]}, host="api.shop.test")
    add("GET", "/prices", {"EUR": 1.0, "USD": 1.1, "note": secrets["github"]}, host="api.shop.test")
    # No data: a page, a picture, a tracker, a preflight.
    add("GET", "/", "<html><p>Shop</p></html>", mime="text/html")
    entries[-1]["_resourceType"] = "document"
    add("GET", "/logo.png", "x", mime="image/png")
    add("POST", "/g/collect?v=2", None, status=204, sent={"seen": 1}, mime="", host="www.google-analytics.com")
    add("OPTIONS", "/api/orders", None, status=204, mime="")
    return {"log": {"version": "1.2", "creator": {"name": "made", "version": "1"}, "pages": [], "entries": entries}}, list(secrets.values())


if __name__ == "__main__":
    print(json.dumps(har()[0]))
