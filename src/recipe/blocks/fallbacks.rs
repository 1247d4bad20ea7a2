//! What a script writes into the page as it is read, and a `noscript` right after it says as well.

use std::borrow::Cow;

use crate::shape::nesting;

/// Bytes of a script that does nothing but write.
const MAX_SCRIPT: usize = 2_000;

/// The page with the content of each `noscript` that stands right after a script which writes, by itself or by a function of the
/// page. In a page that a browser drew, what was written stands between them, so nothing is said twice.
///
/// A `noscript` elsewhere asks for scripts to be turned on, or counts visits.
pub fn replace_scripts(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "<noscript";
    const END: &str = "</noscript>";
    if !text.contains("document.write") {
        return Cow::Borrowed(text);
    }
    let low = text.to_ascii_lowercase();
    let mut out = String::new();
    let mut at = 0;
    while let Some(begin) = low[at..].find(BEGIN).map(|it| at + it) {
        let Some(inner) = low[begin..].find('>').map(|it| begin + it + 1) else { break };
        let Some(end) = low[inner..].find(END).map(|it| inner + it) else { break };
        if script_before(&low[..begin]).is_some_and(|it| writes_document(it, &low)) {
            out.push_str(&text[at..begin]);
            out.push_str(&text[inner..end]);
        } else {
            out.push_str(&text[at..end + END.len()]);
        }
        at = end + END.len();
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[at..]);
    // What stands in a `noscript` was not looked at as elements before.
    if nesting::check(&out).is_ok() { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// The script of the page that ends where the text does.
fn script_before(low: &str) -> Option<&str> {
    let before = low.trim_end().strip_suffix("</script>")?;
    let tag = &before[before.rfind("<script")?..];
    let (attributes, script) = tag.split_once('>')?;
    (!attributes.contains(" src") && script.len() <= MAX_SCRIPT).then_some(script)
}

/// Whether a script writes, or calls a function of the page, which does so somewhere.
fn writes_document(script: &str, low: &str) -> bool {
    let script = script.trim().trim_start_matches("<!--").trim_start();
    let end = script.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '$');
    let name = &script[..end.unwrap_or(0)];
    let is_call = !name.is_empty() && script[name.len()..].trim_start().starts_with('(');
    let is_write = script.contains("document.write") && !script.contains("function");
    is_write || (is_call && low.contains(&format!("function {name}(")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_writes_is_read() {
        let head = "<script>function when(t){document.write('<b>'+t+'</b>')}</script>";
        let check = |body: &str, expected: &str| {
            assert_eq!(
                replace_scripts(&format!("{head}{body}")),
                format!("{head}{expected}"),
                "{body}"
            );
        };
        check(
            "<td><script>when(17)</script>\n<NOSCRIPT><b>2023-12-12</b></NOSCRIPT> Größe",
            "<td><script>when(17)</script>\n<b>2023-12-12</b> Größe",
        );
        let direct = "<script>document.write(1)</script>";
        check(&format!("{direct}<noscript>1</noscript>"), &format!("{direct}1"));
        // The browser wrote it; nothing writes; the script is no call of the page's own function.
        for it in [
            "<script>when(17)</script><b>2023-12-12</b><noscript>2023-12-12</noscript>",
            "<noscript>Turn on scripts</noscript>",
            "<script src=/when.js></script><noscript>Turn on scripts</noscript>",
            "<script>count(17)</script><noscript><img src=/c></noscript>",
            "<script>when(17)</script><noscript>never closed",
        ] {
            check(it, it);
        }
    }

    #[test]
    fn a_noscript_hides_no_depth() {
        let deep = "<div>".repeat(100_000);
        let text = format!("<script>document.write(1)</script><noscript>{deep}</noscript>");
        assert_eq!(replace_scripts(&text), text);
    }
}
