"""Recipes written as OpenAPI and as Hurl, read back as drafts, and proven on the test web."""

import json


def verdicts(commis, home, web, names):
    if not names:
        return {}
    done = commis(home, "recipe", "verify", *names, *web.flags, "--json")
    out = {}
    for it in json.loads(done.stdout):
        result = it.get("result") or {}
        out[it["name"]] = "" if result.get("verified") else result.get("reason") or it.get("error") or "?"
    return out


def round_trip(table, commis, home, web, folder):
    told = []
    for form in ("openapi", "hurl"):
        place, fresh = folder / "circle" / form, folder / "circle" / f"{form}-home"
        place.mkdir(parents=True)
        fresh.mkdir(mode=0o700)
        commis(home, "recipe", "export", "--all", "--as", form, "--out", f"{place}/")
        names, refused = [], []
        for file in sorted(place.glob("*.json" if form == "openapi" else "*.hurl")):
            # The library's hosts are not in the test web.
            if ".test" not in file.read_text():
                continue
            more = []
            if form == "hurl":
                # A file of Hurl has one value of each.
                recipe = json.loads(commis(home, "recipe", "get", file.stem, "--json").stdout)
                # One request is read back, and how a page is read has no words there.
                if recipe.get("steps") or recipe.get("slots") or recipe["response"]["type"] == "html":
                    refused.append(f"{file.stem}: Hurl says more than one request, or less than how its page is read")
                    continue
                for it in recipe.get("parameters") or []:
                    if f"variable: {it['name']}=" in file.read_text() and len(it.get("examples") or []) > 1:
                        more += ["--example", f"{it['name']}={it['examples'][1]}"]
            done = commis(fresh, "import", file, *more, *web.flags, "--json")
            it = json.loads(done.stdout)
            if "drafts" not in it:
                table.fault(form, f"import of {file.name}: {it}")
                continue
            names += [draft["name"] for draft in it["drafts"]]
            refused += [f"{no['name']}: {no['why']}" for no in it["refused"]]
        proven = verdicts(commis, fresh, web, names)
        good = [name for name, why in proven.items() if not why]
        for name, why in proven.items():
            # Hurl has no defaults: of a parameter that had one, it says one value.
            if form == "hurl" and why == "NEEDS_SECOND_EXAMPLE_FOR_VERIFY":
                refused.append(f"{name}: a draft; a parameter has one value in Hurl")
            elif why:
                table.fault(form, f"{name}, exported and imported, is not verified: {why}")
        told.append(f"circle by {form}: {len(names)} drafts, {len(good)} verified")
        told += [f"  not taken: {it}" for it in refused]
    return "\n".join(told)
