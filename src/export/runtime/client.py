_GUARDS = (")]}',", ")]}'", ")]}", "for(;;);", "for (;;);", "while(1);", "while (1);", "&&&START&&&", "{}&&", "{} &&")
_ABSENT = object()


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, hosts, keyed):
        self.hosts, self.keyed = hosts, keyed

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        # A key is for its origin alone, and nothing is asked of a host that the recipe does not name.
        if self.keyed or urllib.parse.urlsplit(newurl).hostname not in self.hosts:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _ask(method, url, query, headers, body, hosts, key=None):
    """The answer's text. `urllib.error.HTTPError` where the site refuses."""
    pairs, headers = list(query), {"user-agent": "commis-export", **headers}
    if key is not None:
        place, name, value = key
        if place == "query":
            pairs.append((name, value))
        else:
            headers[name] = value
    text = _query(pairs)
    request = urllib.request.Request(url + ("?" + text if text else ""), body, headers, method=method)
    opener = urllib.request.build_opener(_Redirects(hosts, key is not None))
    with opener.open(request, timeout=30) as answer:
        return _decoded(answer.read(), answer.headers.get_content_charset(), answer.headers.get_content_type())


def _decoded(data, charset, kind):
    head = data[:1024].lower()
    if charset is None and "html" in kind and b"charset=" in head:
        charset = head.split(b"charset=", 1)[1].strip(b"\"' ").split(b'"')[0].split(b"'")[0].split(b">")[0].strip(b"/ ").decode("ascii", "replace")
    try:
        text = data.decode(charset or "utf-8", "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.removeprefix("\ufeff")


def _query(pairs):
    out = []
    for name, value, *raw in pairs:
        if value is None:
            continue
        safe = raw[0] if raw else ""
        quote = urllib.parse.quote if " " in safe else urllib.parse.quote_plus
        safe = safe.replace(" ", "")
        out.append(quote(name, safe=safe.replace("=", "")) + "=" + quote(value, safe=safe))
    return "&".join(out)


def _form(pairs):
    return _query(pairs).encode()


def _json_body(value):
    return json.dumps(_kept(value), ensure_ascii=False, separators=(",", ":")).encode()


def _kept(value):
    """Without what was not given."""
    if isinstance(value, dict):
        return {key: _kept(it) for key, it in value.items() if it is not _ABSENT}
    if isinstance(value, list):
        return [_kept(it) for it in value if it is not _ABSENT]
    return value


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _segment(text):
    if text in ("", ".", ".."):
        raise ValueError("a value would make another path")
    return _quoted(text)


def _quoted(text):
    return urllib.parse.quote(text, safe="")


def _between(text, after, until):
    start = text.find(after)
    end = (text.find(until, start + len(after)) if until else len(text)) if start >= 0 else -1
    if end < 0:
        raise ValueError("the answer no longer holds the value that the request needs")
    return text[start + len(after) : end]


def _json(text, framing=None):
    """JSON in its frame; keys in order, as expressions see them."""
    read = lambda it: json.loads(it, object_pairs_hook=lambda pairs: dict(sorted(pairs)))
    text = text.strip()
    if framing == "lines":
        lines = (it.lstrip("\x1e").strip() for it in text.splitlines())
        return [read(it) for it in lines if it]
    if framing == "jsonp":
        return read(text[text.index("(") + 1 : text.rindex(")")])
    for guard in _GUARDS:
        if text.startswith(guard):
            return read(text[len(guard) :])
    return read(text)


def _found(data):
    if data is None:
        raise ValueError("the answer does not hold the data; the site may have changed")
    return data
