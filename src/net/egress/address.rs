//! Which addresses may be reached: globally routable unicast, and nothing that carries another address inside.
//!
//! Source of the tables: the IANA IPv4 and IPv6 Special-Purpose Address Registries, the multicast registries and, for IPv6,
//! the allocation of global unicast (2000::/3). Where a registry says "globally reachable" for a block inside a reserved one
//! (192.0.0.9/32, 2001:1::1/128) we refuse it with its surroundings: nothing served by a web task lives there. An IPv4
//! address inside an IPv6 one (mapped, compatible, NAT64, 6to4, Teredo) is named in the reason and refused even when it is
//! public, because the path to it is not the one that the name promised.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const V4_DENIED: &[(Ipv4Addr, u32, &str)] = &[
    (v4(0, 0, 0, 0), 8, "this network (RFC 791)"),
    (v4(10, 0, 0, 0), 8, "private use (RFC 1918)"),
    (v4(100, 64, 0, 0), 10, "carrier-grade NAT (RFC 6598)"),
    (v4(127, 0, 0, 0), 8, "loopback (RFC 1122)"),
    // Azure's metadata and DNS service has a public address.
    (v4(168, 63, 129, 16), 32, "cloud metadata"),
    (v4(169, 254, 0, 0), 16, "link-local (RFC 3927)"),
    (v4(172, 16, 0, 0), 12, "private use (RFC 1918)"),
    (v4(192, 0, 0, 0), 24, "protocol assignments (RFC 6890)"),
    (v4(192, 0, 2, 0), 24, "documentation (RFC 5737)"),
    (v4(192, 88, 99, 0), 24, "6to4 relay (RFC 7526)"),
    (v4(192, 168, 0, 0), 16, "private use (RFC 1918)"),
    (v4(198, 18, 0, 0), 15, "benchmarking (RFC 2544)"),
    (v4(198, 51, 100, 0), 24, "documentation (RFC 5737)"),
    (v4(203, 0, 113, 0), 24, "documentation (RFC 5737)"),
    (v4(224, 0, 0, 0), 4, "multicast (RFC 5771)"),
    (v4(240, 0, 0, 0), 4, "reserved (RFC 1112)"),
];

/// Inside 2000::/3; everything outside it is refused without a table.
const V6_DENIED: &[(Ipv6Addr, u32, &str)] = &[
    (v6(0x2001, 0, 0), 32, "Teredo (RFC 4380)"),
    (v6(0x2001, 0, 0), 23, "protocol assignments (RFC 2928)"),
    (v6(0x2001, 0xdb8, 0), 32, "documentation (RFC 3849)"),
    (v6(0x2002, 0, 0), 16, "6to4 (RFC 3056)"),
    (v6(0x3fff, 0, 0), 20, "documentation (RFC 9637)"),
];

const V6_NAMED: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (v6(0x64, 0xff9b, 0), 96, "NAT64 (RFC 6052)"),
    (v6(0x64, 0xff9b, 1), 48, "NAT64 (RFC 8215)"),
    (v6(0x100, 0, 0), 64, "discard-only (RFC 6666)"),
    (v6(0x5f00, 0, 0), 16, "segment routing (RFC 9602)"),
    (v6(0xfc00, 0, 0), 7, "unique local (RFC 4193)"),
    (v6(0xfe80, 0, 0), 10, "link-local (RFC 4291)"),
    (v6(0xfec0, 0, 0), 10, "site-local (RFC 3879)"),
    (v6(0xff00, 0, 0), 8, "multicast (RFC 4291)"),
];

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

const fn v6(a: u16, b: u16, c: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0)
}

/// Metadata services among the addresses that networks give out themselves, as their providers document them.
const V6_METADATA: &[(Ipv6Addr, u32, &str)] = &[
    // AWS: instance metadata ::254, credentials of pods ::23, resolver ::253.
    (v6(0xfd00, 0xec2, 0), 32, "AWS"),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, "Google Cloud"),
    (Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128, "Oracle Cloud"),
    (Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42), 128, "Scaleway"),
    (Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1), 128, "Akamai"),
    (Ipv6Addr::new(0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200), 128, "Alibaba Cloud"),
];

/// Why a host of the user's own may not be there: it is neither loopback nor private, or a cloud's metadata service.
pub fn own_host_refusal(address: IpAddr) -> Option<String> {
    let inside = match address {
        IpAddr::V4(it) => it.is_loopback() || it.is_private(),
        IpAddr::V6(it) => it.is_loopback() || it.is_unique_local(),
    };
    if !inside {
        let why = denial_reason(address).unwrap_or_else(|| "public".to_owned());
        return Some(format!("the address is neither loopback nor private: {why}"));
    }
    let IpAddr::V6(address) = address else { return None };
    let of = V6_METADATA.iter().find(|(net, len, _)| is_in_network(address, *net, *len))?.2;
    Some(format!("the address is the metadata service of {of}"))
}

