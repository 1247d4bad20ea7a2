def _slug(text):
    return "-".join("".join(it if it.isalnum() else " " for it in text).split()).lower()


def _lower(text):
    return text.lower()


def _upper(text):
    return text.upper()


def _title(text):
    out, within = "", False
    for it in text:
        out += it.upper() if it.isalpha() and not within else it
        within = it.isalnum() or it in "'\u2019"
    return out


def _capital(text):
    return text[:1].upper() + text[1:]


def _trim(text):
    return " ".join(text.split())


def _hyphen(text):
    return "-".join(text.split())


def _underscore(text):
    return "_".join(text.split())


def _plus(text):
    return "+".join(text.split())


def _compact(text):
    return "".join(text.split())


def _nfc(text):
    return unicodedata.normalize("NFC", text)


def _nfd(text):
    return unicodedata.normalize("NFD", text)


def _unaccent(text):
    letters = dict(zip("ßæÆœŒøØłŁđĐðÐþÞı", "ss ae AE oe OE o O l L d D d D th TH i".split()))
    return "".join(letters.get(it, it) for it in _nfd(text) if not "\u0300" <= it <= "\u036f")


def _dated(text, write):
    bare, tries = text.strip(), []
    if re.fullmatch("[0-9]{8}", bare):
        tries = [(bare[:4], bare[4:6], bare[6:])]
    elif it := re.fullmatch("([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", bare):
        tries = [it.groups()]
    elif it := re.fullmatch(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4})", bare):
        first, sign, second, year = it.groups()
        tries = [(year, first, second), (year, second, first)] if sign == "/" else [(year, second, first)]
    for year, month, day in tries:
        try:
            it = datetime.date(int(year), int(month), int(day))
        except ValueError:
            continue
        return write(it.year, it.month, it.day)
    return text


def _date_iso(text):
    return _dated(text, lambda y, m, d: f"{y:04}-{m:02}-{d:02}")


def _date_dmy(text):
    return _dated(text, lambda y, m, d: f"{d:02}.{m:02}.{y:04}")


def _date_dmy_short(text):
    return _dated(text, lambda y, m, d: f"{d}.{m}.{y:04}")


def _date_dmy_slash(text):
    return _dated(text, lambda y, m, d: f"{d:02}/{m:02}/{y:04}")


def _date_mdy(text):
    return _dated(text, lambda y, m, d: f"{m:02}/{d:02}/{y:04}")


def _date_mdy_short(text):
    return _dated(text, lambda y, m, d: f"{m}/{d}/{y:04}")


def _date_ymd(text):
    return _dated(text, lambda y, m, d: f"{y:04}{m:02}{d:02}")


def _epoch(text, unit):
    days = lambda y, m, d: str((datetime.date(y, m, d) - datetime.date(1970, 1, 1)).days * 86400 * unit)
    return _dated(text, days)


def _epoch_s(text):
    return _epoch(text, 1)


def _epoch_ms(text):
    return _epoch(text, 1000)


def _digits(text):
    it = re.fullmatch(r"(-?[0-9]{1,15})(?:\.([0-9]{0,9}))?", text)
    return (it[1], it[2] or "") if it else None


def _decimals(text, places):
    it = _digits(text)
    return f"{it[0]}.{it[1].ljust(places, '0')}" if it and len(it[1]) < places else text


def _decimal1(text):
    return _decimals(text, 1)


def _decimal2(text):
    return _decimals(text, 2)


def _ungroup(text):
    bare = re.sub("[,' \u00a0\u202f\u2019]", "", text)
    return bare if _digits(bare) else text


def _point(text):
    bare = text.replace(".", "").replace(",", ".")
    return bare if "," in text and _digits(bare) else text


def _minor(text):
    it = _digits(text)
    if not it or len(it[1]) > 2:
        return text
    digits = it[0] + it[1].ljust(2, "0")
    sign = "-" if digits.startswith("-") else ""
    return sign + (digits.removeprefix("-").lstrip("0") or "0")


def _major(text):
    it = _digits(text)
    if not it or it[1]:
        return text
    sign = "-" if it[0].startswith("-") else ""
    digits = it[0].removeprefix("-").rjust(3, "0")
    return f"{sign}{digits[:-2]}.{digits[-2:]}"


def _word(text, nth):
    words = text.split()
    return words[nth - 1] if len(words) >= nth else ""


def _word1(text):
    return _word(text, 1)


def _word2(text):
    return _word(text, 2)


def _word3(text):
    return _word(text, 3)


def _word4(text):
    return _word(text, 4)


def _base64(text):
    return base64.b64encode(text.encode()).decode()


def _base64url(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _hex(text):
    return text.encode().hex()


def _number(text):
    return text.strip()


def _inside_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _url(text):
    return urllib.parse.quote(text, safe="")
