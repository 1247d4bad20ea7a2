//! Names and ports that are refused whatever they resolve to.

/// Clouds' metadata services. Refused before DNS; no setting overrides it.
const METADATA_NAMES: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.internal",
    "metadata.google.internal",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
];

/// Top-level names that never belong to the public web: RFC 6761 and its registry, RFC 6762 (`local`), RFC 7686 (`onion`),
/// RFC 8375 (`home.arpa`, with the rest of `arpa`), RFC 9476 (`alt`), ICANN's reservation of `internal`, its refusal of
/// `corp`, `home` and `mail`, and names that routers and clusters hand out (`lan`, `localdomain`, `svc`).
/// `.test` is not here: it is allowed where pinned.
const LOCAL_SUFFIXES: &[&str] = &[
    "alt",
    "arpa",
    "corp",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "onion",
    "private",
    "svc",
    "workgroup",
];

/// "Bad ports" of the WHATWG Fetch standard (2026), then stores that speak over plain text and are often left open.
const BAD_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080, 6379, 11211, 27017,
];

/// Whether the canonical host is a cloud's metadata service.
pub fn is_metadata(host: &str) -> bool {
    METADATA_NAMES.contains(&host)
}

/// Why the canonical name (lower case, no trailing dot) is not a public one.
pub fn denied(host: &str) -> Option<&'static str> {
    match host.rsplit_once('.') {
        None => Some("a name of one label is local"),
        Some((_, last)) if LOCAL_SUFFIXES.contains(&last) => Some("a name reserved for local use"),
        Some(_) => None,
    }
}

pub fn is_bad_port(port: u16) -> bool {
    BAD_PORTS.contains(&port)
}