/// Why the address may not be reached; `None` means globally routable unicast.
pub fn denial_reason(address: IpAddr) -> Option<String> {
    match address {
        IpAddr::V4(it) => denial_reason_v4(it).map(str::to_owned),
        IpAddr::V6(it) => denial_reason_v6(it),
    }
}

fn denial_reason_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    V4_DENIED
        .iter()
        .find(|(net, len, _)| (bits ^ net.to_bits()) >> (32 - len) == 0)
        .map(|(_, _, why)| *why)
}

fn denial_reason_v6(address: Ipv6Addr) -> Option<String> {
    if let Some((form, inner)) = embedded_v4(address) {
        let inner_is = denial_reason_v4(inner).unwrap_or("public");
        return Some(format!("{form} of {inner}, {inner_is}"));
    }
    let named = |table: &[(Ipv6Addr, u32, &'static str)]| {
        table
            .iter()
            .find(|(net, len, _)| is_in_network(address, *net, *len))
            .map(|(_, _, why)| (*why).to_owned())
    };
    if is_in_network(address, v6(0x2000, 0, 0), 3) {
        named(V6_DENIED)
    } else {
        named(V6_NAMED).or_else(|| Some("not global unicast (outside 2000::/3)".to_owned()))
    }
}

fn is_in_network(address: Ipv6Addr, net: Ipv6Addr, len: u32) -> bool {
    (address.to_bits() ^ net.to_bits()) >> (128 - len) == 0
}

/// The IPv4 address that an IPv6 one carries, and in which form.
fn embedded_v4(address: Ipv6Addr) -> Option<(&'static str, Ipv4Addr)> {
    let bits = address.to_bits();
    let low = Ipv4Addr::from_bits(bits as u32);
    let s = address.segments();
    if is_in_network(address, v6(0x64, 0xff9b, 0), 96) {
        Some(("NAT64 form", low))
    } else if is_in_network(address, v6(0x64, 0xff9b, 1), 48) {
        // RFC 6052 places it by prefix length; /96 is what hosts in this block use.
        Some(("local NAT64 form", low))
    } else if s[0] == 0x2002 {
        Some(("6to4 form", Ipv4Addr::from_bits((bits >> 80) as u32)))
    } else if s[0] == 0x2001 && s[1] == 0 {
        // Teredo stores the client's address inverted.
        Some(("Teredo form", Ipv4Addr::from_bits(!(bits as u32))))
    } else if bits >> 32 == 0xffff {
        Some(("mapped form", low))
    } else if bits >> 32 == 0 && bits > 1 {
        Some(("compatible form", low))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, reason: Option<&str>) {
        let got = denial_reason(address.parse().unwrap());
        match (&got, reason) {
            (None, None) => {}
            (Some(got), Some(want)) if got.contains(want) => {}
            _ => panic!("{address}: {got:?}, expected {reason:?}"),
        }
    }

    #[test]
    fn edges_of_blocks() {
        for ok in [
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "168.63.129.15",
            "192.0.1.0",
            "192.31.196.1",
            "223.255.255.255",
            "2606:4700::1",
            "2001:200::1",
            "2003::1",
            "2620:4f:8000::1",
            "3ffe::1",
            "2000::1",
        ] {
            check(ok, None);
        }
        for (bad, why) in [
            ("0.0.0.0", "this network"),
            ("10.255.255.255", "1918"),
            ("100.100.100.200", "6598"),
            ("127.255.255.255", "loopback"),
            ("168.63.129.16", "metadata"),
            ("169.254.169.254", "link-local"),
            ("192.0.0.9", "6890"),
            ("192.88.99.1", "6to4"),
            ("255.255.255.255", "reserved"),
            ("239.1.2.3", "multicast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("fd00:ec2::254", "unique local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("4000::1", "not global unicast"),
            ("2001:1ff::1", "2928"),
            ("2001:db8::1", "documentation"),
            ("3fff:fff::1", "documentation"),
        ] {
            check(bad, Some(why));
        }
    }

    #[test]
    fn carried_addresses_are_named() {
        for (bad, why) in [
            ("::ffff:127.0.0.1", "mapped form of 127.0.0.1, loopback"),
            ("::ffff:8.8.8.8", "mapped form of 8.8.8.8, public"),
            ("::127.0.0.1", "compatible form of 127.0.0.1"),
            ("64:ff9b::a9fe:a9fe", "NAT64 form of 169.254.169.254"),
            ("64:ff9b:1::a00:1", "local NAT64 form of 10.0.0.1"),
            ("2002:7f00:1::", "6to4 form of 127.0.0.1"),
            ("2001:0:1:2:3:4:80ff:fffe", "Teredo form of 127.0.0.1"),
        ] {
            check(bad, Some(why));
        }
    }
}
