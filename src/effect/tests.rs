//! The judgement over labelled requests: `tests/vectors/requests/*.jsonl`, each line a request with what is known of it.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    method: String,
    url: String,
    headers: std::collections::BTreeMap<String, String>,
    body: String,
    pressed: Option<Control>,
    task: String,
    answer: RecordedAnswer,
    label: String,
}

#[derive(Deserialize)]
struct Control {
    role: String,
    name: String,
}

#[derive(Deserialize)]
struct RecordedAnswer {
    status: u16,
    content_type: String,
    excerpt: String,
}

fn rows() -> Vec<Row> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/requests");
    let mut out = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|it| it == "jsonl") {
            let text = std::fs::read_to_string(&path).unwrap();
            out.extend(text.lines().map(|it| serde_json::from_str::<Row>(it).unwrap()));
        }
    }
    assert!(!out.is_empty(), "{folder} has no requests");
    out
}

/// Words of three letters and more.
fn words_of(text: &str) -> Vec<String> {
    verbs::words(text).into_iter().filter(|it| it.chars().count() >= 3).collect()
}

/// What a recording would say of that answer.
fn answer(row: &Row, call: &Call<'_>) -> Answer {
    let it = &row.answer;
    let task: Vec<String> = words_of(&row.task);
    let body = Body::parse(call);
    let fields = body.as_ref().map(Body::pairs).unwrap_or_default();
    let typed = fields.iter().filter(|(_, value)| {
        !body::is_program(value)
            && words_of(value).iter().any(|it| task.iter().any(|word| word == it))
    });
    let (mut asks, mut keeps) = (false, false);
    for (name, _) in typed {
        asks |= body::is_question_field(name);
        keeps |= body::is_text_field(name);
    }
    let is_shown = words_of(&it.excerpt).iter().any(|it| task.contains(it));
    Answer {
        is_shown,
        asks,
        keeps,
        ..Answer::from_response(it.status, &it.content_type, &it.excerpt)
    }
}

#[test]
fn labelled_requests() {
    let rows = rows();
    let (mut missed, mut refused) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut unseen = Vec::new();
    for row in &rows {
        let headers = row.headers.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
        let content = match row.body.as_bytes() {
            [] => Content::None,
            bytes => Content::Bytes(bytes.into()),
        };
        let call = Call { method: &row.method, url: &row.url, headers, content };
        let pressed = row
            .pressed
            .as_ref()
            .map(|it| PressedControl { role: it.role.clone(), name: it.name.clone() });
        let known = RequestContext {
            pressed: pressed.as_ref(),
            task: Some(&row.task),
            answer: Some(answer(row, &call)),
        };
        for (at, effect) in [judge(&call, &known), judge_before_send(&call, pressed.as_ref())]
            .into_iter()
            .enumerate()
        {
            let told = || format!("{} ({}): {effect:?}", row.id, row.kind);
            match (row.label.as_str(), effect.is_read()) {
                // Of a GET only the answer tells some of them.
                ("change", true) if at == 1 && row.method == "GET" => unseen.push(told()),
                ("change", true) => missed[at].push(told()),
                ("read", false) => refused[at].push(told()),
                ("change", false) | ("read", true) => {}
                (other, _) => panic!("{}: a label {other:?}", row.id),
            }
        }
    }
    let reads = rows.iter().filter(|it| it.label == "read").count();
    let changes = rows.len() - reads;
    for (at, what) in ["with answer and task", "before it leaves"].into_iter().enumerate() {
        println!(
            "{what}: {} of {changes} changes missed, {} of {reads} reads refused",
            missed[at].len(),
            refused[at].len()
        );
        for it in &missed[at] {
            println!("  missed {it}");
        }
        for it in &refused[at] {
            println!("  refused {it}");
        }
    }
    for it in &unseen {
        println!("  known by its answer alone: {it}");
    }
    assert!(missed.iter().all(Vec::is_empty), "changes are taken for reads");
    assert!(refused[0].len() * 20 <= reads, "more than 5 % of what reads is refused");
}
