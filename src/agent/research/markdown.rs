//! The report as Markdown. What it says is of strangers, so none of it can be a link, a picture or markup.

use std::fmt::Write as _;

use super::{QuestionStatus, ResearchReport, ResearchStatus};

/// The report, what was not found, what was left out, and the sources.
pub fn markdown(it: &ResearchReport) -> String {
    let mut out = format!("# {}\n\n", escape_text(&it.topic));
    for it in &it.report {
        let ids: Vec<String> = it.sources.iter().map(|it| escape_text(it)).collect();
        let _ = writeln!(out, "{} [{}]\n", escape_text(&it.sentence), ids.join(", "));
    }
    if it.report.is_empty() {
        out.push_str("Nothing can be reported.\n\n");
    }
    let missing: Vec<_> =
        it.questions.iter().filter(|it| it.status != QuestionStatus::Answered).collect();
    if !missing.is_empty() {
        out.push_str("## Not answered\n\n");
        for it in missing {
            let what = match it.status {
                QuestionStatus::NotFound => "no source for",
                QuestionStatus::Failed => "failed:",
                QuestionStatus::NotDone | QuestionStatus::Answered => "not looked into:",
            };
            let why =
                it.why.as_deref().map(|it| format!(" ({})", escape_text(it))).unwrap_or_default();
            let _ = writeln!(out, "- {what} question {}: {}{why}", it.n, escape_text(&it.text));
        }
        out.push('\n');
    }
    if !it.left_out.is_empty() {
        out.push_str("## Left out\n\nThe sources do not support these sentences:\n\n");
        for it in &it.left_out {
            let _ = writeln!(out, "- {} ({})", escape_text(&it.sentence), escape_text(&it.why));
        }
        out.push('\n');
    }
    if !it.sources.is_empty() {
        out.push_str("## Sources\n\n");
        for it in &it.sources {
            let title = if it.title.is_empty() {
                String::new()
            } else {
                format!("{}, ", escape_text(&it.title))
            };
            let _ = writeln!(
                out,
                "- [{}] {title}{}, {}, sha256 {}",
                escape_text(&it.id),
                code(&it.url),
                escape_text(&it.fetched_at),
                escape_text(&it.sha256)
            );
        }
        out.push('\n');
    }
    if it.status == ResearchStatus::Partial {
        let why =
            it.reason.as_deref().map(|it| format!(": {}", escape_text(it))).unwrap_or_default();
        let _ = writeln!(out, "The report is incomplete{why}. Continue with --resume {}.", it.id);
    }
    format!("{}\n", out.trim_end())
}

/// Text that is nothing but text: what looks like an address is no link either.
fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if "\\`*_{}[]<>#|!~&".contains(it) {
            out.push('\\');
        }
        out.push(if it == '\n' { ' ' } else { it });
    }
    let mut out = out.replace("://", "\\://").replace("www.", "www\\.");
    // What a line may begin with.
    match out.chars().next() {
        Some('-' | '+' | '=') => format!("\\{out}"),
        Some(it) if it.is_ascii_digit() => {
            let end = out.find(|it: char| !it.is_ascii_digit()).unwrap_or(out.len());
            if out[end..].starts_with(['.', ')']) && out[end + 1..].starts_with(' ') {
                out.insert(end, '\\');
            }
            out
        }
        _ => out,
    }
}

/// An address that is read and not followed.
fn code(url: &str) -> String {
    let url: String = url.chars().filter(|it| !it.is_whitespace() && *it != '`').collect();
    format!("`{url}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_say_is_text() {
        for (text, expected) in [
            ("![x](http://a.test/)", "\\!\\[x\\](http\\://a.test/)"),
            ("<img src=x>", "\\<img src=x\\>"),
            ("see www.a.test", "see www\\.a.test"),
            ("# a\n# b", "\\# a \\# b"),
            ("- a", "\\- a"),
            ("12. a", "12\\. a"),
            ("12.5 a", "12.5 a"),
            ("`a` & b", "\\`a\\` \\& b"),
        ] {
            assert_eq!(escape_text(text), expected);
        }
        assert_eq!(code("http://a.test/`x y"), "`http://a.test/xy`");
    }
}
