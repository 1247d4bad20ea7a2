//! Names and ports that are refused whatever they resolve to.

/// Clouds' metadata services by name, present and former, and everything below them (regions). Refused before DNS; no setting
/// overrides it. From the providers' documents and client libraries, and for providers that document an address alone the
/// name under their own domain that others block: no page for people lives there. Names of one label and names under
/// `internal` are refused anyway, and stand here so that they cannot be a host of the user's own.
const METADATA_NAMES: &[&str] = &[
    // AWS
    "instance-data",
    "instance-data.ec2.internal",
    // Google Cloud
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    // Azure; the public names are those of the certificates of its attested data, one for each of its clouds
    "metadata.azure.cn",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.azure.us",
    "metadata.microsoftazure.de",
    // IBM Cloud: VPC, and Classic (SoftLayer)
    "metadata.cloud.ibm.com",
    "api.service.softlayer.com",
    // Tencent Cloud
    "metadata.tencentyun.com",
    "metadata.tencentcloud.com",
    // Equinix Metal, and as it was called before
    "metadata.platformequinix.com",
    "metadata.packet.net",
    // Oracle Cloud
    "metadata.oraclecloud.com",
    // Alibaba Cloud
    "metadata.aliyun.com",
    "metadata.aliyuncs.com",
    // Huawei Cloud
    "metadata.huaweicloud.com",
    "metadata.myhuaweicloud.com",
    // DigitalOcean, Exoscale, Hetzner, Akamai (Linode), Scaleway, Vultr
    "metadata.digitalocean.com",
    "metadata.exoscale.com",
    "metadata.hetzner.cloud",
    "metadata.linode.com",
    "metadata.scaleway.com",
    "metadata.vultr.com",
    // CloudStack, Rancher, Kubernetes
    "data-server",
    "rancher-metadata",
    "rancher-metadata.rancher.internal",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
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
    // By region: `instance-data.eu-west-1.compute.internal`.
    let of_aws = host.starts_with("instance-data.") && host.ends_with(".compute.internal");
    let rest = |it: &&str| host.strip_suffix(*it);
    of_aws || METADATA_NAMES.iter().filter_map(rest).any(|it| it.is_empty() || it.ends_with('.'))
}

/// Whether the canonical host is this machine by name (RFC 6761).
pub fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Why the canonical name (lower case, no trailing dot) is not a public one.
pub fn name_denial_reason(host: &str) -> Option<&'static str> {
    match host.rsplit_once('.') {
        None => Some("a name of one label is local"),
        Some((_, last)) if LOCAL_SUFFIXES.contains(&last) => Some("a name reserved for local use"),
        Some(_) => None,
    }
}

pub fn is_bad_port(port: u16) -> bool {
    BAD_PORTS.contains(&port)
}
