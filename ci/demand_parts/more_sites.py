"""More sites of the same classes, in the shapes that sites behind a login often have. They represent no commands."""

from sites import Site, field, go, press, record, records, wait


def by_field(label, key, button, shown):
    """Steps that fill one field, press a button and wait for what is then said."""
    return lambda host: [go(host), field(label, f"{{{key}}}"), press(button), wait(f"{shown} {{{key}}}")]


def of(key, *values):
    return [{key: it} for it in values]


MORE = [
    Site(
        "a2-tides", "A", 0, "ebbflow.test", "Show the tides in {harbour} on {day} with time, water and height",
        [go("ebbflow.test"), field("Harbour", "{harbour}"), field("Day", "{day}"), press("Show tides"), wait("Tides in {harbour} on {day}")],
        [{"harbour": "Vestby", "day": "2026-05-03"}, {"harbour": "Hamnoy", "day": "2026-06-11"}, {"harbour": "Solvik", "day": "2026-05-03"},
         {"harbour": "Vestby", "day": "2026-08-21"}],
        records("time", "water", "height"), ordered=True,
    ),
    Site(
        "a4-carvings", "A", 0, "carvings.test", "Find carvings in {wood} with title, year and maker",
        by_field("Wood", "wood", "Find", "Carvings in")("carvings.test"), of("wood", "oak", "lime", "walnut", "pear"), records("title", "year", "maker"),
    ),
    Site(
        "a6-scores", "A", 0, "scoreline.test", "List the works of {composer} with key and opus",
        [go("scoreline.test", "/composer/{composer}"), wait("Works of {composer}")], of("composer", "lindgren", "marek", "ostrava", "holm"),
        records("title", "key", "opus"),
    ),
    Site(
        "a8-departure-board", "A", 0, "stoppost.test", "Show the departures at {stop} on {day}",
        [go("stoppost.test"), field("Stop", "{stop}"), field("Day", "{day}"), press("Show board"), wait("Board of {stop} on {day}")],
        [{"stop": "Market", "day": "2026-05-03"}, {"stop": "Station", "day": "2026-06-11"}, {"stop": "Harbour", "day": "2026-05-24"},
         {"stop": "Market", "day": "2026-11-02"}],
        records("line", "to", "at"), ordered=True,
    ),
    Site(
        "b6-appointments", "B", 0, "surgery.test", "List my appointments in {month}", by_field("Month", "month", "Show month", "Appointments in")("surgery.test"),
        of("month", "2026-03", "2026-07", "2026-11"), records("day", "doctor", "reason"), login=True,
    ),
    Site(
        "b8-my-orders", "B", 0, "crateful.test", "List my orders that are {state}",
        [go("crateful.test"), wait("Customer"), {"select": {"role": "combobox", "name": "State", "value": "{state}"}}, press("Show orders"), wait("Orders that are {state}")],
        of("state", "shipped", "returned", "open"), records("number", "article", "price"), login=True,
    ),
    Site(
        "b10-messages", "B", 0, "postbox.test", "List the messages in my folder {folder}", by_field("Folder", "folder", "Show folder", "Messages in")("postbox.test"),
        of("folder", "inbox", "archive", "travel"), records("subject", "from", "received"), login=True,
    ),
    Site(
        "b12-subscriptions", "B", 0, "pressroom.test", "List my subscriptions with price and renewal", [go("pressroom.test"), wait("subscriptions")], [{}],
        records("magazine", "renews", "price"), login=True,
    ),
    Site(
        # Its address is the customer's; a recipe's address is the same for everybody.
        "b14-customer-address", "B", 0, "ledgerly.test", "List my invoices of {year}", by_field("Year", "year", "Show invoices", "Invoices of")("ledgerly.test"),
        of("year", 2024, 2025, 2026), records("number", "client", "amount"), login=True, goal="declined",
    ),
    Site(
        "b16-single-sign-on", "B", 0, "lectern.test", "List my courses in {semester}",
        [go("lectern.test"), {"select": {"role": "combobox", "name": "Semester", "value": "{semester}"}}, press("Show courses"), wait("Courses of {semester}")],
        of("semester", "Autumn 2026", "Spring 2027", "Spring 2026"), records("course", "teacher", "credits"),
        lambda it: {"term": {"Spring 2026": "20261", "Autumn 2026": "20262", "Spring 2027": "20271"}[it["semester"]]}, login=True,
    ),
    Site(
        "b18-drives", "B", 0, "vanpool.test", "List the drives in {month} with van, driver and kilometres", by_field("Month", "month", "Show drives", "Drives in")("vanpool.test"),
        of("month", "March", "June", "October"), records("van", "driver", "km"), login=True, basic=True,
    ),
    Site(
        "b20-cash-book", "B", 0, "pocket.test", "List the entries of my cash book in {month}", by_field("Month", "month", "Show entries", "Entries of")("pocket.test"),
        of("month", "2026-03", "2026-07", "2026-11"), records("day", "shop", "amount"), login=True,
    ),
    Site(
        "b22-wishes", "B", 0, "keepsake.test", "List the wishes that I noted for {for}", by_field("For", "for", "Show wishes", "Wishes for")("keepsake.test"),
        of("for", "Nora", "Emil", "Ida"), records("wish", "price", "shop"), login=True,
    ),
    Site(
        "b24-payslips", "B", 0, "wages.test", "List my payslips of {year} with gross and net", by_field("Year", "year", "Show payslips", "Payslips of")("wages.test"),
        of("year", 2023, 2025, 2024), records("month", "gross", "net"), login=True,
    ),
    Site(
        "b26-repositories", "B", 0, "gitfarm.test", "List my repositories in {language}", by_field("Language", "language", "Show repositories", "Repositories in")("gitfarm.test"),
        of("language", "rust", "python", "go"), records("name", "stars", "updatedAt"), login=True,
    ),
    Site(
        "b28-readings", "B", 0, "meterbox.test", "List my meter readings of {year}", by_field("Year", "year", "Show readings", "Readings of")("meterbox.test"),
        of("year", 2023, 2025, 2024), records("day", "meter", "reading"), login=True, renewal="renewal.meterbox.test",
    ),
    Site(
        "b30-devices", "B", 0, "hearth.test", "List my devices in the {room} with state and battery", by_field("Room", "room", "Show devices", "Devices in the")("hearth.test"),
        of("room", "kitchen", "attic", "cellar"), records("device", "state", "battery"), login=True,
    ),
    Site(
        "b32-roster", "B", 0, "rosterly.test", "List the roster of team {team}", by_field("Team", "team", "Show roster", "Roster of team")("rosterly.test"),
        of("team", "blue", "green", "amber"), records("day", "person", "duty"), login=True,
    ),
    Site(
        "b34-duties", "B", 0, "shiftly.test", "List the roster of team {team}", by_field("Team", "team", "Show roster", "Roster of team")("shiftly.test"),
        of("team", "blue", "green", "amber"), records("day", "person", "duty"), login=True,
    ),
    Site(
        "c2-project-tasks", "C", 0, "plank.test", "List the tasks of my project {project}", by_field("Project", "project", "Show tasks", "Tasks of")("plank.test"),
        of("project", "garden", "roof", "attic", "kitchen"), records("task", "due", "for"), login=True,
    ),
    Site(
        "d2-parts", "D", 0, "cogs.test", "List all parts by {maker}", [go("cogs.test"), field("Maker", "{maker}"), press("Show parts"), wait("parts by {maker}")],
        of("maker", "Arno", "Bosse", "Celt", "Dorn"), records("part", "teeth", "price"), ordered=True,
    ),
    Site(
        "c4-firings", "C", 0, "kiln.test", "Plan the firings for {clay} with glaze, cone and hours", by_field("Clay", "clay", "Plan", "Firings for")("kiln.test"),
        of("clay", "stoneware", "raku", "porcelain", "terracotta"), records("glaze", "cone", "hours"),
    ),
    Site(
        "c6-dossier", "C", 0, "dossier.test", "Show office, seat and votes of the member {name}", by_field("Member", "name", "Show member", "Member")("dossier.test"),
        of("name", "Aster", "Brook", "Cedar", "Xenia"), lambda it: [{name: fact for name, fact in it.items() if fact is not None}], one=True,
    ),
    Site(
        "c8-estates", "C", 0, "estates.test", "Show street, owner and price of the house {house}", by_field("House", "house", "Show house", "House")("estates.test"),
        of("house", "Clock Tower", "Mill", "Lantern House", "Old Bank"), record, one=True,
    ),
    Site(
        "d4-ripples", "D", 0, "ripples.test", "List all ripples about {topic} with text, author and date", by_field("Topic", "topic", "Show ripples", "Ripples about")("ripples.test"),
        of("topic", "owls", "moss", "tides", "granite"), records("text", "by", "on"), ordered=True,
    ),
    Site(
        # The language is the host that is asked; two other hosts of the site are told what was typed.
        "x3-meanings", "X", 0, "lexica.test", "Look up the meanings of {word} in {language} with since and source",
        [go("lexica.test"), {"select": {"role": "combobox", "name": "Language", "value": "{language}"}}, field("Word", "{word}"), press("Look up"),
         wait("meanings of {word} in {language}")],
        [{"word": "anchor", "language": "Deutsch"}, {"word": "bread", "language": "Svenska"}, {"word": "kettle", "language": "Nedersaksisch"},
         {"word": "anchor", "language": "Suomi"}],
        records("meaning", "since", "source"), ordered=True,
    ),
    Site(
        # Each town is a host of its own, to which a link leads.
        "x5-flats", "X", 0, "dwellings.test", "List the flats with {rooms} rooms in {town} with street, size and rent",
        [go("dwellings.test"), {"click": {"role": "link", "name": "{town}"}}, field("Rooms", "{rooms}"), press("Show flats"), wait("Flats with {rooms} rooms in {town}")],
        [{"rooms": 3, "town": "Vestby"}, {"rooms": 2, "town": "Solvik"}, {"rooms": 4, "town": "Nesset"}, {"rooms": 3, "town": "Hamnoy"}],
        records("street", "size", "rent"), ordered=True,
    ),
    Site(
        # The host is called as one choice, and answers for all of them.
        "x7-stock", "X", 0, "mirrors.test", "Show the stock of {goods} in the {hall} hall with article, crates and until",
        [go("mirrors.test"), {"select": {"role": "combobox", "name": "Hall", "value": "{hall}"}}, field("Goods", "{goods}"), press("Show stock"),
         wait("articles of {goods} in the {hall} hall")],
        [{"goods": "pears", "hall": "north"}, {"goods": "plums", "hall": "south"}], records("article", "crates", "until"), goal="declined",
    ),
    Site(
        # The page only leads to the file, by a link.
        "g2-permit-file", "G", 0, "permits.test", "Get the permit with the number {number}",
        [go("permits.test"), field("Number", "{number}"), press("Find permit"), wait("Permit {number}"), {"click": {"role": "link", "name": "Download the permit"}}],
        of("number", 7, 12, 31, 144), record, one=True,
    ),
    Site(
        # The link alone says that it is saved; the server sends it as any text.
        "g6-surveys", "G", 0, "surveys.test", "Save the survey of permit {number}",
        [go("surveys.test"), field("Number", "{number}"), press("Find permit"), wait("Permit {number}"), {"click": {"role": "link", "name": "Save the survey"}}],
        of("number", 207, 1312, 31, 44), record, one=True,
    ),
    Site(
        # A script makes the file, so that no request gives it.
        "g8-receipts", "G", 0, "receipts.test", "Save the receipt of permit {number}",
        [go("receipts.test"), field("Number", "{number}"), press("Find permit"), wait("Permit {number}"), press("Save the receipt")],
        of("number", 207, 1312), record, one=True, goal="declined",
    ),
    Site(
        # By a button of a script; a text, which is a file all the same.
        "g4-inspections", "G", 0, "inspections.test", "Export the inspections of permit {number}",
        [go("inspections.test"), field("Number", "{number}"), press("Find permit"), wait("Permit {number}"), press("Export inspections")],
        of("number", 207, 1312, 31, 44), record, one=True,
    ),
]
