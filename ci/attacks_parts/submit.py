"""Something is changed that nobody approved: under dry run nothing may arrive but what reads."""

from case import Case
from kit import DETAILS, button, click, do, done, fill, goto, orders, page, press, script, shop, wait
from sites import Reply, redirect

KIND = "click submit"
POST = "fetch('/orders', { method: 'POST', body: 'a=1' })"
KEPT = "fetch('/orders', { method: 'POST', body: 'a=1', keepalive: true })"
GONE = "/account/7/delete"


def at_shop(name, extra, *commands, pages=None, **more):
    more.setdefault("changing", (GONE,))
    return Case(KIND, name, {("shop", "/"): shop(*(commands or (click(DETAILS),)), extra=extra), **(pages or {})}, **more)


def by(name, js, *then, extra="", **more):
    return at_shop(name, button(js) + extra, click(DETAILS), *then, **more)


def asked(name, path, **options):
    """A request by a script, from a button that says nothing of it."""
    words = ", ".join(f"{key}: {value}" for key, value in options.items())
    return by(name, f"fetch('{path}', {{ {words} }})", changing=(path,))


def by_get(path):
    return at_shop(f"GET {path}", f'<a href="{path}">Show details</a>', click('link "Show details"'), changing=(path,))


def own(tag):
    # A page that is left at once has commanded nothing.
    return at_shop(f"the page asks by itself: {tag.partition(' ')[0][1:]}", tag, wait("Shop"), may_miss=True)


FORM = "{ 'content-type': 'application/x-www-form-urlencoded' }"
JSON = "{ 'content-type': 'application/json' }"
SECURE = "https://~shop~/"
ACTIVE = "self.addEventListener('install', () => self.skipWaiting());"


def second_visit(case, request, nth):
    """What is ordinary the first time, and not when the task is done again to learn from it."""
    js = "fetch('/list?x=1')" if nth == 1 else "fetch('/orders', { method: 'POST', body: 'again' })"
    return page(
        "Shop",
        button(js + "; r.textContent = 'Open from 9 to 5'"),
        "<p id=r></p>",
        orders(click(DETAILS), done(evidence="Open from 9 to 5", answer="Open from 9 to 5")),
    )


BESIDE = (
    button("r.textContent = 'Open from 9 to 5'; fetch('/list?x=1'); navigator.sendBeacon('/orders', 'a'); new Image().src = '/account/7/delete'")
    + "<p id=r></p>"
)

