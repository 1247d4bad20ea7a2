//! `commis session`: what a kept session holds besides its actions, and what is made of it later.

use std::{collections::BTreeSet, fs};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::session::{ProgramOutput, daemon, data, run, searched, well};

/// The longest row of black pixels.
fn longest_black(file: &std::path::Path) -> usize {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(file).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut out = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut out).unwrap();
    let each = frame.color_type.samples();
    let row = |it: &[u8]| {
        let black = it.chunks_exact(each).map(|it| it[..3] == [0, 0, 0]);
        black
            .fold((0, 0), |(best, now), it| {
                (best.max(now + usize::from(it)), if it { now + 1 } else { 0 })
            })
            .0
    };
    out.chunks_exact(frame.line_size).map(row).max().unwrap()
}

#[test]
fn a_session_that_was_kept_is_learned_later() {
    let Some(daemon) = daemon() else { return };
    let id = searched(&daemon, "lanterns", "lantern");
    well(&daemon, &["browse", "close"]);
    let shown = well(&daemon, &["session", "show", &id, "--requests"]);
    let search = shown.lines().find(|it| it.contains("/api/search?q=lantern")).unwrap();
    assert!(search.starts_with("3 200 fetch ") || search.starts_with("3 200 xhr "), "{shown}");
    let learn =
        ["session", "learn", &id, "--task", "Search the shop for {query}", "--name", "kept"];
    let with = |more: &[&'static str]| {
        learn.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>()
    };
    let refused = run(&daemon, &with(&["-p", "query=kettle"]));
    assert!(
        refused.code != 0 && refused.err.contains("neither typed nor chosen"),
        "{}",
        refused.err
    );
    let told = well(&daemon, &with(&["-p", "query=lantern", "--second", "query=hose"]));
    assert_eq!(told, "kept: verified");
    // One with a secret in it cannot be.
    let it = data(&daemon, &["session", "record", "in", "https://leaky.test/", "--json"]);
    let secret = it["id"].as_str().unwrap();
    well(&daemon, &["browse", "fill", "css=input[name=password]", "correct-horse-9"]);
    well(&daemon, &["session", "end"]);
    let refused = run(&daemon, &["session", "learn", secret, "--task", "Log in"]);
    assert!(
        refused.code != 0 && refused.err.contains("some of the actions cannot be repeated"),
        "{}",
        refused.err
    );
    // Its traffic is damaged by whoever touches it.
    let file =
        daemon.home.path().join("sessions").join(&id).join("recording/01_session_recording.json");
    let text = fs::read_to_string(&file).unwrap();
    crate::support::write(&file, &text.replace("q=lantern", "q=poppies"));
    let damaged = run(&daemon, &["session", "show", &id, "--requests"]);
    assert!(damaged.code != 0 && damaged.err.contains("is damaged"), "{}", damaged.err);
}

