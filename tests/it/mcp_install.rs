//! commis among the servers of MCP clients: what is written, what is left alone, and that it can be undone.

use std::{
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;

use crate::support::{Home, write};

/// Client, its file below the user's home and below a project (empty: none), the table of servers.
#[cfg(not(target_os = "macos"))]
const CLIENTS: &[(&str, &str, &str, &str)] = &[
    ("claude-code", ".claude.json", ".mcp.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "", "mcpServers"),
    ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
    ("codex", ".codex/config.toml", ".codex/config.toml", "mcp_servers"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "", "mcpServers"),
    ("zed", ".config/zed/settings.json", "", "context_servers"),
    ("cline", ".cline/data/settings/cline_mcp_settings.json", "", "mcpServers"),
];

/// A user with a home and a project.
struct User {
    home: Home,
    root: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let it = Self { home: Home::new(), root: tempfile::tempdir().unwrap() };
        std::fs::create_dir(it.at("")).unwrap();
        std::fs::create_dir(it.project("")).unwrap();
        it
    }

    fn at(&self, file: &str) -> PathBuf {
        self.root.path().join("home").join(file)
    }

    fn project(&self, file: &str) -> PathBuf {
        self.root.path().join("project").join(file)
    }

    fn run_with(&self, args: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = self.home.command(&[&["mcp"], args].concat());
        for it in [
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "CLINE_MCP_SETTINGS_PATH",
        ] {
            command.env_remove(it);
        }
        command.env("HOME", self.at("")).current_dir(self.project(""));
        command.env("SOME_API_KEY", "kept-to-the-environment");
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, &[])
    }

    /// Runs, and must succeed; what it said.
    fn run_ok(&self, args: &[&str]) -> String {
        let out = self.run(args);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        text
    }

    /// Runs, and must fail with that code; what it said of it.
    fn run_refused(&self, args: &[&str], exit: i32, code: &str) -> String {
        let out = self.run(args);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(exit), "{args:?}: {text}");
        assert!(text.contains(&format!("[{code}]")) && text.contains("hint: "), "{args:?}: {text}");
        text
    }
}

fn install(client: &str) -> [&str; 3] {
    ["install", "--client", client]
}

fn uninstall(client: &str) -> [&str; 3] {
    ["uninstall", "--client", client]
}

fn text(path: &Path) -> String {
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(path, text);
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_commis")
}

/// The entry of that name, whatever the format, comments left out by hand.
fn entry(text: &str, key: &str, name: &str) -> Value {
    let json = if key == "mcp_servers" {
        serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
    } else {
        let plain: Vec<&str> =
            text.lines().map(|it| it.split_once(" //").map_or(it, |it| it.0)).collect();
        serde_json::from_str(&plain.join("\n")).unwrap_or_else(|err| panic!("{err}: {text}"))
    };
    json[key][name].clone()
}

/// A file with other servers, other keys and comments.
fn others(key: &str, theirs: &str) -> String {
    if key == "mcp_servers" {
        return format!(
            "# mine\nmodel = \"o\" # the best\n\n[mcp_servers.other]\ncommand = 'npx' # here\n\n[mcp_servers.{theirs}]\ncommand = \"npx\"\n\n[mcp_servers.other.env]\nTOKEN = \"t\"\n"
        );
    }
    format!(
        "{{\n    // mine\n    \"big\": 1.50e3, // as it is written\n    \"{key}\": {{\n        \"other\": {{ \"command\": \"npx\", \"env\": {{\"TOKEN\": \"t\"}} }},\n        \"{theirs}\": {{\"command\": \"npx\"}} // last\n    }},\n    \"z\": [1,2,   3]\n}}\n"
    )
}

#[test]
fn every_client_gets_an_entry_in_a_file_that_is_made_and_loses_it_again() {
    for (client, file, project, key) in CLIENTS {
        let user = User::new();
        for (path, scope) in [(user.at(file), "user"), (user.project(project), "project")] {
            let args = [&install(client)[..], &["--scope", scope]].concat();
            if path == user.project("") {
                user.run_refused(&args, 2, "USAGE");
                continue;
            }
            // Shown first, which changes nothing.
            let shown = user.run_ok(&[&args[..], &["--print"]].concat());
            assert!(shown.contains("not written") && !path.exists(), "{client}: {shown}");
            assert!(user.run_ok(&args).starts_with("added commis to "), "{client}");
            assert_eq!(mode(&path), 0o600);
            let made = text(&path);
            let found = entry(&made, key, "commis");
            assert_eq!(found["command"], program(), "{made}");
            assert_eq!(found["args"], serde_json::json!(["mcp"]), "{made}");
            let typed = ["claude-code", "vscode"].contains(client);
            assert_eq!(found["type"].as_str(), typed.then_some("stdio"), "{made}");
            assert_eq!(found.as_object().unwrap().len(), 2 + usize::from(typed));
            assert!(!made.contains("kept-to-the-environment"));
            for line in made.lines() {
                assert!(shown.contains(&format!("+ {line}")), "{client}: {shown}");
            }
            // Again: not one byte.
            let before = std::fs::metadata(&path).unwrap().modified().unwrap();
            assert!(user.run_ok(&args).contains("already; nothing was changed"), "{client}");
            assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
            assert_eq!(text(&path), made);
            let args = [&uninstall(client)[..], &["--scope", scope]].concat();
            assert!(user.run_ok(&args).starts_with("removed commis from "), "{client}");
            assert!(!path.exists(), "{client}");
            assert!(user.run_ok(&args).contains("is not in"), "{client}");
            assert!(!path.exists(), "{client}");
        }
    }
}

