//! Sites that hand out files which only a click asks for: `permits.test` by a link, `inspections.test` by a button of a script,
//! `surveys.test` by a link that says itself that it downloads, and `receipts.test` by a script that makes the file.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{page, rest};
use crate::testbed_state::{TestbedState, sha256};
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

const FORM: &str = r#"<h1>Building permits</h1><form action="/find"><label>Number <input name="number" inputmode="numeric"></label><button>Find permit</button></form>"#;

/// A page for each permit, which leads to its PDF.
pub fn permits(ask: &SiteRequest, _: &TestbedState) -> Response {
    let file = ask.path.strip_prefix("/files/permit-").and_then(|it| it.strip_suffix(".pdf"));
    match (ask.route(), file) {
        (("GET", "/"), _) => page("Permits", FORM, ""),
        (("GET", "/find"), _) => {
            let number = ask.number("number", 1, 9999);
            let link = format!(r#"<a href="/files/permit-{number}.pdf">Download the permit</a>"#);
            page("Permits", &result_text(number, &link), "")
        }
        (("GET", _), Some(number)) => {
            attachment("application/pdf", &format!("permit-{number}.pdf"), pdf(number))
        }
        _ => rest(ask),
    }
}

/// The same for the inspections of a permit, a CSV file that a script asks for.
pub fn inspections(ask: &SiteRequest, _: &TestbedState) -> Response {
    let file = ask.path.strip_prefix("/export/inspections-").and_then(|it| it.strip_suffix(".csv"));
    match (ask.route(), file) {
        (("GET", "/"), _) => page("Inspections", FORM, ""),
        (("GET", "/find"), _) => {
            let number = ask.number("number", 1, 9999);
            let script = format!(
                "document.getElementById('export').onclick = () => {{ location.href = '/export/inspections-{number}.csv'; }};"
            );
            let button = r#"<button id="export">Export inspections</button>"#;
            page("Inspections", &result_text(number, button), &script)
        }
        (("GET", _), Some(number)) => {
            attachment("text/csv", &format!("inspections-{number}.csv"), csv(number))
        }
        _ => rest(ask),
    }
}

/// The same for the survey of a permit: the server sends it as any text, and the link alone says that it is saved.
pub fn surveys(ask: &SiteRequest, _: &TestbedState) -> Response {
    let file = ask.path.strip_prefix("/surveys/").and_then(|it| it.strip_suffix(".csv"));
    match (ask.route(), file) {
        (("GET", "/"), _) => page("Surveys", FORM, ""),
        (("GET", "/find"), _) => {
            let number = ask.number("number", 1, 9999);
            let link = format!(r#"<a href="/surveys/{number}.csv" download>Save the survey</a>"#);
            page("Surveys", &result_text(number, &link), "")
        }
        (("GET", _), Some(number)) => wire::answer(StatusCode::OK, "text/csv", survey(number)),
        _ => rest(ask),
    }
}

/// Receipts of a permit, which the page's script makes a file of: no request gives it.
pub fn receipts(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page("Receipts", FORM, ""),
        ("GET", "/find") => {
            let number = ask.number("number", 1, 9999);
            let script = format!(
                "document.getElementById('save').onclick = () => {{ const it = document.createElement('a'); it.href = URL.createObjectURL(new Blob(['receipt,{number}\\n'])); it.download = 'receipt.csv'; it.click(); }};"
            );
            let button = r#"<button id="save">Save the receipt</button>"#;
            page("Receipts", &result_text(number, button), &script)
        }
        _ => rest(ask),
    }
}

fn survey(number: &str) -> Vec<u8> {
    [b"corner,".to_vec(), csv(number)].concat()
}

/// What can be said of a survey.
pub fn survey_facts(number: &str) -> Value {
    facts("text/csv", &format!("{number}.csv"), &survey(number))
}

/// What can be said of a permit's file.
pub fn permit_facts(number: &str) -> Value {
    facts("application/pdf", &format!("permit-{number}.pdf"), &pdf(number))
}

/// What can be said of the file of a permit's inspections.
pub fn inspection_facts(number: &str) -> Value {
    facts("text/csv", &format!("inspections-{number}.csv"), &csv(number))
}

fn result_text(number: u64, way: &str) -> String {
    let owner = SeededRng::new(&["permit", &number.to_string()]).title("house");
    format!("<h1>Permit {number}</h1><p>{owner}</p><p>{way}</p>")
}

fn attachment(mime: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let answer = wire::answer(StatusCode::OK, mime, bytes);
    wire::with(answer, "content-disposition", &format!("attachment; filename=\"{name}\""))
}

fn facts(mime: &str, name: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "type": mime, "size": bytes.len(), "sha256": sha256(bytes) })
}

fn pdf(number: &str) -> Vec<u8> {
    let title = SeededRng::new(&["permit file", number]).title("house");
    format!("%PDF-1.7\n% Permit {number}: {title}\n%%EOF\n").into_bytes()
}

fn csv(number: &str) -> Vec<u8> {
    let line = |nth: u64| {
        let mut rng = SeededRng::new(&["inspection", number, &nth.to_string()]);
        format!("{nth},{},{}\n", rng.title("roof"), rng.roll() % 100)
    };
    let lines: String = (1..=6).map(line).collect();
    format!("visit,part,score\n{lines}").into_bytes()
}
