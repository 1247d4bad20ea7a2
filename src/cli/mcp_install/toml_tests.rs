//! Tests of one entry in TOML.

use super::*;
use commis_base::error::Code;

fn entry() -> Entry {
    Entry {
        name: "commis".to_owned(),
        typed: false,
        command: "/opt/commis".to_owned(),
        args: vec!["mcp".to_owned(), "it's".to_owned()],
    }
}

#[test]
fn taking_out_undoes_putting_in() {
    for before in [
        "",
        "\n",
        "model = 'o' # why\n",
        "model = 'o'",
        "a = 1\r\nb = 2\r\n",
        "a = 1\r\nb = 2",
        "a = 1\n\n\n",
        "# only this",
        "[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.a.env]\nK = \"v\"\n",
        "[mcp_servers]\n",
        "[mcp_servers]\na = { command = 'x' }\n",
        "mcp_servers.a.command = 'x'\n",
        "mcp_servers = { a = { command = 'x' } } # here\n",
        "mcp_servers = {}\nb = 1\n",
        "[[many]]\na = 1\n[[many]]\na = \"\"\"\nx\r\n\"\"\"\n",
    ] {
        let out = put(before, "mcp_servers", &entry(), false).unwrap();
        assert_eq!(out.done, EditOutcome::Added, "{before}");
        let again = put(&out.text, "mcp_servers", &entry(), false).unwrap();
        assert_eq!((again.done, &again.text), (EditOutcome::Unchanged, &out.text));
        let after = take(&out.text, "mcp_servers", "commis", "/opt/commis", false).unwrap();
        let text = out.text;
        // The one blank of an inline table that was empty.
        let same = after.text.replace("{ }", "{}") == before;
        assert!(same && after.done == EditOutcome::Removed, "{before:?} {text:?} {:?}", after.text);
    }
}

#[test]
fn our_entry_is_brought_up_to_date_and_goes_with_all_that_is_its() {
    let before = "a = 1\n\n[mcp_servers.commis] # ours\ncommand = 'commis' # here\nenabled = true\n\n[mcp_servers.commis.env]\nK = \"v\"\n\n[z]\nb = 1\n";
    let out = put(before, "mcp_servers", &entry(), false).unwrap();
    assert_eq!((out.done, out.kept.join(" ")), (EditOutcome::Updated, "enabled env".to_owned()));
    assert_eq!(
        out.text,
        before.replace("'commis' # here\n", "\"/opt/commis\" # here\nargs = [\"mcp\", \"it's\"]\n")
    );
    let after = take(&out.text, "mcp_servers", "commis", "/x", false).unwrap();
    assert_eq!(after.text, "a = 1\n\n[z]\nb = 1\n");
    let inline = "[mcp_servers]\ncommis = { command = 'commis' }\nb = { command = 'x' }\n";
    let out = put(inline, "mcp_servers", &entry(), false).unwrap();
    assert_eq!(out.done, EditOutcome::Updated);
    let after = take(&out.text, "mcp_servers", "commis", "/x", false).unwrap();
    assert_eq!(after.text, "[mcp_servers]\nb = { command = 'x' }\n");
    let first = "mcp_servers = { commis = { command = 'commis' }, b = { command = 'x' } }\n";
    let after = take(first, "mcp_servers", "commis", "/x", false).unwrap();
    assert_eq!(after.text, "mcp_servers = { b = { command = 'x' } }\n");
}

