//! The password that a browser keeps in the system's keyring, asked for with `secret-tool` (libsecret), as its owner would in a
//! terminal. A keyring that is locked asks for its own password in a window of its own.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use zeroize::Zeroizing;

use super::Brand;
use commis_base::error::{Code, Error, Result};

/// Not by the search path: whoever answers is given nothing, but is believed.
const TOOL: &str = "/usr/bin/secret-tool";
/// Bytes of one.
const LONGEST: usize = 1024;

/// Fails with `USAGE` where there is no such tool, and with `PARAM_INVALID` where the keyring has none for that browser.
#[expect(
    clippy::disallowed_methods,
    reason = "a tool of the system, by its whole path, with fixed arguments"
)]
pub fn read_password(brand: Brand) -> Result<Zeroizing<Vec<u8>>> {
    if !Path::new(TOOL).is_file() {
        return Err(Error::new(
            Code::Usage,
            format!("{TOOL}, which reads the keyring, is not installed"),
        )
        .hint("install it: libsecret-tools on Debian and its kin"));
    }
    // As the browsers call themselves there; Edge goes by Chromium's name.
    let name = match brand {
        Brand::Chrome => "chrome",
        Brand::Brave => "brave",
        Brand::Chromium | Brand::Edge | Brand::Firefox => "chromium",
    };
    let mut tool = Command::new(TOOL);
    tool.args(["lookup", "application", name]).stdin(Stdio::null()).stderr(Stdio::null());
    let failed = |err| Error::new(Code::Usage, "the keyring cannot be read").source(err);
    let answer = tool.output().map_err(failed)?;
    let password = Zeroizing::new(answer.stdout);
    let missing = || {
        let why = format!("the system's keyring has no password for {}", brand.as_str());
        Error::new(Code::ParamInvalid, why)
            .hint("it needs the D-Bus of your session: run this in a terminal of your desktop; KDE's wallet is not supported")
    };
    if !answer.status.success() || password.is_empty() || password.len() > LONGEST {
        return Err(missing());
    }
    Ok(password)
}
