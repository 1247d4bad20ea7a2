//! What a check found as JUnit XML, which CI systems show.

use std::fmt::Write as _;

use super::check_row::{Row, Verdict};

/// A test case a recipe: drift, change and failure fail it, what could not be asked is an error of its own kind.
pub fn report(rows: &[Row]) -> String {
    let count = |wanted: &[Verdict]| rows.iter().filter(|it| wanted.contains(&it.verdict)).count();
    let seconds: f64 =
        rows.iter().filter_map(|it| it.total_ms).fold(0.0, |sum, it| sum + it) / 1000.0;
    let failures = count(&[Verdict::Changed, Verdict::Drifted, Verdict::Failed]);
    let errors = count(&[Verdict::Unknown]);
    let all = rows.len();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites>\n<testsuite name=\"commis check\" tests=\"{all}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\">"
    );
    for it in rows {
        let name = escaped(it.name.as_str());
        let time = it.total_ms.unwrap_or_default() / 1000.0;
        let _ = write!(out, "<testcase classname=\"commis\" name=\"{name}\" time=\"{time:.3}\"");
        let (tag, kind) = match it.verdict {
            Verdict::Ok => {
                out.push_str("/>\n");
                continue;
            }
            Verdict::Changed => ("failure", "CHANGED"),
            Verdict::Drifted | Verdict::Failed => ("failure", "FAILED"),
            Verdict::Unknown => ("error", "UNKNOWN"),
        };
        let kind = escaped(it.error_code.unwrap_or(kind));
        let why = commis_redact::message(it.error.as_deref().unwrap_or_default());
        let why = escaped(&why);
        let _ = writeln!(out, ">\n<{tag} type=\"{kind}\" message=\"{why}\"/>\n</testcase>");
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Text in an attribute; what XML 1.0 has no way to write is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            it if it.is_control() => {}
            it => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::{
        error::{Code, Error},
        ids::RecipeName,
    };

    #[test]
    fn each_verdict_is_a_case() {
        let row = |name: &str, verdict| Row::new(&RecipeName::new(name).unwrap(), None, verdict);
        let lost = Error::new(Code::ShapeDrift, "lost <price> & \"name\"\u{1b}[31m");
        let rows = [
            row("well", Verdict::Ok),
            row("odd", Verdict::Drifted).with_error(&lost),
            row("away", Verdict::Unknown),
        ];
        assert_eq!(
            report(&rows),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
             <testsuite name=\"commis check\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"0.000\">\n\
             <testcase classname=\"commis\" name=\"well\" time=\"0.000\"/>\n\
             <testcase classname=\"commis\" name=\"odd\" time=\"0.000\">\n\
             <failure type=\"SHAPE_DRIFT\" message=\"lost &lt;price&gt; &amp; &quot;name&quot;[31m\"/>\n</testcase>\n\
             <testcase classname=\"commis\" name=\"away\" time=\"0.000\">\n\
             <error type=\"UNKNOWN\" message=\"\"/>\n</testcase>\n</testsuite>\n</testsuites>\n"
        );
    }
}