#[test]
fn what_is_wrong_is_named_and_an_entry_of_somebody_else_is_theirs() {
    for (text, code, part) in [
        ("a = \n", Code::SettingsInvalid, "line 1, column 5"),
        ("a = 1\na = 2\n", Code::SettingsInvalid, "line 2, column 1"),
        ("mcp_servers = 3", Code::SettingsInvalid, "`mcp_servers` is no table"),
        ("[[mcp_servers]]\na = 1", Code::SettingsInvalid, "is no table"),
        ("[mcp_servers.commis]\ncommand = 'npx'", Code::Usage, "line 1: the entry `commis` starts"),
        ("[mcp_servers.commis]\nurl = 'http://x'", Code::Usage, "another program"),
        ("mcp_servers.commis = 1", Code::Usage, "another program"),
    ] {
        let err = put(text, "mcp_servers", &entry(), false).unwrap_err();
        assert_eq!(err.code(), code, "{text}");
        assert!(err.to_string().contains(part), "{text}: {err}");
    }
    let theirs = "[mcp_servers.commis]\ncommand = 'npx'\n";
    assert!(take(theirs, "mcp_servers", "commis", "/x", false).is_err());
    let out = put(theirs, "mcp_servers", &entry(), true).unwrap();
    assert!(out.done == EditOutcome::Updated && !out.text.contains("npx"), "{}", out.text);
    let dotted = "mcp_servers.commis.command = 'commis'\n";
    let err = take(dotted, "mcp_servers", "commis", "/x", false).unwrap_err();
    assert!(err.to_string().contains("dotted"), "{err}");
}

/// Our entry goes whole, and nothing else does.
fn assert_removed(before: &str, after: &str) {
    let out = take(before, "mcp_servers", "commis", "/x", false).unwrap();
    assert_eq!((out.done, out.text.as_str()), (EditOutcome::Removed, after), "{before}");
}

#[test]
fn an_entry_with_a_heading_goes_with_its_dotted_keys_and_long_values() {
    let other = "[mcp_servers.other]\ncommand = \"npx\"\n";
    for ours in [
        "[mcp_servers.commis]\ncommand = \"commis\"\nenv.A = \"1\"\nenv.TOKEN = \"secret\"\n",
        "[mcp_servers.commis]\nenv.A = \"1\"\nenv.B = [\n  \"x\", # ]\n  \"y\",\n]\ncommand = \"commis\"\n",
        "[mcp_servers.commis]\ncommand = \"commis\"\nenv.B = [\n  \"x\",\n  \"y\",\n] # end\n",
        "[mcp_servers.commis]\ncommand = \"commis\"\na.b.c = 1\na.b.d = { x = [\n1\n] }\na.e = \"\"\"\n[z]\n\"\"\"\n",
        "[mcp_servers.commis]\ncommand = \"commis\"\nenv.A = \"1\"\nenv.B = \"2\"\n\n[mcp_servers.commis.env.more]\nx.y = 1\nx.z = 2\n",
        "[mcp_servers.commis.env.more]\nx = 1\n[mcp_servers.commis]\ncommand = \"commis\"\nenv.A = \"1\"\nenv.B = \"2\"\n",
        "  [mcp_servers.commis]\n  command = \"commis\"\n  env.A = \"1\"\n  env.B = \"2\"\n",
    ] {
        for (head, tail) in [(other, "[z]\na = 1\n"), ("", other), (other, ""), ("a = nan\n", "")] {
            assert_removed(&format!("{head}{ours}{tail}"), &format!("{head}{tail}"));
            let theirs = format!("{head}{}{tail}", ours.replace("\"commis\"", "\"npx\""));
            let out = put(&theirs, "mcp_servers", &entry(), true).unwrap();
            assert_eq!(out.done, EditOutcome::Updated);
            let after = take(&out.text, "mcp_servers", "commis", "/x", false).unwrap();
            assert_eq!(after.text, format!("{head}{tail}"), "{theirs}");
        }
    }
    // Also where the file ends without a line break.
    assert_removed(
        "a = 1\n[mcp_servers.commis]\ncommand = 'commis'\n[mcp_servers.commis.env]\nK = 'v'",
        "a = 1",
    );
    let many = "[[mcp_servers.commis]]\na.b = 1\na.c = 2\n[[mcp_servers.commis]]\n[z]\n";
    assert_eq!(take(many, "mcp_servers", "commis", "/x", true).unwrap().text, "[z]\n");
}

