//! Where Chromium is on each system, and how to get it.

use std::path::{Path, PathBuf};

use commis_base::{
    error::{Code, Error, Result},
    settings::user_folder,
};

/// In order of preference. On Linux the real binaries: `/usr/bin/chromium` is a shell wrapper that adds flags.
const KNOWN: &[&str] = if cfg!(target_os = "macos") {
    &[
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ]
} else {
    &[
        "/usr/lib/chromium/chromium-headless-shell",
        "/usr/lib/chromium/chromium",
        "/usr/lib64/chromium-browser/chromium-browser",
        "/usr/lib/chromium-browser/chromium-browser",
        "/opt/google/chrome/chrome",
        "/opt/brave.com/brave/brave",
        "/opt/microsoft/msedge/msedge",
    ]
};

/// Where Playwright and Puppeteer put theirs, below the user's home: a folder that holds one for each version, and the way on
/// from there. Those of the newest version come first.
const CACHES: &[(&str, &[&str])] = if cfg!(target_os = "macos") {
    &[
        (
            "Library/Caches/ms-playwright",
            &[
                "chrome-headless-shell-mac-arm64/chrome-headless-shell",
                "chrome-mac/headless_shell",
                "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
            ],
        ),
        (
            ".cache/puppeteer/chrome-headless-shell",
            &[
                "chrome-headless-shell-mac-arm64/chrome-headless-shell",
                "chrome-headless-shell-mac-x64/chrome-headless-shell",
            ],
        ),
    ]
} else {
    &[
        (
            ".cache/ms-playwright",
            &[
                "chrome-headless-shell-linux64/chrome-headless-shell",
                "chrome-linux/headless_shell",
                "chrome-linux/chrome",
            ],
        ),
        (
            ".cache/puppeteer/chrome-headless-shell",
            &["chrome-headless-shell-linux64/chrome-headless-shell"],
        ),
    ]
};

const HOW: &str = if cfg!(target_os = "macos") {
    "install it with `brew install --cask chromium`, or set browser.path"
} else {
    "install it with `apt-get install --no-install-recommends chromium-headless-shell chromium-sandbox`, or set browser.path"
};

const HOW_VISIBLE: &str = if cfg!(target_os = "macos") {
    HOW
} else {
    "install it with `apt-get install --no-install-recommends chromium chromium-sandbox`, or set browser.path"
};

/// What to do where renderers are not sandboxed.
pub const SANDBOX: &str = if cfg!(target_os = "macos") {
    "run it as a user of the machine; `commis doctor` checks it"
} else {
    "allow unprivileged user namespaces, or install the package chromium-sandbox; `commis doctor` checks it"
};

/// Where Chromium is: the settings' path, which must exist when given, or the first known place.
///
/// Fails with [`Code::BrowserMissing`].
pub fn find_chromium(settings_path: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = settings_path {
        if path.is_file() {
            return Ok(path.to_owned());
        }
        let message = format!("no browser at {}", path.display());
        return Err(Error::new(Code::BrowserMissing, message).hint(HOW));
    }
    let known = KNOWN.iter().map(PathBuf::from).find(|it| it.is_file());
    known
        .or_else(|| cached(&user_folder()?).into_iter().next())
        .ok_or_else(|| Error::new(Code::BrowserMissing, "no Chromium found").hint(HOW))
}

/// Full Chromium, which can show a window; the settings' path when that is one.
///
/// Fails with [`Code::BrowserMissing`].
pub fn find_visible_chromium(settings_path: Option<&Path>) -> Result<PathBuf> {
    let shows =
        |it: &Path| !it.file_name().unwrap_or_default().to_string_lossy().contains(HEADLESS);
    let cached = user_folder().map(|it| cached(&it)).unwrap_or_default();
    let known = settings_path.into_iter().chain(KNOWN.iter().map(Path::new));
    let known = known.chain(cached.iter().map(PathBuf::as_path));
    known.filter(|it| shows(it)).find(|it| it.is_file()).map(Path::to_owned).ok_or_else(|| {
        let message = "no Chromium found that can show a window (the headless shell cannot)";
        Error::new(Code::BrowserMissing, message).hint(HOW_VISIBLE)
    })
}

const HEADLESS: &str = "headless";

/// Those of other tools below a home, newest version first. The user that a browser of root runs as cannot read there.
fn cached(home: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    if rustix::process::geteuid().is_root() {
        return out;
    }
    for (folder, ways) in CACHES {
        let versions = std::fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
        let mut versions: Vec<(Vec<u32>, PathBuf)> =
            versions.map(|it| (numbers(&it.file_name().to_string_lossy()), it.path())).collect();
        versions.sort_by(|a, b| b.cmp(a));
        for (_, at) in versions {
            out.extend(ways.iter().map(|it| at.join(it)).filter(|it| it.is_file()));
        }
    }
    out
}

/// `chromium_headless_shell-1187`, `linux-141.0.7390.54`: what of it counts.
fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split(|it: char| !it.is_ascii_digit());
    parts.filter_map(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_path_names_itself_and_how_to_install() {
        let err = find_chromium(Some(Path::new("/nope/chrome"))).unwrap_err();
        assert_eq!(err.code(), Code::BrowserMissing);
        assert!(err.message().contains("/nope/chrome"));
        assert!(err.hint_text().unwrap().contains("install"));
    }

    #[test]
    fn the_newest_version_of_a_cache_is_the_one_with_the_greatest_numbers() {
        let mut all = ["linux-99.0.1", "linux-141.0.7390.54", "linux-141.0.7390.6", "x"];
        all.sort_by_key(|it| std::cmp::Reverse(numbers(it)));
        assert_eq!(all, ["linux-141.0.7390.54", "linux-141.0.7390.6", "linux-99.0.1", "x"]);
    }
}