#[test]
fn what_else_is_in_a_file_stays_to_the_byte() {
    for (client, file, _, key) in CLIENTS {
        let user = User::new();
        let path = user.at(file);
        let before = others(key, "another");
        // With every kind of line break, mark and end.
        for before in [
            before.clone(),
            before.replace('\n', "\r\n"),
            format!("\u{feff}{before}"),
            before.trim_end().to_owned(),
        ] {
            put(&path, &before);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            user.run_ok(&install(client));
            let after = text(&path);
            let found = entry(after.trim_start_matches('\u{feff}'), key, "commis");
            assert_eq!(found["command"], program(), "{after}");
            assert_eq!(mode(&path), 0o640);
            // Every line that was there is there, in its order; but for one comma, as it was.
            let mut lines = after.lines();
            for line in before.lines() {
                let comma = line.replacen("} //", "}, //", 1);
                assert!(lines.any(|it| it == line || it == comma), "{client}: {line} in {after}");
            }
            user.run_ok(&uninstall(client));
            assert_eq!(text(&path), before, "{client}");
        }
    }
}

#[test]
fn our_own_entry_is_brought_up_to_date_and_anothers_is_left_alone() {
    for (client, file, _, key) in CLIENTS {
        let user = User::new();
        let path = user.at(file);
        put(&path, &others(key, "another"));
        let state = user.root.path().join("state");
        user.run_ok(&install(client));
        let args = [&install(client)[..], &["--tools", "core", "--home", state.to_str().unwrap()]];
        assert!(user.run_ok(&args.concat()).starts_with("updated commis in "), "{client}");
        let found = entry(&text(&path), key, "commis");
        let want = serde_json::json!(["mcp", "--tools", "core", "--home", state]);
        assert_eq!(found["args"], want, "{client}");
        user.run_ok(&[&uninstall(client)[..], &["--home", "elsewhere"]].concat());
        assert_eq!(text(&path), others(key, "another"), "{client}");

        let theirs = others(key, "commis");
        put(&path, &theirs);
        let said = user.run_refused(&install(client), 2, "USAGE");
        assert!(said.contains("--force") && said.contains(path.to_str().unwrap()), "{said}");
        user.run_refused(&uninstall(client), 2, "USAGE");
        assert_eq!(text(&path), theirs, "{client}");
        user.run_ok(&[&install(client)[..], &["--name", "commis-2"]].concat());
        assert_eq!(entry(&text(&path), key, "commis")["command"], "npx");
        user.run_ok(&[&uninstall(client)[..], &["--name", "commis-2"]].concat());
        assert_eq!(text(&path), theirs, "{client}");
        user.run_ok(&[&install(client)[..], &["--force"]].concat());
        assert_eq!(entry(&text(&path), key, "commis")["command"], program());
        assert_eq!(entry(&text(&path), key, "other")["command"], "npx");
    }
}

#[test]
fn an_entry_goes_whole_and_no_part_of_it_to_a_neighbour() {
    let user = User::new();
    let path = user.at(".codex/config.toml");
    let other = "[mcp_servers.other]\ncommand = \"npx\"\n\n";
    for dotted in
        ["env.A = \"1\"\nenv.TOKEN = \"secret\"\n", "env.A = \"1\"\nenv.B = [\n  \"x\",\n]\n"]
    {
        let ours = |program: &str| {
            format!("{other}[mcp_servers.commis]\ncommand = \"{program}\"\n{dotted}\n[z]\na = 1\n")
        };
        put(&path, &ours("commis"));
        user.run_ok(&uninstall("codex"));
        assert_eq!(text(&path), format!("{other}[z]\na = 1\n"));
        put(&path, &ours("npx"));
        user.run_ok(&[&install("codex")[..], &["--force"]].concat());
        let after = text(&path);
        assert!(after.starts_with(&format!("{other}[z]\na = 1\n")), "{after}");
        let found = entry(&after, "mcp_servers", "commis");
        assert_eq!(found, serde_json::json!({"command": program(), "args": ["mcp"]}));
    }
    // In an inline table of dotted keys; and with comments that have commas in them.
    for (before, after) in [
        ("mcp_servers = { a.command = \"x\" }\n", "mcp_servers = { a.command = \"x\" }\n"),
        (
            "mcp_servers = {\n  a = { command = \"x\" }, # first, of\n  commis = { command = \"commis\" } # ours\n}\n",
            "mcp_servers = {\n  a = { command = \"x\" } # first, of\n}\n",
        ),
    ] {
        put(&path, before);
        user.run_ok(&install("codex"));
        user.run_ok(&uninstall("codex"));
        assert_eq!(text(&path), after);
    }
}