#[test]
fn an_inline_table_takes_an_entry_wherever_it_ends() {
    for (before, after) in [
        ("{ a.command = \"x\" }", "{ a.command = \"x\", NEW }"),
        ("{ a.b.c = [ 1 ], a.b.d = 2 }", "{ a.b.c = [ 1 ], a.b.d = 2, NEW }"),
        ("{a = { command = \"x\" },}", "{a = { command = \"x\" }, NEW,}"),
        ("{}", "{ NEW }"),
        ("{\n}", "{\n  NEW\n}"),
        ("{ # none, yet\n}", "{ # none, yet\n  NEW\n}"),
        ("{\n\ta.command = 1, # first, of\n}", "{\n\ta.command = 1, # first, of\n\tNEW,\n}"),
        ("{\r\n    a.b = 1 # first\r\n  }", "{\r\n    a.b = 1, # first\r\n    NEW\r\n  }"),
        ("{\n  a = [\n1 ]\n}", "{\n  a = [\n1 ],\n  NEW\n}"),
        ("{ a = 1 # x\n , }", "{ a = 1, # x\n  NEW\n , }"),
    ] {
        let of = |it: &str| format!("mcp_servers = {it} # here\nz = 1\n");
        let out = put(&of(before), "mcp_servers", &entry(), false).unwrap();
        let new = "commis = { command = \"/opt/commis\", args = [\"mcp\", \"it's\"] }";
        assert_eq!(out.text, of(&after.replace("NEW", new)), "{before}");
        if !before.ends_with(", }") {
            assert_removed(&out.text, &of(before));
        }
    }
}

#[test]
fn an_entry_leaves_an_inline_table_without_the_comments_of_others() {
    for (before, after) in [
        ("{\n  a = 1, # first, of\n  OURS # ours\n}", "{\n  a = 1 # first, of\n}"),
        ("{\n  a = 1, # first,\n  OURS, # ours,\n}", "{\n  a = 1, # first,\n}"),
        ("{\n  OURS, # ours\n  b = 2 # b's\n}", "{\n  b = 2 # b's\n}"),
        ("{\n  a = 1 # a's,\n  , OURS # ours,\n  , b = 2\n}", "{\n  a = 1 # a's,\n  , b = 2\n}"),
        ("{\n  OURS # ours,\n  , b = 2\n}", "{\n   b = 2\n}"),
        ("{ a = 1, # a's,\n OURS }", "{ a = 1 # a's,\n  }"),
        ("{ a = 1, # a's,\n OURS, b = 2 }", "{ a = 1, # a's,\n b = 2 }"),
        ("{ a = 1 # a's,\n , OURS, b = 2 }", "{ a = 1 # a's,\n , b = 2 }"),
        ("{ # first,\n OURS, b = 2 }", "{ # first,\n b = 2 }"),
        ("{\n  # about a,\n  a.x = 1, OURS, a.y = 2\n}", "{\n  # about a,\n  a.x = 1, a.y = 2\n}"),
        ("{ a.x = [1, 2], a.y = 2, OURS, }", "{ a.x = [1, 2], a.y = 2, }"),
        ("{\n  OURS # ours\n}", "{\n}"),
        ("{ # only,\n OURS }", "{ # only,\n}"),
        ("{ OURS, }", "{ }"),
    ] {
        let of = |it: &str| format!("mcp_servers = {it}\nz = 1\n");
        let ours = "commis = { command = 'commis' }";
        assert_removed(&of(&before.replace("OURS", ours)), &of(after));
    }
}

#[test]
fn dotted_keys_are_brought_up_to_date_and_not_taken_out() {
    for (before, after) in [
        (
            "mcp_servers.commis.command = 'commis'\nb = 1\n",
            "mcp_servers.commis.command = \"/opt/commis\"\nmcp_servers.commis.args = ARGS\nb = 1\n",
        ),
        (
            "mcp_servers = { commis.command = 'commis', b.command = 'x' }\n",
            "mcp_servers = { commis.command = \"/opt/commis\", commis.args = ARGS, b.command = 'x' }\n",
        ),
    ] {
        let out = put(before, "mcp_servers", &entry(), false).unwrap();
        assert_eq!(out.text, after.replace("ARGS", "[\"mcp\", \"it's\"]"));
        let err = take(&out.text, "mcp_servers", "commis", "/x", false).unwrap_err();
        assert_eq!(err.code(), Code::SettingsInvalid);
        assert!(err.to_string().contains("dotted"), "{err}");
    }
}

