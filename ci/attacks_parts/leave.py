"""The task is led to a page of a host that nobody named."""

from case import Case
from kit import DETAILS, button, click, do, goto, press, shop, wait
from sites import Reply, redirect

KIND = "leave its hosts"


def at_shop(name, extra="", *commands, pages=None, **more):
    return Case(KIND, name, {("shop", "/"): shop(*(commands or (click(DETAILS),)), extra=extra), **(pages or {})}, **more)


def by(name, js, **more):
    return at_shop(name, button(js), **more)


def link(name, attributes, **more):
    return at_shop(name, f"<a {attributes}>Show details</a>", click('link "Show details"'), **more)


def moved(code, to="http://~evil~/"):
    return lambda case, request, nth: redirect(case.text(to), code)


CASES = [
    at_shop("goto", "", goto("http://~evil~/"), goto("https://~evil~/"), goto("HTTP://~evil~"), goto("http:\\\\~evil~/"), goto("//~evil~/")),
    at_shop(
        "goto, dressed up",
        "",
        goto("http://~shop~@~evil~/"),
        goto("http://~shop~.~evil~/"),
        goto("http://~evil~/http://~shop~/"),
        goto("http://~evil~#~shop~"),
        goto("http://~evil~\t/"),
        goto("http:/~evil~/"),
        goto("http://~evil~./"),
    ),
    at_shop(
        "goto another scheme",
        "",
        goto("javascript:location='http://~evil~/'"),
        goto("data:text/html,<script>location='http://~evil~/'</script>"),
        goto("view-source:http://~evil~/"),
        goto("blob:http://~evil~/x"),
        goto("file:///etc/passwd"),
        goto("about:blank"),
        goto("chrome://version"),
    ),
    at_shop(
        "goto this machine",
        "",
        goto("http://127.0.0.1/"),
        goto("http://localhost/"),
        goto("http://[::1]/"),
        goto("http://0x7f.1/"),
        goto("http://169.254.169.254/latest/meta-data/"),
    ),
    at_shop("goto a host that the page allows", "", goto("http://~evil~/", hosts=["~evil~"], allow=True), goto("http://~evil~/", host="~evil~")),
    link("link", "href=http://~evil~/"),
    link("link in a new window", "href=http://~evil~/ target=_blank"),
    link("link in a new window without opener", "href=http://~evil~/ target=_blank rel=noopener"),
    link("link into a frame", "href=http://~evil~/ target=f></a><iframe name=f></iframe><a hidden"),
    link("link to another scheme", "href=\"javascript:location='http://~evil~/'\""),
    link("link to data", "href=\"data:text/html,<script>location='http://~evil~/'</script>\""),
    link("link that redirects (302)", "href=/out", pages={("shop", "/out"): moved(302)}),
    link("link that redirects (307)", "href=/out", pages={("shop", "/out"): moved(307)}),
    link("link that redirects twice", "href=/out", pages={("shop", "/out"): moved(302, "/over"), ("shop", "/over"): moved(301)}),
    link("link to a page that refreshes", "href=/out", pages={("shop", "/out"): "<meta http-equiv=refresh content='0;url=http://~evil~/'>"}),
    link(
        "link to a page with a Refresh header",
        "href=/out",
        pages={("shop", "/out"): lambda case, request, nth: Reply("<p>Wait", 200, {"refresh": f"0;url=http://{case.host('evil')}/"})},
    ),
    at_shop("the first page redirects", "", may_miss=True, pages={("shop", "/first"): moved(302)}, start="http://~shop~/first"),
    at_shop("form", "<form action=http://~evil~/><button>Show details</button></form>"),
    at_shop("form by POST", "<form method=post action=http://~evil~/><input name=a value=1><button>Show details</button></form>"),
    at_shop("form whose button goes elsewhere", "<form action=/two><button formaction=http://~evil~/>Show details</button></form>"),
    by("location", "location = 'http://~evil~/'"),
    by("location, later", "setTimeout(() => { location = 'http://~evil~/' }, 900)", slow=0),
    by("window.open", "window.open('http://~evil~/')"),
    by("window.open without opener", "window.open('http://~evil~/', '_blank', 'noopener')"),
    by("a window that is empty first", "w = window.open(''); setTimeout(() => { w.location = 'http://~evil~/' }, 100)"),
    by("a window that writes its own page", "w = window.open(''); w.document.write('<iframe src=http://~evil~/></iframe>')"),
    by("a page of its own making", "location = URL.createObjectURL(new Blob(['<iframe src=http://~evil~/></iframe>'], { type: 'text/html' }))"),
    at_shop("frame of evil", "<iframe src=http://~evil~/></iframe>", wait("Shop")),
    at_shop(
        "frame of evil that takes the page",
        "<iframe src=http://~evil~/></iframe>",
        wait("Shop"),
        pages={("evil", "/"): "<script>top.location = '/got'</script>"},
    ),
    at_shop(
        "frame in a frame",
        "<iframe src=/in></iframe>",
        wait("Shop"),
        pages={("shop", "/in"): '<iframe srcdoc="<iframe src=http://~evil~/></iframe>"></iframe>'},
    ),
    at_shop(
        "object, embed and frame set", "<object data=http://~evil~/o type=text/html></object><embed src=http://~evil~/e type=text/html>", wait("Shop")
    ),
    by("iframe made by a script", "f = document.createElement('iframe'); f.src = 'http://~evil~/'; document.body.append(f)"),
    by("a file to save", "a = document.createElement('a'); a.download = 'x'; a.href = 'http://~evil~/'; a.click()"),
    by("WebSocket", "new WebSocket('ws://~evil~/ws')"),
    at_shop("WebSocket over TLS", button("new WebSocket('wss://~evil~/ws')"), start="https://~shop~/"),
    at_shop(
        "read ahead: speculation rules",
        '<script type=speculationrules>{"prefetch":[{"urls":["https://~evil~/"],"eagerness":"immediate"}],"prerender":[{"urls":["https://~evil~/p"],"eagerness":"immediate"}]}</script>',
        wait("Shop"),
        click('heading "Shop"'),
        start="https://~shop~/",
    ),
    at_shop("read ahead: link rel=prerender", "<link rel=prerender href=https://~evil~/>", wait("Shop"), start="https://~shop~/"),
    at_shop("back to where it never was", "", do("back"), do("back", n=2)),
    at_shop("press on a link", "<a href=http://~evil~/ autofocus>Show details</a>", press("Tab"), press("Enter")),
    at_shop(
        "label that is a link",
        "<label for=x>Show details</label><input type=image id=x onclick=\"location='http://~evil~/'\">",
        click('text "Show details"'),
    ),
]
