//! Inputs of `recipe map` from a table: rows of CSV become the lines of JSON that inputs are, one row at a time.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufRead as _, BufReader, Read},
    path::Path,
};

use commis_base::error::{Code, Error, Result};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    /// A line of JSON each
    Ndjson,
    /// A row each, with a line of headings that are names of parameters; separated by commas, semicolons or tabs
    Csv,
}

impl InputFormat {
    /// What a file's name says; lines of JSON where it says nothing.
    pub fn of(path: &Path) -> Self {
        let is = |it: &str| path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case(it));
        if is("csv") || is("tsv") { Self::Csv } else { Self::Ndjson }
    }
}

/// A table as lines of JSON. Each stands on the line on which its row begins, so that results name lines of the table.
pub struct Table {
    rows: csv::ByteRecordsIntoIter<Box<dyn Read + Send>>,
    /// A parameter's name for each column, none for a column that is no parameter.
    columns: Vec<Option<String>>,
    /// Line ends that were given out.
    line: u64,
    /// Lines that the reader is behind where a row begins: it takes the LF of a CRLF for a part of the next row.
    behind: u64,
    out: VecDeque<u8>,
    /// Headings that are no parameters.
    pub left_out: Vec<String>,
}

impl Table {
    /// Reads the headings. Fails with `PARAM_INVALID` where none of them is one of these parameters, and with `USAGE` where the table cannot
    /// be read.
    pub fn open(from: Box<dyn Read + Send>, parameters: &[&str]) -> Result<Self> {
        let mut from = BufReader::with_capacity(1 << 16, from);
        let unread = |err: io::Error| Error::new(Code::Usage, "cannot read the inputs").source(err);
        let begun = from.fill_buf().map_err(unread)?;
        let head = begun.split(|it| *it == b'\n').next().unwrap_or_default();
        let text = String::from_utf8_lossy(head);
        let count = |mark: u8| text.matches(char::from(mark)).count();
        let behind = u64::from(head.ends_with(b"\r"));
        // The first of those that stand there most often.
        let mark = [b'\t', b';', b','].into_iter().max_by_key(|it| count(*it)).unwrap_or(b',');
        let from: Box<dyn Read + Send> = Box::new(from);
        let mut rows = csv::ReaderBuilder::new().delimiter(mark).flexible(true).from_reader(from);
        let headings = rows.headers().map_err(|err| {
            Error::new(Code::Usage, "the headings of the inputs cannot be read")
                .hint("save the table as CSV in UTF-8")
                .source(err)
        })?;
        let plain = |it: &str| it.trim_start_matches('\u{feff}').trim().to_owned();
        let headings: Vec<String> = headings.iter().map(plain).collect();
        let column = |it: &String| parameters.contains(&it.as_str()).then(|| it.clone());
        let columns: Vec<Option<String>> = headings.iter().map(column).collect();
        if columns.iter().all(Option::is_none) {
            let message = format!("none of the headings is a parameter: {}", headings.join(", "));
            return Err(Error::new(Code::ParamInvalid, message)
                .hint(format!("name the columns by parameters: {}", parameters.join(", "))));
        }
        let left_out =
            headings.into_iter().filter(|it| !parameters.contains(&it.as_str())).collect();
        Ok(Self {
            rows: rows.into_byte_records(),
            columns,
            line: 0,
            behind,
            out: VecDeque::new(),
            left_out,
        })
    }

    /// The next row as a line; false at the end.
    fn next(&mut self) -> io::Result<bool> {
        let Some(row) = self.rows.next() else { return Ok(false) };
        let row = row.map_err(io::Error::other)?;
        let begins = row.position().map_or(self.line + 1, |it| it.line() + self.behind);
        let mut params = BTreeMap::new();
        for (name, cell) in self.columns.iter().zip(row.iter()) {
            let Some(name) = name else { continue };
            let text = std::str::from_utf8(cell).map_err(|_| {
                let why = format!("line {begins} is not UTF-8; save the table as CSV in UTF-8");
                io::Error::new(io::ErrorKind::InvalidData, why)
            })?;
            // An empty cell gives nothing, as a parameter that is left out.
            if !text.is_empty() {
                params.insert(name, text);
            }
        }
        while self.line + 1 < begins {
            self.out.push_back(b'\n');
            self.line += 1;
        }
        let text = serde_json::to_string(&params).map_err(io::Error::other)?;
        self.out.extend(text.bytes());
        self.out.push_back(b'\n');
        self.line += 1;
        Ok(true)
    }
}

impl Read for Table {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.out.is_empty() {
            if !self.next()? {
                return Ok(0);
            }
        }
        self.out.read(into)
    }
}

/// Lines of a file that are not empty.
pub fn count(path: &Path) -> Option<u64> {
    let file = commis_base::files::open(path).ok()?;
    let mut from = BufReader::with_capacity(1 << 16, file);
    let (mut lines, mut is_blank) = (0, true);
    loop {
        let part = from.fill_buf().ok()?;
        if part.is_empty() {
            return Some(lines + u64::from(!is_blank));
        }
        for it in part {
            match it {
                b'\n' => {
                    lines += u64::from(!is_blank);
                    is_blank = true;
                }
                it => is_blank &= it.is_ascii_whitespace(),
            }
        }
        let read = part.len();
        from.consume(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(table: &str) -> Result<String> {
        let table = io::Cursor::new(table.to_owned().into_bytes());
        let mut it = Table::open(Box::new(table), &["query", "page"])?;
        let mut out = String::new();
        it.read_to_string(&mut out).map_err(|err| Error::new(Code::Usage, "read").source(err))?;
        Ok(out)
    }

    #[test]
    fn rows_are_lines_at_their_place() {
        for (table, expected) in [
            ("query\nlamp\nrope\n", "\n{\"query\":\"lamp\"}\n{\"query\":\"rope\"}\n"),
            // Excel of a country that writes 1,5.
            ("\u{feff}id;query;page\r\n7;a,b;2\r\n", "\n{\"page\":\"2\",\"query\":\"a,b\"}\n"),
            ("query\tpage\nlamp\t\n", "\n{\"query\":\"lamp\"}\n"),
            (
                "query\n\"two\nlines\"\nrope\n",
                "\n{\"query\":\"two\\nlines\"}\n\n{\"query\":\"rope\"}\n",
            ),
        ] {
            assert_eq!(lines(table).unwrap(), expected, "{table:?}");
        }
        let err = lines("name\nlamp\n").unwrap_err();
        assert_eq!(err.code(), Code::ParamInvalid);
        assert!(err.hint_text().is_some_and(|it| it.contains("query, page")));
        assert_eq!(lines("").unwrap_err().code(), Code::ParamInvalid);
    }

    #[test]
    fn lines_that_are_not_empty_count() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("in.ndjson");
        commis_base::files::save(&path, b"a\n\n \nb\nc").unwrap();
        assert_eq!(count(&path), Some(3));
    }
}
