//! The command line Chromium is started with: this list, and of what settings add the few that concern looks only.
//!
//! Absent on purpose: `--no-sandbox`, a debugging port, extensions, anything that weakens certificate checks (but see
//! `tls_trust.rs`). Every flag was tried on Chromium 156.

use std::path::Path;

use commis_base::error::{Code, Error, Result};

/// Fixed flags. The default proxy is a dead port: only a context with its own proxy reaches anything, which is also where full
/// Chromium's own requests end.
const FIXED: &[&str] = &[
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
    // Reports to where a header says are requests that interception does not see.
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,AutofillServerCommunication,\
     CertificateTransparencyComponentUpdater,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,NetworkTimeServiceQuerying,\
     AsyncDns,DnsOverHttpsUpgrade,\
     Reporting,NetworkErrorLogging,\
     Prerender2InHeadlessMode,Prerender2FallbackPrefetchSpecRules",
    // What a page wants read ahead, it does not see either; no more than none at once.
    "--enable-features=PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0,\
     PrefetchEagerLimit:max_number_of_eager_prefetches_per_page/0,PrefetchModerateLimit:max_number_of_moderate_prefetches_per_page/0",
    // Nobody is there to be asked for a camera or the screen.
    "--use-fake-ui-for-media-stream=deny",
    // The machine.
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--mute-audio",
    "--window-size=1280,900",
    // Nor a page of the default profile, which could reach nothing and costs the start of a renderer.
    "--no-startup-window",
];

/// What keeps a browser that others start at the proxy that they are told of.
pub const KEPT_IN: &[&str] = &[
    "--disable-quic",
    "--no-pings",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-domain-reliability",
    "--use-fake-ui-for-media-stream=deny",
];

/// Where nobody looks on.
const HIDDEN: &[&str] = &["--headless", "--hide-scrollbars"];

/// What `browser.args` may set: `=` and a value are required.
const ALLOWED: &[&str] = &[
    "--accept-lang",
    "--force-color-profile",
    "--force-device-scale-factor",
    "--lang",
    "--window-size",
];

/// Why the arguments that people try are not allowed. The longest beginnings first.
const REFUSED: &[(&str, &str)] = &[
    ("--no-sandbox", "pages of strangers run in the sandbox, always"),
    ("--disable-setuid-sandbox", "pages of strangers run in the sandbox, always"),
    ("--disable-web-security", "what one site holds is not for another"),
    ("--remote-debugging", "a debugging port answers every local process; commis uses a pipe"),
    ("--remote-allow-origins", "a debugging port answers every local process; commis uses a pipe"),
    ("--load-extension", "an extension sees and changes everything that a page does"),
    ("--proxy", "all traffic goes through the proxy of commis, which applies the egress policy"),
    ("--no-proxy", "all traffic goes through the proxy of commis, which applies the egress policy"),
    ("--host-resolver-rules", "names are resolved by the egress policy alone"),
    ("--user-data-dir", "every task starts without anyone's cookies, and leaves none behind"),
    ("--profile", "every task starts without anyone's cookies, and leaves none behind"),
    ("--ignore-certificate-errors", "an invalid certificate means that another host answers"),
    ("--allow-insecure", "an invalid certificate means that another host answers"),
    ("--unsafely", "it makes unsafe origins pass for safe ones"),
    ("--renderer-cmd-prefix", "it starts another program"),
];

/// Fails with `SETTINGS_INVALID` for arguments that are not on the list.
pub fn check(extra: &[String]) -> Result<()> {
    for argument in extra {
        let name = argument.split('=').next().unwrap_or("");
        let value = argument.get(name.len() + 1..).unwrap_or("");
        let plain = |it: u8| it.is_ascii_alphanumeric() || b",.-_=;*".contains(&it);
        if ALLOWED.contains(&name) && !value.is_empty() && value.bytes().all(plain) {
            continue;
        }
        let shown: String = name.escape_default().take(60).collect();
        let why = REFUSED.iter().find(|it| name.starts_with(it.0)).map(|it| it.1);
        let why = match why {
            Some(why) => format!(": {why}"),
            None if ALLOWED.contains(&name) => " with such a value".to_owned(),
            None => String::new(),
        };
        return Err(Error::new(
            Code::SettingsInvalid,
            format!("browser.args: {shown} is not allowed{why}"),
        )
        .hint(format!("allowed are {}, each with =VALUE", ALLOWED.join(", "))));
    }
    Ok(())
}

/// Arguments for a profile folder, and those that settings add (see [`check`]); of one flag the last counts.
pub fn arguments(profile: &Path, extra: &[String], is_shown: bool) -> Vec<String> {
    let more = if is_shown { &[] } else { HIDDEN };
    let mut all: Vec<String> = FIXED.iter().chain(more).map(|it| (*it).to_owned()).collect();
    all.extend_from_slice(extra);
    all.push(format!("--user-data-dir={}", profile.display()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_flag_opens_a_port_or_the_sandbox() {
        let all = [false, true].map(|it| arguments(Path::new("/p"), &[], it).join(" ")).join(" ");
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

    #[test]
    fn settings_may_change_looks_only() {
        let refusal = |it: &str| check(&[it.to_owned()]).unwrap_err();
        for good in ["--lang=nb", "--window-size=800,600", "--accept-lang=nb,en;q=0.5"] {
            check(&[good.to_owned()]).unwrap();
        }
        for (bad, why) in [
            ("--no-sandbox", "sandbox"),
            ("--remote-debugging-port=9222", "debugging port"),
            ("--remote-debugging-address=0.0.0.0", "debugging port"),
            ("--load-extension=/tmp/x", "extension"),
            ("--proxy-server=http://a.test", "proxy of commis"),
            ("--proxy-bypass-list=*", "proxy of commis"),
            ("--user-data-dir=/home/x", "cookies"),
            ("--ignore-certificate-errors", "certificate"),
            ("--ignore-certificate-errors-spki-list=x", "certificate"),
        ] {
            let err = refusal(bad);
            assert_eq!(err.code(), Code::SettingsInvalid);
            assert!(err.message().contains(why), "{bad}: {err}");
            assert!(err.hint_text().unwrap().contains("--lang"));
        }
        for bad in [
            "",
            "https://a.test",
            "--lang",
            "--lang=",
            "--LANG=x",
            " --lang=x",
            "--disable-features=X",
        ] {
            refusal(bad);
        }
        assert!(refusal("--lang=a b").message().contains("such a value"));
        // Nothing of a value is repeated.
        assert!(!refusal("--foo=secret").to_string().contains("secret"));
    }
}
