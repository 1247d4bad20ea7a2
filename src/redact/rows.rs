//! Rows that a text writes out: tables of bars, and statements that insert. What stands in a place is what the head says.

use super::{class::SecretReason, rules::Walk, step_counter};

/// Places of a row that are looked at.
const COLUMNS: usize = 32;
/// Bytes of a line that are read.
const LONGEST: usize = 16 * 1024;

impl Walk<'_> {
    /// Secrets in rows whose head names them.
    pub fn find_in_rows<'t>(
        &mut self,
        text: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        if text.contains("|-") || text.contains("| -") || text.contains("| :-") {
            self.find_in_pipe_tables(text, found);
        }
        if text.contains("VALUES") || text.contains("values") {
            self.find_in_inserts(text, found);
        }
    }

    /// `| name | token |`, a line of dashes, and rows.
    fn find_in_pipe_tables<'t>(
        &mut self,
        text: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let mut before: Option<&str> = None;
        let mut heads: Option<Vec<&str>> = None;
        for line in text.lines() {
            step_counter::record_bytes(line.len().min(LONGEST) + 1);
            let line = line.trim();
            if !line.contains('|') || line.len() > LONGEST {
                (before, heads) = (None, None);
                continue;
            }
            if line.bytes().all(|b| b"|-: ".contains(&b)) && line.contains('-') {
                heads = before.map(split_cells);
            } else if let Some(heads) = &heads {
                for (head, value) in heads.iter().zip(split_cells(line)) {
                    self.judge_cell(Some(head), value.trim_matches('`'), found);
                }
            }
            before = Some(line);
        }
    }

    /// `INSERT INTO users (name, api_token) VALUES ('ida', '…'), (…)`, also over several lines.
    fn find_in_inserts<'t>(
        &mut self,
        text: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let (mut before, mut names): (&str, Option<Vec<&str>>) = ("", None);
        for line in text.lines() {
            if line.len() > LONGEST {
                (before, names) = ("", None);
                continue;
            }
            step_counter::record_bytes(line.len() + 1);
            let rows = match line.find("VALUES").or_else(|| line.find("values")) {
                Some(at) => {
                    let head = line[..at].trim();
                    names = column_names(if head.is_empty() { before } else { head });
                    &line[at + "VALUES".len()..]
                }
                // Further rows on lines of their own.
                None if names.is_some() && line.trim_start().starts_with('(') => line,
                None => {
                    (before, names) = (line, None);
                    continue;
                }
            };
            let Some(names) = &names else { continue };
            for row in quoted_rows(rows) {
                for (name, value) in names.iter().zip(row) {
                    if let Some(value) = value {
                        self.judge_cell(Some(name), value, found);
                    }
                }
            }
        }
    }
}

fn split_cells(line: &str) -> Vec<&str> {
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').unwrap_or(line).split('|').map(str::trim).take(COLUMNS).collect()
}

/// Names of columns in brackets at the end of a text.
fn column_names(head: &str) -> Option<Vec<&str>> {
    let (_, names) = head.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let names = names.split(',').map(|it| it.trim().trim_matches(['"', '`', '[', ']', '\'']));
    Some(names.take(COLUMNS).collect())
}

/// Rows in brackets: texts in quotes, `None` for any other value.
fn quoted_rows(text: &str) -> Vec<Vec<Option<&str>>> {
    let mut out = Vec::new();
    let mut row: Vec<Option<&str>> = Vec::new();
    let (mut from, mut value, mut depth, mut is_doubled) = (None, None, 0_usize, false);
    for (at, c) in text.char_indices() {
        match (c, from) {
            ('\'', Some(_)) if is_doubled => is_doubled = false,
            ('\'', Some(_)) if text[at + 1..].starts_with('\'') => is_doubled = true,
            ('\'', Some(start)) => {
                // What a function makes of its argument is not known.
                value = (depth == 1).then(|| &text[start..at]);
                from = None;
            }
            ('\'', None) => from = Some(at + 1),
            ('(', None) => {
                depth += 1;
                if depth == 1 {
                    (row, value) = (Vec::new(), None);
                }
            }
            (',' | ')', None) if depth == 1 => {
                if row.len() < COLUMNS {
                    row.push(value);
                }
                value = None;
                if c == ')' {
                    out.push(std::mem::take(&mut row));
                    depth = 0;
                }
            }
            (')', None) => depth = depth.saturating_sub(1),
            (';', None) => break,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::quoted_rows;
    use crate::message;

    #[test]
    fn rows_of_a_statement() {
        assert_eq!(
            quoted_rows(" ('ida', 4, 'x,y'), ('bo', NULL, '');"),
            [[Some("ida"), None, Some("x,y")], [Some("bo"), None, Some("")]]
        );
        assert_eq!(
            quoted_rows("('it''s', NOW('x'), 'b'), (COALESCE(1, 2), '('), ('open"),
            [vec![Some("it''s"), None, Some("b")], vec![None, Some("(")]]
        );
    }

    #[test]
    fn heads_name_what_stands_below() {
        let token = "fLfwuvfBuCqzEFNLoNE0R6q1BgoH8Fw4";
        for (text, stays) in [
            (format!("| name | token |\n|---|---|\n| prod | {token} |\n"), false),
            (format!("name | API key\n--- | :---:\nprod | `{token}`\n"), false),
            (format!("INSERT INTO users (name, api_token) VALUES ('ida', '{token}');\nx"), false),
            (
                format!("INSERT INTO u (name, at, api_token) VALUES ('i', NOW(), '{token}');\nx"),
                false,
            ),
            (format!("INSERT INTO u (n, api_token) VALUES\n('i', 'x'),\n('b', '{token}');"), false),
            (format!("INSERT INTO u (n, api_token)\nVALUES ('i''s', '{token}');\nx"), false),
            // Nothing says that these are secrets.
            ("| name | lamp |\n|---|---|\n| prod | Green-Table-Lamp-204 |\n".to_owned(), true),
            ("INSERT INTO lamps (name, colour) VALUES ('oak', 'warm white');\nx".to_owned(), true),
            ("| token | meaning |\n|---|---|\n| comma | parts a list |\n".to_owned(), true),
        ] {
            let told = message(&text);
            assert_eq!(told == text, stays, "{told}");
            assert!(stays || !told.contains(token), "{told}");
        }
    }
}