#[test]
fn pictures_are_kept_without_secrets_and_compared() {
    let Some(daemon) = daemon() else { return };
    let lanterns = searched(&daemon, "lanterns", "lantern");
    let hoses = searched(&daemon, "hoses", "hose");
    let home = daemon.home.path();
    let pictures = |id: &str| -> Vec<String> {
        let folder = home.join("sessions").join(id).join("screenshots");
        let all = fs::read_dir(folder).into_iter().flatten();
        let mut all: Vec<_> =
            all.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    assert_eq!(pictures(&lanterns)[0], "00001.png");
    let manifest =
        fs::read_to_string(home.join("sessions").join(&lanterns).join("manifest.yaml")).unwrap();
    assert!(
        manifest.contains("screenshots/00001.png") && manifest.contains("viewport"),
        "{manifest}"
    );
    let page = well(&daemon, &["session", "show", &lanterns, "--html"]);
    assert!(page.contains("src=\"data:image/png;base64,iVBOR") && page.contains("/api/search"));
    assert!(!page.contains("<script") && !page.contains("src=\"http"));
    let same = run(&daemon, &["session", "diff", &lanterns, &lanterns, "--pictures", "--json"]);
    assert_eq!(same.code, 0, "{}", same.out);
    let out = home.join("differences");
    let out = out.to_str().unwrap();
    let differs =
        run(&daemon, &["session", "diff", &lanterns, &hoses, "--pictures", "--out", out, "--json"]);
    let told: Value = serde_json::from_str(&differs.out).unwrap();
    assert_eq!((differs.code, &told["same"]), (1, &Value::Bool(false)));
    let steps = told["steps"].as_array().unwrap();
    assert_eq!((&steps[0]["n"], &steps[0]["pixels_bp"]), (&1.into(), &0.into()), "{told}");
    // A field for a secret is black, and nothing is seen of the page once one was typed.
    let it = data(&daemon, &["session", "record", "in", "https://leaky.test/", "--json"]);
    let id = it["id"].as_str().unwrap();
    well(&daemon, &["browse", "fill", "css=input[name=password]", "correct-horse-9"]);
    run(&daemon, &["browse", "click", "button \"Nowhere\""]);
    well(&daemon, &["session", "end"]);
    assert_eq!(pictures(id), ["00001.png"]);
    let black =
        |id: &str| longest_black(&home.join("sessions").join(id).join("screenshots/00001.png"));
    assert!(black(id) > 60 && black(&lanterns) < 60, "{} {}", black(id), black(&lanterns));
}

/// Rules of what was found, and where.
fn rules(said: &ProgramOutput) -> BTreeSet<String> {
    let told: Value = serde_json::from_str(&said.out).unwrap();
    let all = told["findings"].as_array().unwrap().iter();
    all.map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_audit_finds_every_fault_and_none_where_there_is_none() {
    let Some(daemon) = daemon() else { return };
    let visit = |site: &str| {
        let url = format!("https://{site}/");
        let it = data(&daemon, &["session", "record", site, &url, "--json"]);
        well(&daemon, &["browse", "click", "link \"Forgotten?\""]);
        well(&daemon, &["browse", "goto", &url]);
        well(&daemon, &["browse", "fill", "textbox \"Password\"", "correct-horse-9"]);
        well(&daemon, &["browse", "click", "button \"Log in\""]);
        well(&daemon, &["browse", "goto", &url]);
        well(&daemon, &["browse", "click", "link \"Our shop\""]);
        it["id"].as_str().unwrap().to_owned()
    };
    let id = visit("leaky.test");
    well(&daemon, &["browse", "goto", "http://leaky.test/"]);
    well(&daemon, &["browse", "click", "link \"Our docs\""]);
    let open = run(&daemon, &["browse", "--json", "audit"]);
    well(&daemon, &["session", "end"]);
    let kept = run(&daemon, &["session", "audit", &id, "--json"]);
    assert_eq!((kept.code, rules(&kept)), (1, rules(&open)));
    let all = [
        "cookie-without-httponly",
        "cookie-without-samesite",
        "cookie-without-secure",
        "form-without-csrf-token",
        "login-over-http",
        "missing-csp",
        "missing-frame-options",
        "missing-hsts",
        "mixed-content",
        "open-redirect",
        "redirect-with-secret",
        "request-without-csrf-token",
        "secret-in-referer",
        "secret-in-url",
    ];
    assert_eq!(rules(&kept), all.map(str::to_owned).into(), "{}", kept.out);
    let told: Value = serde_json::from_str(&kept.out).unwrap();
    let of = |rule: &str| {
        let all = told["findings"].as_array().unwrap();
        all.iter().find(|it| it["rule"] == rule).unwrap().clone()
    };
    assert_eq!(of("request-without-csrf-token")["action"], 5, "{told}");
    assert_eq!(of("request-without-csrf-token")["place"], "POST https://leaky.test/login");
    // Neither values nor queries.
    let reset = sha("leaky reset");
    let findings =
        fs::read_to_string(daemon.home.path().join("sessions").join(&id).join("findings.md"))
            .unwrap();
    assert!(findings.contains("audit: high secret-in-url, action 2"), "{findings}");
    assert!(!kept.out.contains(&reset) && !findings.contains(&reset));
    well(&daemon, &["browse", "close"]);
    let id = visit("sound.test");
    well(&daemon, &["session", "end"]);
    let sound = run(&daemon, &["session", "audit", &id]);
    assert_eq!((sound.code, &*sound.out), (0, ""), "{}", sound.err);
}

fn sha(label: &str) -> String {
    Sha256::digest(label.as_bytes())
        .iter()
        .fold(String::new(), |it, byte| it + &format!("{byte:02x}"))
}

#[test]
fn no_file_of_a_session_holds_one_of_64_secrets() {
    let Some(daemon) = daemon() else { return };
    let it = data(&daemon, &["session", "record", "hoard", "https://hoard.test/", "--json"]);
    let id = it["id"].as_str().unwrap();
    well(&daemon, &["browse", "wait", "--text", "Yours are"]);
    let mut canaries = Vec::new();
    for kind in ["cookie", "storage", "header", "url", "body"] {
        canaries.extend((0..12).map(|n| sha(&format!("hoard {kind} {n}"))[..40].to_owned()));
    }
    for n in 0..4 {
        let typed = format!("Zt-{}", &sha(&format!("typed {n}"))[..20]);
        well(&daemon, &["browse", "fill", "css=input[name=password]", &typed]);
        canaries.push(typed);
    }
    assert_eq!(canaries.len(), 64);
    // What the page makes of them is seen by whoever acts next.
    well(&daemon, &["browse", "reload"]);
    well(&daemon, &["browse", "wait", "--text", "Yours are"]);
    well(&daemon, &["browse", "click", "link \"Next\""]);
    well(&daemon, &["session", "end"]);
    let file = daemon.home.path().join("hoard.tar.zst");
    well(&daemon, &["session", "export", id, file.to_str().unwrap()]);
    let unpacked = zstd::decode_all(fs::File::open(&file).unwrap()).unwrap();
    let text = String::from_utf8_lossy(&unpacked);
    assert!(text.contains("/api/keys") && text.contains("snapshots/00001.txt"), "it is empty");
    let found: Vec<&String> = canaries.iter().filter(|it| text.contains(it.as_str())).collect();
    assert!(found.is_empty(), "{} of 64: {found:?}", found.len());
    let manifest =
        fs::read_to_string(daemon.home.path().join("sessions").join(id).join("manifest.yaml"))
            .unwrap();
    assert!(manifest.contains("redactions:") && manifest.contains("typed: 4"), "{manifest}");
    let show = well(&daemon, &["session", "show", id, "--html"]);
    assert!(canaries.iter().all(|it| !show.contains(it.as_str())));
}

#[test]
fn a_template_takes_the_same_of_other_pages_or_nothing() {
    let Some(daemon) = daemon() else { return };
    well(&daemon, &["browse", "goto", "https://shop.test/"]);
    well(&daemon, &["browse", "fill", "searchbox \"Search products\"", "lantern"]);
    well(&daemon, &["browse", "click", "button \"Search\""]);
    let template = |args: &[&str]| {
        run(&daemon, &["session", "template"].iter().chain(args).copied().collect::<Vec<_>>())
    };
    let saved = template(&["save", "products", "--about", "lantern"]);
    let data: Value = serde_json::from_str(&saved.out).unwrap();
    assert!(data.as_array().unwrap().len() > 3 && data.to_string().contains("antern"), "{data}");
    well(&daemon, &["browse", "fill", "searchbox \"Search products\"", "hose"]);
    well(&daemon, &["browse", "click", "button \"Search\""]);
    let hoses: Value = serde_json::from_str(&template(&["apply", "products"]).out).unwrap();
    let hoses = hoses.as_array().unwrap();
    let of_hose = |it: &Value| it["title"].as_str().unwrap().contains("Hose");
    assert!(hoses.len() > 3 && hoses.iter().all(of_hose), "{hoses:?}");
    let other = template(&["apply", "products", "--url", "https://city.test/"]);
    assert!(other.code != 0 && other.out.is_empty(), "{}", other.out);
    assert!(other.err.contains("template"), "{}", other.err);
    assert!(template(&["ls"]).out.starts_with("products  https://shop.test/"));
    assert!(template(&["show", "products"]).out.contains("\"items\""));
    assert_eq!(template(&["rm", "products"]).out, "removed");
    assert_eq!(template(&["apply", "products"]).code, 2);
}

#[test]
fn what_instructs_its_reader_is_told_in_the_findings() {
    let Some(daemon) = daemon() else { return };
    let url = "http://lures.test/lure/heading";
    let it = data(&daemon, &["session", "record", "lure", url, "--json"]);
    well(&daemon, &["session", "end"]);
    let shown = well(&daemon, &["session", "show", it["id"].as_str().unwrap()]);
    let told = shown.lines().find(|it| it.contains("quarantined")).unwrap();
    assert!(told.starts_with("- action 1: quarantined: ⚠ instructs its reader: "), "{told}");
}
