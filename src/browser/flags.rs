//! The command line Chromium is started with: this list, and nothing from outside.
//!
//! Absent on purpose: `--no-sandbox`, a debugging port, extensions, anything that weakens certificate checks. Every flag
//! was tried on Chromium 156.

use std::path::Path;

/// Fixed flags. The default proxy is a dead port: only a context with its own proxy reaches anything.
const FIXED: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--site-per-process",
    // Egress: our proxy or nothing.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--no-pings",
    // Chromium knows the first, headless-shell only the second.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Nothing of its own in the background.
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--disable-search-engine-choice-screen",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,\
     CertificateTransparencyComponentUpdater,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,NetworkTimeServiceQuerying,\
     AsyncDns,DnsOverHttpsUpgrade",
    // The machine.
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
    "--window-size=1280,900",
];

/// Arguments for a profile folder.
pub fn arguments(profile: &Path) -> Vec<String> {
    let mut all: Vec<String> = FIXED.iter().map(|it| (*it).to_owned()).collect();
    all.push(format!("--user-data-dir={}", profile.display()));
    all.push("about:blank".to_owned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flag_opens_a_port_or_the_sandbox() {
        let all = arguments(Path::new("/p")).join(" ");
        for bad in [
            "no-sandbox",
            "remote-debugging-port",
            "disable-web-security",
            "ignore-certificate-errors",
            "load-extension",
            "  ",
        ] {
            assert!(!all.contains(bad), "{bad}");
        }
    }
}
