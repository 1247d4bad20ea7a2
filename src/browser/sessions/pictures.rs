//! Pictures of a session: kept, given out, and two sessions compared by them and by what their pages showed.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::{DiffOp, TextDiff};

use super::{
    SessionRecorder, SessionStore,
    file_layout::{self, MAX_PICTURE, SCREENSHOTS, SNAPSHOTS, picture_of, snapshot_of},
    pixels,
};
use commis_base::error::{Code, Error, Result};

/// Of one session, and their bytes together.
const MOST: usize = 100;
const MOST_BYTES: usize = 16 << 20;
/// Lines of a difference that are told.
const TOLD: usize = 200;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What the page looked like after an action.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    pub n: u32,
    pub png_base64: String,
}

/// Whether a file that is to be a picture looks like one.
pub fn is_picture(bytes: &[u8]) -> bool {
    bytes.starts_with(PNG)
}

impl SessionRecorder {
    /// Whether another picture is kept.
    pub fn wants_picture(&self) -> bool {
        self.pictures < MOST && self.picture_bytes < MOST_BYTES
    }

    /// What the page looks like after the last action. Beyond 100 pictures, 16 MiB together or 2 MiB each it is left out.
    pub fn picture(&mut self, png: &[u8]) -> Result<()> {
        if !self.wants_picture() || png.len() > MAX_PICTURE {
            return Ok(());
        }
        self.pictures += 1;
        self.picture_bytes += png.len();
        let name = format!("{SCREENSHOTS}/{}", picture_of(self.manifest.actions));
        file_layout::write(&self.dir, &name, png)
    }
}

/// What two sessions showed after the same action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StepDiff {
    pub n: u32,
    /// Share of the pixels that differ, in ten thousandths; absent where one of them has no picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pixels_bp: Option<u32>,
    /// Lines of what the pages showed; absent where one of them has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<Vec<ElementChange>>,
    /// Where pixels differ, in red, base64; where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub png_base64: Option<String>,
}

impl StepDiff {
    pub fn differs(&self) -> bool {
        self.pixels_bp.is_some_and(|it| it > 0)
            || self.elements.as_ref().is_some_and(|it| !it.is_empty())
    }
}

/// An element that only one has, or that is called something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ElementChange {
    /// In the first session; absent where it was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// In the second; absent where it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// Without numbers, which are another's in another session.
fn bare(line: &str) -> &str {
    match line.strip_prefix('@').and_then(|it| it.split_once(' ')) {
        Some((number, rest)) if number.len() < 12 => rest,
        _ => line,
    }
}

fn kind(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}

/// Elements that were added, removed or changed.
pub fn elements(was: &str, now: &str) -> Vec<ElementChange> {
    let one: Vec<&str> = was.lines().map(bare).collect();
    let other: Vec<&str> = now.lines().map(bare).collect();
    let diff = TextDiff::from_slices(&one, &other);
    let mut out = Vec::new();
    for op in diff.ops() {
        let (mut old, mut new) = match *op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { old_index, old_len, .. } => {
                (one[old_index..old_index + old_len].to_vec(), Vec::new())
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                (Vec::new(), other[new_index..new_index + new_len].to_vec())
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => (
                one[old_index..old_index + old_len].to_vec(),
                other[new_index..new_index + new_len].to_vec(),
            ),
        };
        // One of the same kind in the same place has changed.
        while let (Some(a), Some(b)) = (old.first(), new.first()) {
            if kind(a) != kind(b) {
                break;
            }
            out.push(ElementChange { was: Some((*a).to_owned()), now: Some((*b).to_owned()) });
            old.remove(0);
            new.remove(0);
        }
        out.extend(old.iter().map(|it| ElementChange { was: Some((*it).to_owned()), now: None }));
        out.extend(new.iter().map(|it| ElementChange { was: None, now: Some((*it).to_owned()) }));
    }
    out.truncate(TOLD);
    out
}

impl SessionStore {
    /// All pictures of a session, by action.
    pub fn pictures(&self, id: &str) -> Result<Vec<Picture>> {
        let dir = self.at(id)?;
        let Some(folder) = dir.folder(SCREENSHOTS)? else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for name in folder.names()? {
            let n = name.strip_suffix(".png").and_then(|it| it.parse::<u32>().ok());
            let Some(n) = n.filter(|it| picture_of(*it) == name) else { continue };
            let png = folder.read(&name, MAX_PICTURE)?.unwrap_or_default();
            if is_picture(&png) {
                out.push(Picture { n, png_base64: STANDARD.encode(png) });
            }
        }
        out.sort_by_key(|it| it.n);
        Ok(out)
    }

    /// What two sessions showed, action by action; with pictures of what differs where that is asked for. Fails with
    /// `ARTIFACT_CORRUPT`.
    pub fn seen_beside(&self, one: &str, other: &str, drawn: bool) -> Result<Vec<StepDiff>> {
        let last = self.manifest(one)?.actions.max(self.manifest(other)?.actions);
        let (one, other) = (self.at(one)?, self.at(other)?);
        let mut out = Vec::new();
        for n in 1..=last {
            let both = |folder: &str, name: &str| {
                let name = format!("{folder}/{name}");
                Ok::<_, Error>((file_layout::read(&one, &name)?, file_layout::read(&other, &name)?))
            };
            let texts = both(SNAPSHOTS, &snapshot_of(n))?;
            let pngs = both(SCREENSHOTS, &picture_of(n))?;
            let mut step = StepDiff { n, pixels_bp: None, elements: None, png_base64: None };
            if let (Some(was), Some(now)) = texts {
                let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
                step.elements = Some(elements(&text(was), &text(now)));
            }
            if let (Some(was), Some(now)) = pngs {
                let (share, shown) =
                    pixels::compare(&pixels::decode(&was)?, &pixels::decode(&now)?);
                step.pixels_bp = Some(share);
                if drawn && share > 0 {
                    step.png_base64 = Some(STANDARD.encode(shown.encode()?));
                }
            }
            if step.pixels_bp.is_some() || step.elements.is_some() {
                out.push(step);
            }
        }
        Ok(out)
    }
}

/// The file that a difference is written to. Fails with `DAEMON_FAILED`.
pub fn of_base64(text: &str) -> Result<Vec<u8>> {
    let bytes = STANDARD.decode(text).ok().filter(|it| is_picture(it));
    bytes.ok_or_else(|| Error::new(Code::DaemonFailed, "the daemon sent no picture"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_added_removed_and_changed() {
        let was = "http://a.test/ \"A\"\n@e1 link \"Home\"\n@e2 button \"Buy\"\nheading \"Hats\" [level 1]";
        let now = "http://a.test/ \"A\"\n@e9 link \"Home\"\n@e3 button \"Order\"\n@e4 button \"Help\"\nheading \"Hats\" [level 1]";
        let change = |was: Option<&str>, now: Option<&str>| ElementChange {
            was: was.map(str::to_owned),
            now: now.map(str::to_owned),
        };
        let added = change(None, Some("button \"Help\""));
        let changed = change(Some("button \"Buy\""), Some("button \"Order\""));
        assert_eq!(elements(was, now), [changed, added]);
        assert_eq!(
            elements(was, ""),
            [
                change(Some("http://a.test/ \"A\""), None),
                change(Some("link \"Home\""), None),
                change(Some("button \"Buy\""), None),
                change(Some("heading \"Hats\" [level 1]"), None),
            ]
        );
        assert!(elements(was, was).is_empty());
    }
}