#[test]
fn half_of_a_surrogate_pair_is_no_reason_to_refuse_a_file() {
    for (client, file, _, key) in CLIENTS.iter().filter(|it| it.3 != "mcp_servers") {
        let user = User::new();
        let before = format!("{{\"history\":[\"cut \\ud83d\"],\"{key}\":{{}}}}");
        put(&user.at(file), &before);
        user.run_ok(&install(client));
        let after = text(&user.at(file));
        assert!(after.contains("\"cut \\ud83d\"") && after.contains(program()), "{after}");
        user.run_ok(&uninstall(client));
        assert_eq!(text(&user.at(file)), before);
    }
}

#[test]
fn only_tools_that_the_server_knows_are_handed_on() {
    let user = User::new();
    let args = |tools| ["install", "--client", "cursor", "--tools", tools];
    for tools in [
        "everything",
        "core,everything",
        "",
        "core,",
        "top:",
        "top:many",
        "top:-1",
        "tag:",
        "tag:a b",
        "-x",
        "CORE",
    ] {
        let said = user.run_refused(
            &["install", "--client", "cursor", &format!("--tools={tools}")],
            2,
            "USAGE",
        );
        assert!(said.contains("--tools knows no `") && said.contains("tag:CATEGORY"), "{said}");
    }
    assert!(!user.at(".cursor/mcp.json").exists());
    for tools in ["core", "all", "top:5", "tag:web-shops", "recipes", "none", "core,all,top:30"] {
        user.run_ok(&args(tools));
        let found = entry(&text(&user.at(".cursor/mcp.json")), "mcpServers", "commis");
        assert_eq!(found["args"], serde_json::json!(["mcp", "--tools", tools]));
    }
}

