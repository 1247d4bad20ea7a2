def _look(found, path):
    for key in path.split(".") if path else []:
        if isinstance(found, list):
            found = found[int(key)] if key.isdecimal() and int(key) < len(found) else _ABSENT
        else:
            found = found.get(key, _ABSENT) if isinstance(found, dict) else _ABSENT
    return found


def _plain(found):
    """As a request has it; nothing for what is no text, number, true or false."""
    if isinstance(found, str):
        return found
    return json.dumps(found) if isinstance(found, (bool, int, float)) else None


def _value(found, path):
    """The text of a field that a later request needs."""
    words = _plain(_look(found, path))
    if words is None:
        raise ValueError("an answer no longer holds a value that the next request needs")
    return words


def _same(own, wanted):
    if isinstance(wanted, str):
        return _plain(own) == wanted
    return type(own) is type(wanted) and own == wanted


def _alike(own, wanted):
    plain = lambda it: it if it is None else " ".join(it.lower().split())
    return _same(own, wanted) or (isinstance(wanted, str) and _plain(own) is not None and plain(_plain(own)) == plain(wanted))


def _choose(items, which):
    """The item that is meant. `LookupError` where there is none, or more than one."""
    if not isinstance(items, list):
        raise ValueError("an answer has no list to choose from")
    found = items
    if which == "first":
        found = items[:1]
    elif which != "only":
        for fits in (_same, _alike):
            found = [it for it in items if all(fits(_look(it, path), wanted) for path, wanted in which.items())]
            if found:
                break
    if not found:
        raise LookupError("no item of the answer is the one that is meant")
    if len(found) > 1:
        raise LookupError(f"{len(found)} items of the answer could be meant")
    return found[0]


def _listed(found):
    """All items, for one request."""
    if not isinstance(found, list):
        raise ValueError("an answer has no list")
    if len(found) > 100:
        raise ValueError(f"{len(found)} items are too many for one request")
    return found


def _all(items, path, separator):
    """The texts of a field of all items, for one request."""
    texts = [_value(it, path) for it in items]
    if any(separator in it for it in texts):
        raise ValueError("a text holds what stands between two of them")
    return separator.join(texts)


def _items(found):
    """The items that one request each is sent for."""
    if not isinstance(found, list):
        raise ValueError("an answer has no list")
    if len(found) > 100:
        raise ValueError(f"one request each for {len(found)} items are too many")
    for at, it in enumerate(found):
        if at:
            # No site is asked more than ten times in a second.
            _time.sleep(0.1)
        yield it


def _unless_gone(ask):
    try:
        return ask()
    except urllib.error.HTTPError as err:
        if err.code in (404, 410):
            return None
        raise


def _void(data):
    if isinstance(data, list):
        return any(it is not None for it in data) and all(_void(it) for it in data)
    if isinstance(data, dict):
        return bool(data) and all(_void(it) for it in data.values())
    return data is None


def _filled(data, least=0):
    """Nothing, where the site has no answer for an item."""
    return None if _void(data) or (len(data) if isinstance(data, list) else 1) < least else data


def _join(out, item, answer, step, into, position, at):
    if answer is None and position is not None:
        return
    if isinstance(item, dict):
        joined = dict(item)
    elif into is None:
        joined = dict(answer, **{position: at}) if isinstance(answer, dict) and position is not None else answer
        out.append(joined)
        return
    else:
        joined = {step: item}
    if into is not None:
        joined[into] = answer
    elif isinstance(answer, dict):
        joined.update(answer)
    if position is not None:
        joined[position] = at
    out.append(joined)


def _answered(items, answers, out):
    if items and not answers:
        raise ValueError("the site answered none of the items")
    return out