/// Whatever is edited reads as it should, so that nothing is refused as a bug, and no comment of another is lost or moved.
fn comes_back(text: &str) {
    if read(text).is_err() {
        return;
    }
    let change = |it: Result<Change>| match it {
        Ok(it) => Some(it),
        Err(err) => {
            assert_ne!(err.code(), Code::Internal, "{text}");
            None
        }
    };
    change(take(text, "mcp_servers", "commis", "/x", true));
    if let Some(out) = change(put(text, "mcp_servers", &entry(), true))
        && let Some(after) = change(take(&out.text, "mcp_servers", "commis", "/x", false))
        && out.done == EditOutcome::Added
    {
        // Blanks in an empty table, and where a comma had a line of its own.
        let words = |it: &str| {
            it.lines().map(|it| it.replace([' ', ','], "")).filter(|it| !it.is_empty()).collect()
        };
        let (before, after): (Vec<_>, Vec<_>) = (words(text), words(&after.text));
        assert_eq!(before, after, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn any_inline_table_comes_back(
        open in proptest::sample::select(vec!["{", "{ ", "{\n", "{ # o, p\n  "]),
        all in proptest::collection::vec(proptest::sample::select(vec![
            "a = 1", "b.c = [1,\n2]", "b.d = 1", "e = {x.y = 1}", "f.g.h = \"\"\"\n,# \"\"\"",
            "commis = {command = 'commis'}", "commis = {}", "commis.command = 'commis'", "commis.x = 1",
        ]), 0..5),
        gaps in proptest::collection::vec(proptest::sample::select(vec![
            ",", ", ", ",\n  ", ", # x, y\n", " # y,\n  , ", "\n,# z\n", " # v,\n  , # w,\n",
        ]), 5),
        close in proptest::sample::select(vec!["}", " }", "\n}", ",}", " # w, \n}", ", # v,\n}", "\n , # u\n\n}"]),
        ends in proptest::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = format!("mcp_servers = {open}");
        for (at, it) in all.iter().enumerate() {
            if at > 0 {
                text += gaps[at];
            }
            text += it;
        }
        comes_back(&format!("{text}{close} # end\nz = 1\n").replace('\n', ends));
    }

    #[test]
    fn any_tables_come_back(
        all in proptest::sample::subsequence(vec![
            "k.l = 1\n",
            "mcp_servers.b.command = 'x'\n",
            "mcp_servers.commis.command = 'commis'\n",
            "[mcp_servers]\n",
            "c = {command = 'x'} # c\n",
            "commis = {command = 'commis'} # ours\n",
            "[mcp_servers.a]\nx.y = 1\nx.z = [\n1]\n",
            "\n# about\n",
            "[mcp_servers.commis]\ncommand = 'commis'\nenv.A = [\n1]\nenv.B = 1\n",
            "[mcp_servers.commis]\nurl = 'x'\n",
            "[mcp_servers.commis.env.z]\nq.r = 1\nq.s = 1 # s\n",
            "[[mcp_servers.commis]]\nm.n = 1\nm.o = 1\n",
            "[[mcp_servers.commis.m.p]]\n\n",
            "[[m]]\n[m.n]\n",
        ], 0..10),
        turned in 0_usize..10,
        ends in proptest::sample::select(vec!["\n", "\r\n"]),
        ended in proptest::bool::ANY,
    ) {
        let mut all = all;
        let at = turned.min(all.len());
        all.rotate_left(at);
        let text = all.concat();
        let text = if ended { &text } else { text.trim_end() };
        comes_back(&text.replace('\n', ends));
    }
}