#[test]
fn a_file_that_cannot_be_edited_is_named_and_left_alone() {
    for (client, file, _, key) in CLIENTS {
        let user = User::new();
        let path = user.at(file);
        let same = |bytes: &[u8], exit: i32, code: &str, part: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a user's own file")]
            std::fs::write(&path, bytes).unwrap();
            for args in [install(client), uninstall(client)] {
                let said = user.run_refused(&args, exit, code);
                assert!(said.contains(part), "{client}: {said}");
                assert!(said.contains(path.to_str().unwrap()), "{client}: {said}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "{client}");
            let beside = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(beside, 1, "{client}");
        };
        same(b"{\n\"a\": \xff}", 2, "SETTINGS_INVALID", "not UTF-8");
        same(b"{\n  \"a\" = [[[1", 2, "SETTINGS_INVALID", "line ");
        same(format!("{key}\n").as_bytes(), 2, "SETTINGS_INVALID", "column ");
        let large = vec![b' '; (4 << 20) + 1];
        same(&large, 3, "ARTIFACT_IO", "larger than 4194304");
        if *key != "mcp_servers" {
            let twice = format!("{{\"{key}\": {{}},\n\"{key}\": {{}}}}");
            same(twice.as_bytes(), 2, "SETTINGS_INVALID", "line 2, column 1: ");
            same(format!("{{\"{key}\": 3}}").as_bytes(), 2, "SETTINGS_INVALID", "no object");
            same(b"[]", 2, "SETTINGS_INVALID", "an object is expected");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(
            user.run_refused(&install(client), 3, "ARTIFACT_IO").contains("not a regular file")
        );
        std::fs::remove_dir(&path).unwrap();
        symlink("nowhere", &path).unwrap();
        assert!(user.run_refused(&install(client), 3, "ARTIFACT_IO").contains("leads nowhere"));
        std::fs::remove_file(&path).unwrap();
        // Only root can give a file away; to others one of root's is somebody else's.
        write(&path, "");
        if std::os::unix::fs::chown(&path, Some(4711), None).is_err() {
            std::fs::remove_file(&path).unwrap();
            symlink("/etc/passwd", &path).unwrap();
        }
        assert!(user.run_refused(&install(client), 3, "ARTIFACT_IO").contains("somebody else"));
    }
}

#[test]
fn links_are_followed_and_stay_and_a_read_only_file_is_left() {
    let user = User::new();
    let (path, real) = (user.at(".cursor/mcp.json"), user.at("dotfiles/cursor.json"));
    put(&real, "{\"mcpServers\": {\"a\": {}}}");
    put(&user.at(".cursor/x"), "");
    symlink("../dotfiles/cursor.json", &path).unwrap();
    assert!(user.run_ok(&install("cursor")).contains("dotfiles/cursor.json"));
    assert!(path.is_symlink() && text(&real).contains(program()));
    user.run_ok(&uninstall("cursor"));
    assert_eq!(text(&real), "{\"mcpServers\": {\"a\": {}}}");
    // What is ours alone is emptied, and the link leads somewhere still.
    write(&real, "");
    user.run_ok(&install("cursor"));
    user.run_ok(&uninstall("cursor"));
    assert!(path.is_symlink() && text(&real).trim() == "{}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(user.run_refused(&install("cursor"), 3, "ARTIFACT_IO").contains("read-only"));
    assert_eq!(text(&real).trim(), "{}");
    // A project may not lead a write out of itself.
    put(&user.at("settings.json"), "{}");
    symlink(user.at("settings.json"), user.project(".mcp.json")).unwrap();
    symlink(user.at(""), user.project(".cursor")).unwrap();
    for client in ["claude-code", "cursor"] {
        let args = [&install(client)[..], &["--scope", "project"]].concat();
        assert!(user.run_refused(&args, 3, "ARTIFACT_IO").contains("out of the project"));
    }
    assert_eq!(text(&user.at("settings.json")), "{}");
    assert!(!user.at("mcp.json").exists());
}

#[test]
fn clients_may_keep_their_settings_elsewhere() {
    let user = User::new();
    let there = user.root.path().join("there");
    for (client, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("zed", "XDG_CONFIG_HOME", "zed/settings.json"),
    ] {
        let out = user.run_with(&install(client), &[(variable, &there)]);
        assert!(out.status.success() && there.join(file).exists(), "{client}");
    }
    let file = there.join("cline.json");
    let out = user.run_with(&install("cline"), &[("CLINE_MCP_SETTINGS_PATH", &file)]);
    assert!(out.status.success() && file.exists());
    // A relative one is nobody's.
    let out = user.run_with(&install("codex"), &[("CODEX_HOME", Path::new("here"))]);
    assert!(out.status.success() && user.at(".codex/config.toml").exists());
}

#[test]
fn scripts_read_what_was_done() {
    let user = User::new();
    put(
        &user.at(".cursor/mcp.json"),
        "{\"mcpServers\": {\"a\": {\"env\": {\"K\": \"secret-of-a\"}}}}",
    );
    let json = |args: &[&str]| -> Value {
        let out = user.run(args);
        assert!(!String::from_utf8_lossy(&out.stdout).contains("secret-of-a"));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let shown = json(&["install", "--client", "cursor", "--print", "--json"]);
    assert_eq!((&shown["result"], &shown["written"]), (&"added".into(), &false.into()));
    let done = json(&["install", "--client", "cursor", "--json"]);
    assert_eq!((&done["result"], &done["written"]), (&"added".into(), &true.into()));
    assert_eq!(done["changes"], shown["changes"]);
    assert_eq!(done["entry"]["command"], program());
    let again = json(&["install", "--client", "cursor", "--json"]);
    assert_eq!((&again["result"], &again["written"]), (&"unchanged".into(), &false.into()));
    let list = json(&["install", "--list", "--json"]);
    let entered: Vec<_> =
        list.as_array().unwrap().iter().filter(|it| it["entered"] == "yes").collect();
    assert!(entered.len() == 1 && entered[0]["client"] == "cursor", "{list}");
    let removed = json(&["uninstall", "--client", "cursor", "--json"]);
    assert_eq!(removed["result"], "removed");
    write(&user.at(".cursor/mcp.json"), "{");
    let failed = json(&["install", "--client", "cursor", "--json"]);
    assert_eq!(
        (&failed["success"], &failed["error_code"]),
        (&false.into(), &"SETTINGS_INVALID".into())
    );
    for args in [
        &["install"][..],
        &["install", "--client", "emacs"],
        &["install", "--client", "cursor", "--list"],
        &["install", "--client", "cursor", "--name", "a b"],
        &["install", "--client", "cursor", "--name", ""],
        &["install", "--client", "cursor", "--tools", "--home=/x"],
        &["uninstall"],
    ] {
        assert_eq!(user.run(args).status.code(), Some(2), "{args:?}");
    }
    let said = user.run_ok(&["install", "--list"]);
    assert!(CLIENTS.iter().all(|it| said.contains(it.0)), "{said}");
}
