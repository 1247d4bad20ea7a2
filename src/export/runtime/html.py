_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_UNREAD = {"script", "style", "noscript", "template", "svg", "head", "option", "datalist", "textarea"}
_INLINE = {
    "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "small", "strong", "sub", "sup", "tt", "u", "var", "wbr",
}
_PHRASES = {"a", "span", "label", "time"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"}
_SORTED = "▲▼△▽▴▾▵▿⏶⏷⮝⮟↑↓↕⇅⇵⬆⬇🔼🔽\ufe0e\ufe0f"
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»‹›…–—·•←→"


def _page(text):
    with warnings.catch_warnings():
        # A page may begin as XML does; browsers read it as HTML all the same.
        warnings.simplefilter("ignore")
        page = bs4.BeautifulSoup(text, "html5lib", multi_valued_attributes=None)
    # Browsers that run scripts do not draw it.
    for it in page.find_all("noscript"):
        it.decompose()
    return page


def _script(text, css):
    """JSON that a script of the page is."""
    for it in _page(text).select(css):
        return _json("".join(_texts(it)))
    raise ValueError("the page no longer holds the data; the site may have changed")


def _items_of(text, spec):
    """The items of a page, as the recipe's selectors read them. Without any it is an error: nobody knows whether there are none."""
    page = _page(text)
    headings, order = [], {}
    if spec.get("group"):
        headings = page.select(spec["group"])
        order = {id(it): at for at, it in enumerate(page.descendants)}
    out, grids, last, group = [], {}, None, None
    for first in page.select(spec["items"]):
        if last is not None and any(it is last for it in list(first.parents)[:32]):
            continue
        last = first
        if _is_hidden(first):
            continue
        while headings and order[id(headings[0])] < order[id(first)]:
            group = headings.pop(0)
        parts = _run(first, spec["items"]) if spec.get("run") else [first]
        grid = None
        table = first.find_parent("table") if any(it[1] is not None for it in spec["fields"]) else None
        if table is not None:
            if id(table) not in grids:
                grids[id(table)] = _Grid(table)
            grid = grids[id(table)]
        if grid and _children(first) and id(first) in grid.at and not grid.is_row(first):
            continue
        item = {it[0]: _field(parts, spec.get("run", False), grid, *it[1:]) for it in spec["fields"]}
        if all(it in (None, "") for it in item.values()) or all(_is_mark(it) for it in parts):
            continue
        for name, kind in spec.get("types", {}).items():
            item.update(_typed(name, kind, item.get(name)))
        if spec.get("group"):
            item["group"] = _read(group) if group is not None else None
        out.append(item)
    if len(out) < spec.get("least", 1):
        raise ValueError("the page lists no items; the site may have none for these values, or it changed")
    return (out[0] if out else None) if spec.get("single") else out


def _run(first, css):
    parts = [first]
    for it in first.next_siblings:
        if not isinstance(it, bs4.Tag):
            continue
        ends = soupsieve.match(css, it) or (it.name in _HEADINGS and first.name not in _HEADINGS)
        if ends or len(parts) >= 64:
            break
        parts.append(it)
    return parts


def _field(parts, run, grid, place, css, nth, attribute):
    """`place`: None, the title of a column, or its number from 0. `nth`: which element that matches, from 1; None for all."""
    if place is None:
        found = _found_in(parts, run, css, nth)
    else:
        cell = None
        if grid:
            at = grid.column(place) if isinstance(place, str) else place
            cell = grid.cell(parts[0], at)
        found = _found_in([cell], False, css, nth) if cell is not None else []
    values = []
    for it in found:
        if attribute is None:
            values.append(_read(it))
        else:
            values.append(it[attribute].strip() if attribute in it.attrs else None)
    if nth is None:
        return [it for it in values if it] or None
    return values[0] if values else None


def _found_in(parts, run, css, nth):
    if css is None:
        return parts[:1]
    own = []
    for it in parts:
        if run and soupsieve.match(css, it):
            own.append(it)
        own.extend(it.select(css))
    return own if nth is None else own[nth - 1 : nth]


def _texts(element):
    return [str(it) for it in element.descendants if _is_text(it)]


def _is_text(node):
    return isinstance(node, bs4.NavigableString) and not isinstance(node, bs4.element.PreformattedString)


def _children(element):
    return [it for it in element.children if isinstance(it, bs4.Tag) and _is_read(it)]


def _is_read(element):
    return (element.name not in _UNREAD or "shadowrootmode" in element.attrs) and not _is_hidden(element)


def _is_hidden(element):
    style = _SPACE.sub("", element.attrs.get("style") or "").lower()
    if "hidden" in element.attrs or "display:none" in style:
        return True
    return element.attrs.get("aria-hidden") == "true" and not _is_drawn(element)


def _is_drawn(element):
    """A short text kept from screen readers that nothing beside it says as well."""
    below = [it for it in element.descendants if isinstance(it, bs4.Tag)]
    plain = all(it.name in _INLINE or it.name in ("span", "time", "data") for it in below[:8])
    if "role" in element.attrs or element.name in ("a", "button", "li", "tr", "td") or not plain or len(below) > 8:
        return False
    own = "".join(_texts(element))
    letters, digits = _letters(own), _numerals(own)
    bare = own.strip()
    icon = bool(re.fullmatch(r"[a-z][a-z0-9_-]*", bare))
    if len(own) > 80 or icon or (not digits and len(letters.encode()) < 3):
        return False
    says = lambda it: digits in _numerals(it) if digits else letters in _letters(it)
    labels = lambda it: any(says(it.attrs[name]) for name in ("aria-label", "title") if name in it.attrs)
    if element.parent is None or (isinstance(element.parent, bs4.Tag) and labels(element.parent)):
        return False
    near = list(itertools.islice(element.previous_siblings, 8)) + list(itertools.islice(element.next_siblings, 8))
    for it in near:
        if isinstance(it, bs4.Tag):
            if says("".join(_texts(it))[:320]) or labels(it):
                return False
        elif _is_text(it) and says(str(it)):
            return False
    return True


def _letters(text):
    return "".join(it for it in text if it.isalnum()).lower()


def _numerals(text):
    return "".join(it for it in text if it.isnumeric())


def _read(element):
    """The text as a reader sees it."""
    return " ".join(it for it in _SPACE.split(_drawn(element)) if it)


def _drawn(element):
    out, before = "", None
    for it in element.children:
        if isinstance(it, bs4.Tag):
            if not _is_read(it):
                continue
            apart = it.name not in _INLINE and it.name not in _PHRASES
            if apart or it.name == "br":
                out += " "
            own = _drawn(it)
            if before is not None and out and own and _are_words(before, out[-1], it, own[0]):
                out += " "
            out += own + (" " if apart else "")
            before = None if apart or it.name in ("br", "wbr") else it
        elif _is_text(it):
            out, before = out + str(it), None
    return out


def _are_words(before, last, after, first):
    if before.name in _PHRASES and after.name in _PHRASES:
        return last.isalnum() and first.isalnum()
    alike = before.name == after.name and _classes(before) == _classes(after)
    attached = before.name in ("sub", "sup") or after.name in ("sub", "sup")
    return last.isnumeric() and first.isnumeric() and not alike and not attached


def _classes(element):
    return element.get("class", "").split()


def _chars(element):
    return len(_SPACE.sub("", _drawn(element)))


def _is_mark(element):
    said = _SPACE.sub("", "".join(_texts(element)))
    return bool(said) and all(it in _MARKS for it in said)


class _Grid:
    """A table as rows and columns: spans resolved, header cells and totals told from data."""

    def __init__(self, table):
        self.rows, self.at, open_cells, seen_data = [], {}, {}, False
        for row, kind in self._lines(table):
            own = [it for it in _children(row) if it.name in ("td", "th")]
            cells = self._cells(own, open_cells)
            heads = all(it.name == "th" for it in own) or all(it.get("role") == "columnheader" for it in own)
            if kind == "data" and not seen_data and len(own) > 1 and heads:
                kind = "head"
            seen_data = seen_data or (kind == "data" and any(it is not None and it.name == "td" for it in cells))
            self.at[id(row)] = len(self.rows)
            self.rows.append([row, kind, cells])
        self.columns = max((len(it[2]) for it in self.rows), default=0)
        self.titles = [self._title(it) for it in range(self.columns)]
        self._mark_totals()
        data = [it for it in self.rows if it[1] == "data"]
        says = lambda it: sum(cell is not None and _chars(cell) > 0 for cell in it[2])
        self.is_full = sum(says(it) > 1 for it in data) * 2 > len(data)

    @staticmethod
    def _lines(table):
        kinds = {"thead": "head", "tfoot": "foot", "tbody": "data"}
        for child in _children(table):
            if child.name == "tr":
                yield child, "data"
            elif child.name in kinds:
                for it in _children(child):
                    if it.name == "tr":
                        yield it, kinds[child.name]

    @staticmethod
    def _cells(own, open_cells):
        own, out, column = list(own), [], 0
        while column < 128:
            if open_cells.get(column):
                cell, left = open_cells[column]
                out.append(cell)
                open_cells[column] = (cell, left - 1) if left > 1 else None
                column += 1
            elif own:
                cell = own.pop(0)
                wide, tall = _span(cell, "colspan", 128), _span(cell, "rowspan", 1000)
                for at in range(column, min(column + wide, 128)):
                    out.append(cell)
                    open_cells[at] = (cell, tall - 1) if tall > 1 else None
                column += wide
            elif any(it and at >= column for at, it in open_cells.items()):
                out.append(None)
                column += 1
            else:
                break
        return out

    def _title(self, column):
        out, last = [], None
        for _, kind, cells in self.rows:
            cell = cells[column] if kind == "head" and column < len(cells) else None
            if cell is None or cell is last:
                continue
            last, own = cell, _bare(_read(cell))
            spans = int(cell.get("colspan")) if (cell.get("colspan") or "").isdigit() else 1
            if own and not (self.columns > 1 and spans >= self.columns):
                out.append(own)
        return " ".join(out)

    def column(self, title):
        lower = lambda it: re.sub("[A-Z]", lambda c: c[0].lower(), it)
        wanted = lower(_bare(title))
        return next((at for at, it in enumerate(self.titles) if lower(it) == wanted), None)

    def cell(self, row, column):
        at = self.at.get(id(row))
        cells = self.rows[at][2] if at is not None else []
        return cells[column] if column is not None and column < len(cells) else None

    def is_row(self, row):
        at = self.at.get(id(row))
        if at is None:
            return False
        _, kind, cells = self.rows[at]
        own = [it for it in cells if it is not None]
        head = len(own) > 1 and all(it.name == "th" for it in own) and any(self.titles)
        return kind == "data" and not head and not self._names_others(cells) and _chars(row) > 0

    def _names_others(self, cells):
        if not cells or cells[0] is None or self.columns < 2:
            return False
        first = cells[0]
        others = [it for it in cells if it is not None and it is not first]
        if not others:
            return len(cells) == self.columns or self.is_full
        alone = _chars(first) > 0 and all(_chars(it) == 0 for it in others)
        return self.is_full and alone and (first.name == "th" or _bold(first, ("b", "strong", "h2", "h3", "h4", "h5", "h6")))

    def _mark_totals(self):
        data = [it for it in self.rows if it[1] == "data" and len(_children(it[0])) > 1]
        known, above, everything, tried = set(), [], [], 0
        for at, row in enumerate(data):
            cells = [it for it in _children(row[0]) if it.name in ("td", "th")]
            spans = len(cells) < self.columns
            new = any(it not in known for it in _classes(row[0]))
            may_be = (spans or new or at + 1 == len(data)) and tried < 64
            tried += may_be
            if may_be and spans + new + self._signs(row, everything, spans) >= 2 and (_is_sum(row, above) or _is_sum(row, everything)):
                row[1], above = "foot", []
            else:
                known.update(_classes(row[0]))
                above.append(row)
                everything.append(row)

    def _signs(self, row, data, spans):
        empty = lambda it: {at for at, cell in enumerate(it[2]) if cell is None or _chars(cell) == 0}
        bold = lambda it: any(
            _bold(cell, ("b", "strong")) and _thousandths(_read(cell)) is not None
            for cell in _children(it[0]) if cell.name in ("td", "th")
        )
        lacks = not spans and any(all(at not in empty(it) for it in data) for at in empty(row))
        return lacks + (bold(row) and not any(bold(it) for it in data))


def _span(cell, name, most):
    text = (cell.get(name) or "").strip()
    return min(max(int(text), 1), most) if re.fullmatch(r"\+?[0-9]{1,9}", text) else 1


def _bare(title):
    return title.strip("\t\n\r\x0b\x0c \xa0" + _SORTED)


def _bold(cell, names):
    return any(it.name in names and _chars(it) == _chars(cell) for it in cell.find_all(True))


def _is_sum(row, above):
    seen, sums, labels = set(), 0, 0
    value = lambda it, at: _thousandths(_read(it[2][at])) if at < len(it[2]) and it[2][at] is not None else None
    for at, cell in enumerate(row[2]):
        if cell is None or _chars(cell) == 0:
            continue
        total = _thousandths(_read(cell))
        if total is None:
            labels += id(cell) not in seen
            seen.add(id(cell))
            continue
        parts = [value(it, at) for it in above]
        if None in parts or sum(parts) != total:
            return False
        sums += total != 0
    return bool(above) and labels <= 1 and sums > 0


def _thousandths(text):
    """A number with its unit, times 1,000."""
    found = re.search(r"[0-9](?:.*[0-9])?", text, re.S)
    if not found:
        return None
    digits = found[0]
    rest = text[: found.start()] + text[found.end() :]
    if sum(it.isalnum() for it in rest) > 4 or len(digits.encode()) > 20 or not re.fullmatch(r"[0-9.,'’\s]*", digits):
        return None
    at = max(digits.rfind("."), digits.rfind(","))
    after = len(digits) - at - 1
    other = "," if digits[at] == "." else "."
    if at < 0 or not (after < 3 or (after == 3 and digits.count(digits[at]) == 1 and other in digits)):
        at = len(digits)
    whole, part = re.sub(r"\D", "", digits[:at]), re.sub(r"\D", "", digits[at:])
    value = int(whole or "0") * 1000 + int(part.ljust(3, "0"))
    return -value if text[: found.start()].endswith(("-", "−")) else value


def _typed(name, kind, text):
    """What a text is beside itself: a number with its unit, an amount with its currency, a date."""
    (of, how), text = next(iter(kind.items())), text.strip() if isinstance(text, str) else ""
    if of == "date":
        return {f"{name}_date": _date(how, text)}
    names = (f"{name}_amount", f"{name}_currency") if of == "money" else (f"{name}_number", f"{name}_unit")
    number, beside = _amount(of, how, text)
    if of == "number" and not how.get("unit"):
        return {names[0]: number}
    return {names[0]: number, names[1]: beside}


def _amount(of, how, text):
    found = re.search(r"[0-9](?:.*[0-9])?", text, re.S)
    if not found or len(text.encode()) > 60 or found[0].strip("0123456789.,'’ \xa0\u202f"):
        return None, None
    before, after = text[: found.start()].strip(), text[found.end() :].strip()
    minus = sum(it in "-−" for it in before)
    before = before.strip("-−").strip()
    if minus > 1 or "-" in before or "−" in before:
        return None, None
    before, beside = before.lstrip("+").strip(), None
    if of == "money":
        beside = (before or after) if not (before and after) else ""
        fits = re.fullmatch(r"[A-Z]{3}|[^\W\d_]{0,3}[$¢-¥₠-⃏][^\W\d_]{0,3}", beside)
    else:
        is_unit = len(after.encode()) <= 12 and all(it.isalpha() or it in "%‰°/²³µ" for it in after)
        fits, beside = not before and is_unit and bool(after) == how.get("unit", False), after
    number = _plain_number(found[0], how.get("decimal"), minus) if fits else None
    return number, beside if number is not None else None


def _plain_number(digits, decimal, minus):
    sign = {"point": ".", "comma": ","}.get(decimal)
    whole, fraction = digits.rsplit(sign, 1) if sign and sign in digits else (digits, None)
    groups = re.split(r"[.,'’  \u202f]", whole)
    signs = set(re.findall(r"[.,'’  \u202f]", whole))
    middle = {len(it) for it in groups[1:-1]}
    grouped = len(groups) == 1 or (
        sign and len(signs) == 1 and sign not in signs
        and len(groups[-1]) == 3 and 1 <= len(groups[0]) <= 3 and (not middle or middle == {3} or middle == {2})
    )
    text = "".join(groups)
    if not grouped or (text != "0" and groups[0].startswith("0")) or (fraction or "").strip("0123456789"):
        return None
    if len(text) + len(fraction or "") > 15:
        return None
    value = float(f"{text}.{fraction}") if fraction is not None else int(text)
    return -value if minus else value


def _date(pattern, text):
    for it in (pattern, pattern.replace("%B", "%b")):
        try:
            found = datetime.datetime.strptime(text, it)
        except ValueError:
            continue
        if 1000 <= found.year < 3000:
            return found.isoformat() if "%H" in pattern else found.date().isoformat()
    return None