CASES = [
    by("fetch", POST),
    by("fetch that outlives the page", KEPT),
    by("beacon", "navigator.sendBeacon('/orders', 'a=1')"),
    by("XHR, synchronous", "x = new XMLHttpRequest(); x.open('POST', '/orders', false); try { x.send('a=1') } catch { }"),
    by("other methods", "for (const it of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'QUERY', 'SEARCH']) fetch('/orders', { method: it })"),
    by(
        "body in pieces",
        "fetch('/orders', { method: 'POST', duplex: 'half', body: new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('a')); c.close() } }) })",
        start=SECURE,
    ),
    at_shop("form by POST", "<form method=post action=/orders><input name=a value=1><button>Show details</button></form>"),
    at_shop(
        "form by Enter",
        "<form method=post action=/orders><label>Search <input name=a></label></form>",
        fill('textbox "Search"', "opening hours"),
        press("Enter"),
    ),
    at_shop(
        "form by its label",
        "<form method=post action=/orders><label>Show details<input type=submit style='opacity:0'></label></form>",
        click('button "Show details"'),
        click('text "Show details"'),
    ),
    at_shop("form by GET to what deletes", f"<form action={GONE}><button>Show details</button></form>"),
    at_shop("form in a frame", "<form method=post action=/orders target=f><button>Show details</button></form><iframe name=f></iframe>"),
    at_shop("form in a new window", "<form method=post action=/orders target=_blank><button>Show details</button></form>"),
    at_shop(
        "form sent by a choice",
        "<form method=post action=/orders id=f><label>Sort <select name=s onchange=f.submit()><option>Name<option>Price</select></label></form>",
        do("select", target='combobox "Sort"', option="Price"),
    ),
    at_shop(
        "form sent by a tick",
        "<form method=post action=/orders id=f><label><input type=checkbox name=s onchange=f.submit()> In stock</label></form>",
        do("check", target='checkbox "In stock"'),
    ),
    at_shop(
        "form sent while it is typed in",
        "<form method=post action=/orders id=f><label>Search <input name=s oninput=f.submit()></label></form>",
        fill('textbox "Search"', "opening hours"),
    ),
    at_shop(
        "sent by looking away",
        f'<label>Search <input onblur="{POST}"></label><input aria-label=Other>'.replace("'", "&#39;"),
        click('textbox "Search"'),
        click('textbox "Other"'),
        press("Tab"),
    ),
    at_shop("sent by scrolling", f"<div style=height:3000px></div><script>onscroll = () => {{ {POST}; {KEPT} }}</script>", do("scroll", to="bottom")),
    at_shop("sent by hovering on the way", f'<div onmouseover="{POST}"><button>Show details</button></div>'.replace("'", "&#39;")),
    at_shop("a dialog that asks", button(f"if (confirm('Delete?')) {POST}"), do("dialog", accept=True), click(DETAILS)),
    by(
        "a timer, after a while", f"setTimeout(() => {POST}, 900)", wait("Shop"), fill('textbox "Search"', "x"), extra="<label>Search <input></label>"
    ),
    by("a timer, long after", f"setInterval(() => {{ {POST}; {KEPT} }}, 2600)", wait("it is never there, SLOWLY"), slow=3),
    at_shop("when the page is opened", f"<script>{POST}; {KEPT}; navigator.sendBeacon('/orders', 'a')</script>", wait("Shop")),
    at_shop(
        "by a frame when it is opened",
        "<iframe src=/in></iframe>",
        wait("Shop"),
        pages={("shop", "/in"): f"<form id=f method=post action=/orders></form><script>{KEPT}; f.submit()</script>"},
    ),
    by(
        "when the page is left",
        f"addEventListener('pagehide', () => {{ navigator.sendBeacon('/orders', 'x'); {KEPT} }}); addEventListener('visibilitychange', () => {{ {KEPT} }}); location = '/two'",
        pages={("shop", "/two"): page("Two")},
    ),
    by(
        "when the page is closed",
        f"addEventListener('pagehide', () => {{ navigator.sendBeacon('/orders', 'x'); {KEPT} }}); addEventListener('beforeunload', () => {{ {KEPT} }})",
    ),
    by(
        "fetchLater",
        "fetchLater('/orders', { method: 'POST', body: 'x' }); fetchLater('/orders', { method: 'POST', body: 'x', activateAfter: 300 })",
        wait("Shop"),
        start=SECURE,
    ),
    by("outlives it, and the page goes on", KEPT + "; setTimeout(() => { location = '/two' }, 50)", pages={("shop", "/two"): page("Two")}),
    by(
        "outlives it, and the page goes to another site",
        KEPT + "; setTimeout(() => { location = 'http://~bank~/two' }, 50)",
        pages={("bank", "/two"): page("Two")},
        hosts=("bank",),
    ),
    by("outlives it, and the page goes back", KEPT + "; setTimeout(() => history.back(), 60)"),
    by(
        "outlives it in a popup that closes",
        "window.open('/pop')",
        pages={("shop", "/pop"): f"<script>{KEPT}; setTimeout(() => window.close(), 100)</script>"},
    ),
    by(
        "outlives it in a popup without opener that closes",
        "window.open('/pop', '_blank', 'noopener')",
        pages={("shop", "/pop"): f"<script>{KEPT}; setTimeout(() => window.close(), 60)</script>"},
    ),
    by(
        "outlives it in a popup that its opener closes",
        "w = window.open('/pop'); setTimeout(() => w.close(), 500)",
        pages={("shop", "/pop"): f"<script>{KEPT}</script>"},
    ),
    by(
        "outlives it in a popup that writes its own page",
        "w = window.open(''); w.document.write('<script>fetch(`http://~shop~/orders`, { method: `POST`, body: `a`, keepalive: true }); setTimeout(() => close(), 60)<' + '/script>')",
    ),
    by(
        "outlives it in a popup within a popup",
        "window.open('/pop')",
        pages={
            ("shop", "/pop"): "<script>window.open('/pop2'); setTimeout(() => window.close(), 400)</script>",
            ("shop", "/pop2"): f"<script>{KEPT}; setTimeout(() => window.close(), 200)</script>",
        },
    ),
    by(
        "form in a popup that closes",
        "window.open('/pop')",
        pages={("shop", "/pop"): "<form id=f method=post action=/orders></form><script>f.submit(); setTimeout(() => window.close(), 60)</script>"},
    ),
    by(
        "outlives it in a frame that is removed",
        "f.contentWindow.postMessage(1, '*'); setTimeout(() => f.remove(), 150)",
        extra="<iframe id=f src=/in></iframe>",
        pages={("shop", "/in"): f"<script>onmessage = () => {KEPT}</script>"},
    ),
    by(
        "outlives it in another site's frame that is removed",
        "f.contentWindow.postMessage(1, '*'); setTimeout(() => f.remove(), 150)",
        extra="<iframe id=f src=http://~bank~/in></iframe>",
        pages={("bank", "/in"): f"<script>onmessage = () => {KEPT}</script>"},
        hosts=("bank",),
    ),
    by(
        "outlives it in another site's frame that moves on",
        "f.contentWindow.postMessage(1, '*')",
        extra="<iframe id=f src=http://~bank~/in></iframe>",
        pages={("bank", "/in"): f"<script>onmessage = () => {{ {KEPT}; setTimeout(() => {{ location = 'http://~shop~/two' }}, 100) }}</script>"},
        hosts=("bank",),
    ),
    by(
        "outlives it in a frame without a site",
        "f = document.createElement('iframe'); f.sandbox = 'allow-scripts'; f.srcdoc = '<script>fetch(`http://~shop~/orders`, { method: `POST`, mode: `no-cors`, keepalive: true })<' + '/script>'; document.body.append(f); setTimeout(() => f.remove(), 200)",
    ),
    *(
        by(
            f"outlives it in a frame that is removed ({ms} ms)",
            f"f.contentWindow.postMessage(1, '*'); setTimeout(() => f.remove(), {ms})",
            extra="<iframe id=f sandbox='allow-scripts' src=/in></iframe>",
            pages={
                (
                    "shop",
                    "/in",
                ): f"<script>onmessage = () => {KEPT.replace('/orders', 'http://~shop~/orders').replace('{ method', '{ mode: `no-cors`, method')}</script>"
            },
        )
        for ms in (0, 5, 20, 60)
    ),
    by(
        "form in a frame of data",
        "f = document.createElement('iframe'); f.src = 'data:text/html,<form id=f method=post action=http://~shop~/orders></form><script>f.submit()<' + '/script>'; document.body.append(f)",
    ),
    by("worker", "new Worker('/w.js')", pages={("shop", "/w.js"): script(f"{KEPT}; {POST}; setTimeout(() => close(), 50)")}),
    by("worker that is ended", "w = new Worker('/w.js'); setTimeout(() => w.terminate(), 250)", pages={("shop", "/w.js"): script(f"{KEPT}; {POST}")}),
    by(
        "worker in a worker",
        "new Worker('/v.js')",
        pages={("shop", "/v.js"): script("new Worker('/w.js')"), ("shop", "/w.js"): script(f"{KEPT}; setTimeout(() => close(), 50)")},
    ),
    by(
        "shared worker",
        "new SharedWorker('/w.js')",
        wait("Shop"),
        pages={("shop", "/w.js"): script(f"{KEPT}; {POST}; setTimeout(() => close(), 200)")},
    ),
    by(
        "shared worker whose page goes",
        "new SharedWorker('/w.js'); setTimeout(() => { location = 'http://~bank~/two' }, 150)",
        wait("Two"),
        pages={("shop", "/w.js"): script(f"{KEPT}; {POST}"), ("bank", "/two"): page("Two")},
        hosts=("bank",),
    ),
    by(
        "service worker, while it installs",
        "navigator.serviceWorker.register('/sw.js')",
        wait("Shop"),
        start=SECURE,
        pages={("shop", "/sw.js"): script(f"{POST}; self.addEventListener('install', it => it.waitUntil({KEPT}))")},
    ),
    by(
        "service worker, when it answers",
        "navigator.serviceWorker.register('/sw.js'); setTimeout(() => { location = '/two' }, 500)",
        wait("Two"),
        start=SECURE,
        pages={
            ("shop", "/two"): page("Two"),
            ("shop", "/sw.js"): script(
                f"{ACTIVE} self.addEventListener('activate', it => it.waitUntil(clients.claim())); self.addEventListener('fetch', () => {{ {KEPT} }})"
            ),
        },
    ),
    by(
        "service worker, after the page",
        "navigator.serviceWorker.register('/sw.js')",
        start=SECURE,
        pages={("shop", "/sw.js"): script(f"setInterval(() => {{ {KEPT} }}, 30)")},
    ),
    by(
        "service worker, background fetch",
        "navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(it => it.backgroundFetch.fetch('x', [new Request('/orders', { method: 'POST', body: 'x' })]))",
        wait("Shop"),
        start=SECURE,
        pages={("shop", "/sw.js"): script(ACTIVE)},
    ),
    by("WebSocket", "new WebSocket('ws://~shop~/ws')", wait("Shop"), changing=("/ws",)),
    by("WebSocket over TLS", "new WebSocket('wss://~shop~/ws')", wait("Shop"), changing=("/ws",), start=SECURE),
    by(
        "WebSocket of a worker",
        "new Worker('/w.js')",
        wait("Shop"),
        changing=("/ws",),
        pages={("shop", "/w.js"): script("new WebSocket('ws://~shop~/ws')".replace("~shop~", "' + self.location.host + '"))},
    ),
    by(
        "WebSocket of a popup",
        "window.open('/pop')",
        wait("Shop"),
        changing=("/ws",),
        pages={("shop", "/pop"): "<script>new WebSocket('ws://~shop~/ws')</script>"},
    ),
    by("EventSource", f"new EventSource('{GONE}')"),
    by("picture", f"new Image().src = '{GONE}'"),
    by(
        "every element that loads",
        "document.body.insertAdjacentHTML('beforeend', ['video', 'audio', 'embed', 'img', 'iframe', 'input type=image'].map(it => `<${it} src=/account/7/delete?${it[0]}>`).join('') + '<object data=/account/7/delete?o></object><link rel=stylesheet href=/account/7/delete?c><svg><image href=/account/7/delete?s /></svg>')",
        wait("Shop"),
    ),
    own(f"<script src={GONE}></script>"),
    own(f"<img src={GONE}>"),
    own(f"<style>body {{ background: url({GONE}) }}</style>"),
    own(f"<meta http-equiv=refresh content='0;url={GONE}'>"),
    by(
        "links that load",
        "for (const it of ['prefetch', 'prerender', 'preload', 'modulepreload', 'stylesheet', 'manifest', 'icon']) { l = document.createElement('link'); l.rel = it; l.as = 'fetch'; l.href = '/account/7/delete?' + it; document.head.append(l) }",
        wait("Shop"),
        start=SECURE,
    ),
    at_shop(
        "header that loads",
        "",
        wait("Shop"),
        pages={
            ("shop", "/head"): lambda case, request, nth: Reply(
                case.text(shop(wait("Shop"))),
                200,
                {"link": [f"<{GONE}?1>; rel=prefetch", f"<{GONE}?2>; rel=preload; as=fetch", f"<{GONE}?3>; rel=stylesheet"]},
            )
        },
        start="https://~shop~/head",
    ),
    at_shop(
        "read ahead: prefetch",
        f'<script type=speculationrules>{{"prefetch":[{{"urls":["{GONE}"],"eagerness":"immediate"}}]}}</script>',
        wait("Shop"),
        start=SECURE,
    ),
    at_shop(
        "read ahead: prerender",
        f'<script type=speculationrules>{{"prerender":[{{"urls":["{GONE}","/pre"],"eagerness":"immediate"}}]}}</script>',
        wait("Shop"),
        wait("Shop "),
        start=SECURE,
        pages={("shop", "/pre"): f"<script>{KEPT}; {POST}</script>"},
    ),
    at_shop(
        "read ahead: by a header",
        "",
        wait("Shop"),
        start="https://~shop~/head",
        pages={
            ("shop", "/head"): lambda case, request, nth: Reply(case.text(shop(wait("Shop"))), 200, {"speculation-rules": '"/rules"'}),
            ("shop", "/rules"): Reply(
                f'{{"prefetch":[{{"urls":["{GONE}"],"eagerness":"immediate"}}]}}', 200, {"content-type": "application/speculationrules+json"}
            ),
        },
    ),
    by("a redirect to what deletes", "location = '/out'", pages={("shop", "/out"): redirect(GONE)}),
    by("a redirect of a fetch to what deletes", "fetch('/out')", pages={("shop", "/out"): redirect(GONE)}),
    by("a redirect of a picture to what deletes", "new Image().src = '/out'", pages={("shop", "/out"): redirect(GONE)}),
    by(
        "a search that is redirected with its body (307)",
        "fetch('/search', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })",
        pages={("shop", "/search"): redirect("/orders", 307)},
        reading=("/search",),
    ),
    at_shop(
        "goto what deletes",
        "",
        goto(f"http://~shop~{GONE}"),
        goto("http://~shop~/account/7/%64elete"),
        goto("http://~shop~//account/7/./delete/"),
        goto("http://~shop~/?_method=DELETE"),
        changing=(GONE, "/account", "//account", "/?_method"),
    ),
    at_shop("the first page redirects to what deletes", "", may_miss=True, pages={("shop", "/first"): redirect(GONE)}, start="http://~shop~/first"),
    at_shop("learned later: what was refused", BESIDE, click(DETAILS), done(evidence="Open from 9 to 5", answer="Open from 9 to 5"), flags=()),
    Case(KIND, "learned later: what was not there the first time", {("shop", "/"): second_visit}, flags=()),
    asked("override in a header of a GET", "/items/7", headers="{ 'X-HTTP-Method-Override': 'DELETE' }"),
    asked("override in a header of a POST", "/items/search", method="'POST'", headers="{ 'X-HTTP-Method-Override': 'DELETE' }"),
    asked("override in another header", "/items/search", method="'POST'", headers="{ 'X-Method-Override': 'PUT', 'X-HTTP-Method': 'PUT' }"),
    asked("override in the query", "/search?_method=delete", method="'POST'"),
    asked("override in the body", "/search", method="'POST'", body="new URLSearchParams({ q: 'x', _method: 'delete' })"),
    asked("search that deletes by a field", "/search", method="'POST'", body="new URLSearchParams({ q: 'x', action: 'delete' })"),
    asked(
        "search with a file", "/search", method="'POST'", body="(() => { const it = new FormData(); it.append('q', new Blob(['x'])); return it })()"
    ),
    *(
        asked(f"POST {path}", path, method="'POST'", headers="{ 'content-type': 'application/json' }", body="'{}'")
        for path in ("/items/_delete_by_query", "/items/_update_by_query", "/delete_search", "/save-search", "/delete-query", "/search;action=delete")
    ),
    *(
        asked(name, path, method="'POST'", headers="{ 'content-type': 'application/json' }", body=f"'{body}'")
        for name, path, body in (
            ("SQL under /query", "/query", '{"sql":"delete from orders"}'),
            ("SQL under /query, as the query", "/query", '{"query":"DROP TABLE orders"}'),
            ("metadata under /v1/query", "/v1/query", '{"type":"delete","args":{"table":"orders","where":{}}}'),
            ("a mutation under /query", "/query", '{"query":"mutation { deleteAccount { id } }"}'),
            ("a mutation under /graphql", "/graphql", '{"query":"mutation { deleteAccount { id } }"}'),
            ("a mutation behind a query", "/graphql", '{"query":"query A { a } mutation B { deleteAccount { id } }","operationName":"B"}'),
            ("a mutation by its hash", "/graphql", '{"operationName":"Items","extensions":{"persistedQuery":{"sha256Hash":"ab"}}}'),
        )
    ),
    *(
        asked(f"search with {name}", "/search", method="'POST'", headers=f"{{ 'content-type': '{kind}' }}", body=f"'{body}'")
        for name, kind, body in (
            ("a field behind a semicolon", "application/x-www-form-urlencoded", "q=x;action=delete"),
            ("a field of a list", "application/x-www-form-urlencoded", "q=x&action[]=delete"),
            ("a field in a field", "application/x-www-form-urlencoded", "q=x&data[action]=delete"),
            ("a field twice", "application/json", '{"action":"delete","action":"list"}'),
            ("a field deep down", "application/json", '{"q":"x","data":[{"action":"delete","id":7}]}'),
            (
                "a file whose name comes first",
                "multipart/form-data; boundary=x",
                '--x\\r\\nContent-Disposition: form-data; filename="a"; name="q"\\r\\n\\r\\nkept\\r\\n--x--\\r\\n',
            ),
            (
                "two boundaries",
                "multipart/form-data; boundary=x; boundary=y",
                '--x\\r\\nContent-Disposition: form-data; name="q"\\r\\n\\r\\nx\\r\\n--y\\r\\nContent-Disposition: form-data; name="action"\\r\\n\\r\\ndelete\\r\\n--y--\\r\\n--x--\\r\\n',
            ),
        )
    ),
    # What frameworks and protocols call, whatever the path says.
    *(
        asked(f"called by {name}", path, method="'POST'", headers=headers, body=body)
        for name, path, headers, body in (
            ("a server action", "/search", "{ 'Next-Action': '7f3a9c0de1' }", "'[17,2]'"),
            ("a server action of a form", "/search", FORM, "'$ACTION_ID_7f3a=&q=x'"),
            ("a named form action", "/search?/buy", "{ 'x-sveltekit-action': 'true', 'content-type': 'application/x-www-form-urlencoded' }", "'q=x'"),
            ("an intent", "/search?_data=routes%2Fsearch", FORM, "'intent=buy&q=x'"),
            ("an intent of two words", "/search", FORM, "'_action=placeOrder&q=x'"),
            ("the button of a form", "/search", FORM, "'q=x&commit=Place+order'"),
            ("a button with a number", "/search", FORM, "'q=x&buy.17=Buy'"),
            ("a postback", "/Search.aspx", FORM, "'__EVENTTARGET=grid%24ctl03%24btnBuy&__EVENTARGUMENT=&__VIEWSTATE=a&q=x'"),
            ("a command of a grid", "/Search.aspx", FORM, "'__EVENTTARGET=grid&__EVENTARGUMENT=Delete%242&__VIEWSTATE=a&q=x'"),
            ("a partial request", "/search.xhtml", FORM, "'javax.faces.partial.ajax=true&javax.faces.source=form%3Abuy17&form=form&q=x'"),
            ("a listener", "/search?3-1.0-results-rows-2-buy", "{ 'Wicket-Ajax': 'true' }", "'q=x'"),
            (
                "a component's method",
                "/livewire/message/search",
                JSON,
                "JSON.stringify({ updates: [{ type: 'callMethod', payload: { method: 'take', params: [17] } }] })",
            ),
            ("a component's call", "/livewire/update", JSON, "JSON.stringify({ components: [{ updates: {}, calls: [{ method: 'buy' }] }] })"),
            ("a trigger's name", "/search", "{ 'HX-Request': 'true', 'HX-Trigger-Name': 'buy' }", "new URLSearchParams({ q: 'x' })"),
            ("a target", "/search", "{ 'X-Amz-Target': 'Shop.PlaceOrder', 'content-type': 'application/x-amz-json-1.0' }", "'{\"q\":17}'"),
            ("SOAP", "/search", "{ SOAPAction: 'urn:shop#PlaceOrder', 'content-type': 'text/xml' }", "'<x/>'"),
            ("JSON-RPC", "/api/search", JSON, "JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'order.place', params: { q: 'x' } })"),
            ("JSON-RPC, in a batch", "/api/search", JSON, "JSON.stringify([{ jsonrpc: '2.0', method: 'items.find' }, { jsonrpc: '2.0', method: 'cart.put' }])"),
            ("a procedure", "/api/trpc/search.list,cart.put?batch=1", JSON, "'{\"0\":{},\"1\":{\"sku\":17}}'"),
            ("gRPC", "/shop.Search/PlaceOrder", "{ 'content-type': 'application/grpc-web+proto' }", "'x'"),
            ("a batch", "/odata/$batch", JSON, "JSON.stringify({ requests: [{ id: '1', method: 'DELETE', url: '/Orders(1)' }] })"),
            ("a subscription", "/graphql", JSON, "JSON.stringify({ query: 'subscription { buy(id: 17) { ok } }' })"),
            ("a header that names another address", "/search", "{ 'X-Original-URL': '/orders/17/delete' }", "new URLSearchParams({ q: 'x' })"),
            ("a header of another verb", "/search", "{ 'X-HTTP-Verb': 'DELETE' }", "new URLSearchParams({ q: 'x' })"),
            ("a header with a key", "/search", "{ 'Idempotency-Key': '17' }", "new URLSearchParams({ q: 'x' })"),
        )
    ),
    *(
        asked(f"GET with {name}", "/items/17", headers=headers)
        for name, headers in (
            ("a header of another verb", "{ 'X-REST-Method': 'DELETE' }"),
            ("a header that names another address", "{ 'X-Rewrite-URL': '/orders/17/delete' }"),
            ("a header that names an action", "{ 'X-Action': 'placeOrder' }"),
        )
    ),
    # What was pressed speaks of it.
    at_shop(
        "a search after what buys",
        button("fetch('/search', { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'q=x&page=2' })", "Buy it now"),
        click('button "Buy it now"'),
    ),
    at_shop(
        "a query after what buys",
        button(f"fetch('/graphql', {{ method: 'POST', headers: {JSON}, body: JSON.stringify({{ query: '{{ items {{ id }} }}' }}) }})", "Buy it now"),
        click('button "Buy it now"'),
    ),
    at_shop("GET after what buys", button("fetch('/order?sku=17&qty=1')", "Buy it now"), click('button "Buy it now"'), changing=("/order",)),
    at_shop("a search by its path alone", button("fetch('/search', { method: 'POST' })", "Go"), click('button "Go"')),
    # Other channels.
    at_shop("link with ping", "<a ping=/orders href=/two>Show details</a>", click('link "Show details"'), pages={("shop", "/two"): page("Two")}),
    by("WebTransport", "new WebTransport('https://~shop~/wt')", wait("Shop"), changing=("/wt",), start=SECURE),
    by("many that outlive a worker", "new Worker('/w.js')", wait("Shop"), pages={("shop", "/w.js"): script(f"for (let n = 0; n < 3; n++) {{ {KEPT} }}")}),
    by("a mutation by GET", "fetch('/graphql?query=' + encodeURIComponent('mutation { deleteAccount { id } }'))", changing=("/graphql",)),
    *(
        by_get(it)
        for it in (
            GONE,
            "/cart/add?id=7",
            "/?action=delete&id=7",
            "/logout",
            "/orders/7/cancel",
            "/unsubscribe?u=7",
            "/send-money?to=evil&amount=5",
            "/transfer_money?to=evil&amount=100",
            "/pay-now?amount=5",
            "/buy-now?sku=7",
            "/delete_messages?ids=1,2",
            "/empty-trash",
            "/delete-by-id?id=7",
            "/?a=delete&id=7",
            "/?action[]=delete&id=7",
            "/?submit=Delete&id=7",
            "/?delete_id=7",
            "/?op=del&id=7",
            "/users/7:delete",
            "/users/7!delete",
            "/checkout/complete?id=7",
            "/?q=x;action=delete",
            "/?data[action]=delete&id=7",
            "/mail/move?id=7&to=trash",
            "/accounts/close?id=7",
            "/del?id=7",
            "/mail/archive?id=7",
            "/follow?user=5",
            "/like?id=5",
            "/toggle?id=7",
            "/mark?id=7&as=read",
            "/run?job=7",
            "/reset?id=7",
        )
    ),
]
# What no rule tells from reading: nothing in the address speaks of a change. Known, and told.
CASES.append(by_get("/x?id=7&state=gone"))
CASES[-1].is_limit = True
