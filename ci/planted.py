"""Writes a HAR in which every place that can hold a secret holds one, made up anew each time; prints the values."""
import base64, json, random, string, sys

dice = random.SystemRandom()


def word(length, letters=string.ascii_letters + string.digits):
    return "".join(dice.choice(letters) for _ in range(length))


def jwt():
    def part(it):
        return base64.urlsafe_b64encode(json.dumps(it).encode()).decode().rstrip("=")

    return ".".join([part({"alg": "HS256"}), part({"sub": word(12)}), word(43)])


made = {
    "cookie": word(32),
    "bearer": jwt(),
    "github": "ghp_" + word(36),
    "aws": "AKIA" + word(16, string.ascii_uppercase + string.digits),
    "slack": "xoxb-" + word(12, string.digits) + "-" + word(12, string.digits) + "-" + word(24),
    "stripe": "sk_live_" + word(24),
    "query": word(40),
    "form": word(20),
    "field": word(40),
    "set": word(32),
    "hidden": word(30),
    "basic": word(16),
    # Told by what stands around them alone.
    "magic": word(32),
    "reset": word(40, "0123456789abcdef"),
    "seed": word(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "recovery": word(10, string.ascii_lowercase + string.digits) + "7",
    "database": word(18),
    "command": word(14) + "-7!",
    "stored": word(36),
    "feed": word(32, "0123456789abcdef"),
    "column": word(32),
}
page = (
    f"<title>Shop</title><meta name=csrf-token content={made['hidden']}>"
    f"<script>var config = {{\"apiKey\": \"{made['stripe']}\", \"session\": \"{made['cookie']}\"}};</script>"
)
mails = [
    {"subject": "Sign in", "html": f"<p>Hello</p><a href=\"https://shop.example.com/login/magic/{made['magic']}\">Sign in</a>"},
    {"subject": "Reset", "text": f"Follow https://shop.example.com/reset?k={made['reset']} to reset your password."},
]
account = (
    f"<p>Scan the code with your authenticator app or type this key: <code>{made['seed']}</code></p>"
    f"<pre>curl -u ann:{made['command']} https://api.example.com/v1\n</pre>"
    f"<script>localStorage.setItem('jwt','{made['stored']}')</script>"
    f"<input readonly value='https://shop.example.com/u/{made['feed']}/feed.ics'>"
)
settings = f"PORT=8443\nDATABASE_URL=postgres://shop:{made['database']}@db.example.com/shop\n"
table = f"name,city,api_token\nAnna,Graz,{made['column']}\n"
hits = {"hits": [{"title": f"Lantern {i}", "price": i, "note": f"a good lantern, number {i}"} for i in range(12)]}
answer = {**hits, "auth": {"access_token": made["field"], "aws_access_key_id": made["aws"]}, "echo": made["bearer"]}
basic = base64.b64encode(f"user:{made['basic']}".encode()).decode()


def entry(method, url, mime, body, kind, data=None):
    headers = {
        "Cookie": f"sid={made['cookie']}",
        "Authorization": f"Bearer {made['bearer']}",
        "X-Api-Key": made["github"],
        "Proxy-Authorization": f"Basic {basic}",
    }
    back = {
        "Content-Type": mime,
        "Set-Cookie": f"next={made['set']}; HttpOnly",
        "Location": f"https://user:{made['basic']}@shop.example.com/?token={made['slack']}",
    }
    request = {"method": method, "url": url, "headers": [{"name": k, "value": v} for k, v in headers.items()]}
    if data:
        request["postData"] = {"mimeType": "application/x-www-form-urlencoded", "text": data}
    return {
        "startedDateTime": "2026-03-01T10:00:00.000Z",
        "time": 20,
        "_resourceType": kind,
        "request": request,
        "response": {
            "status": 200,
            "headers": [{"name": k, "value": v} for k, v in back.items()],
            "content": {"mimeType": mime, "size": len(body), "text": body},
        },
        "timings": {"send": 0, "wait": 10, "receive": 10},
    }


site = "https://shop.example.com"
entries = [
    entry("GET", f"{site}/api/mail", "application/json", json.dumps({"messages": mails, "recovery_codes": [made["recovery"]]}), "fetch"),
    entry("GET", f"{site}/account", "text/html", account, "fetch"),
    entry("GET", f"{site}/raw/.env", "text/plain", settings, "fetch"),
    entry("GET", f"{site}/users.csv", "text/csv", table, "fetch"),
    entry("GET", f"{site}/", "text/html", page, "document"),
    entry("POST", f"{site}/login", "application/json", "{}", "fetch", f"user=me&password={made['form']}"),
    entry("GET", f"{site}/api/search?q=lantern&api_key={made['query']}", "application/json", json.dumps(answer), "fetch"),
]
with open(sys.argv[1], "w") as file:
    json.dump({"log": {"version": "1.2", "creator": {"name": "planted", "version": "1"}, "entries": entries}}, file, indent=1)
print("\n".join([*made.values(), basic]))
