"""Reads markup into a tree; each node knows the CSS path that names it alone. What `html` prints comes from a browser, so it is well-formed."""

from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Node:
    def __init__(self, tag, attrs, parent):
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.children, self.pieces = [], []
        self.path = ""

    def __getitem__(self, name):
        return self.attrs.get(name) or ""

    @property
    def target(self):
        return f"css={self.path}"

    @property
    def classes(self):
        return set(self["class"].split())

    @property
    def text(self):
        """All text within, white space folded."""
        return " ".join("".join(self.raw()).split())

    def raw(self):
        for it in self.pieces:
            if isinstance(it, str):
                yield it
            else:
                yield from it.raw()

    def walk(self):
        for it in self.children:
            yield it
            yield from it.walk()

    def all(self, *kinds):
        """Nodes within that are of one of these: `tag`, `.class` or `#id`."""
        return [it for it in self.walk() if any(it.fits(kind) for kind in kinds)]

    def first(self, kind):
        return next(iter(self.all(kind)), None)

    def fits(self, kind):
        if kind.startswith("."):
            return kind[1:] in self.classes
        if kind.startswith("#"):
            return self["id"] == kind[1:]
        return self.tag == kind

    @property
    def style(self):
        pairs = (it.partition(":") for it in self["style"].split(";"))
        return {name.strip(): value.strip() for name, colon, value in pairs if colon}


class Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.top = self.here = Node("", {}, None)

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs), self.here)
        self.here.children.append(node)
        self.here.pieces.append(node)
        if tag not in VOID:
            self.here = node

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.here = self.here.parent

    def handle_endtag(self, tag):
        node = self.here
        while node.parent and node.tag != tag:
            node = node.parent
        if node.parent:
            self.here = node.parent

    def handle_data(self, data):
        self.here.pieces.append(data)


def read(html, css):
    """The tree of the element that `css` (an `#id`) names, from its outer or its inner markup."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    top = reader.top
    root = top.children[0] if len(top.children) == 1 and css == "#" + top.children[0]["id"] else top
    root.path = css
    name(root)
    return root


def name(node):
    for at, it in enumerate(node.children, 1):
        it.path = f"{node.path} > {it.tag}:nth-child({at})"
        name(it)
