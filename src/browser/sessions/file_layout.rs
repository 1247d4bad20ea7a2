//! Which files a session may have, by name, and how large each may be.

use sha2::{Digest as _, Sha256};

use commis_base::{error::Result, files::Dir, ids};

pub const MANIFEST: &str = "manifest.yaml";
pub const TRAJECTORY: &str = "trajectory.ndjson";
pub const FINDINGS: &str = "findings.md";
/// What an audit of the traffic found.
pub const AUDIT: &str = "audit.json";
/// What the page showed after an action that led elsewhere, or failed: `snapshots/00003.txt`.
pub const SNAPSHOTS: &str = "snapshots";
/// The same as a picture: `screenshots/00003.png`.
pub const SCREENSHOTS: &str = "screenshots";
/// What was asked for and answered, as the first stage of learning stores it.
pub const RECORDING: &str = "recording";
pub const TRAFFIC: &str = "01_session_recording.json";
/// Traffic of one session may be in so many files; a long one is begun anew.
pub const MOST_PARTS: u32 = 10;
/// Locked while it is recorded.
pub const HELD: &str = "held";

pub const MAX_MANIFEST: usize = 1 << 20;
pub const MAX_TRAJECTORY: usize = 64 << 20;
pub const MAX_SNAPSHOT: usize = 64 << 10;
/// Of a window of 800 by 600 pixels, a picture is far below.
pub const MAX_PICTURE: usize = 2 << 20;
pub const MAX_RECORDING: usize = 32 << 20;

pub const FOLDERS: &[&str] = &[SNAPSHOTS, SCREENSHOTS, RECORDING];

pub fn snapshot_of(n: u32) -> String {
    format!("{n:05}.txt")
}

pub fn picture_of(n: u32) -> String {
    format!("{n:05}.png")
}

/// The file of a part of the traffic, from 0.
pub fn traffic_of(part: u32) -> String {
    match part {
        0 => TRAFFIC.to_owned(),
        n => format!("01_session_recording-{n}.json"),
    }
}

/// How large a file of that name may be; `None`: a session has none of that name.
pub fn most(name: &str) -> Option<usize> {
    let numbered = |name: &str, end: &str| {
        let number = name.strip_suffix(end);
        number.is_some_and(|it| it.len() == 5 && it.bytes().all(|it| it.is_ascii_digit()))
    };
    match name.split_once('/') {
        None if matches!(name, MANIFEST | AUDIT) => Some(MAX_MANIFEST),
        None if matches!(name, TRAJECTORY | FINDINGS) => Some(MAX_TRAJECTORY),
        Some((SNAPSHOTS, it)) if numbered(it, ".txt") => Some(MAX_SNAPSHOT),
        Some((SCREENSHOTS, it)) if numbered(it, ".png") => Some(MAX_PICTURE),
        Some((RECORDING, it)) if (0..MOST_PARTS).any(|n| traffic_of(n) == it) => {
            Some(MAX_RECORDING)
        }
        _ => None,
    }
}

/// All that is there but the manifest, in order.
pub fn names(dir: &Dir) -> Result<Vec<String>> {
    let mut out: Vec<String> = dir.names()?;
    for folder in FOLDERS {
        if let Some(it) = dir.folder(folder)? {
            out.extend(it.names()?.iter().map(|it| format!("{folder}/{it}")));
        }
    }
    out.retain(|it| it != MANIFEST && most(it).is_some());
    out.sort();
    Ok(out)
}

pub fn read(dir: &Dir, name: &str) -> Result<Option<Vec<u8>>> {
    let most = most(name).unwrap_or_default();
    match name.split_once('/') {
        None => dir.read(name, most),
        Some((folder, name)) => match dir.folder(folder)? {
            Some(it) => it.read(name, most),
            None => Ok(None),
        },
    }
}

pub fn write(dir: &Dir, name: &str, bytes: &[u8]) -> Result<()> {
    match name.split_once('/') {
        None => dir.write(name, bytes),
        Some((folder, name)) => dir.make_folder(folder)?.write(name, bytes),
    }
}

/// Removes all but the manifest and what says who holds it.
pub fn clear(dir: &Dir) -> Result<()> {
    for name in [TRAJECTORY, FINDINGS, AUDIT] {
        dir.discard(name)?;
    }
    for name in FOLDERS {
        if let Some(it) = dir.folder(name)? {
            dir.remove_folder(name, &it)?;
        }
    }
    Ok(())
}

pub fn hash(bytes: &[u8]) -> String {
    ids::hex(&Sha256::digest(bytes))
}
