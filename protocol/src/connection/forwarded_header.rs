//! The header in which a proxy names the address of the caller whose request it forwards.

use std::net::IpAddr;

use actix_web::http::header::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// A header such as `X-Forwarded-For`, which is trusted only when it comes from proxies in these networks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardedHeader {
    /// The header's name.
    pub name: HeaderName,
    /// The networks of the proxies.
    pub proxies: Vec<IpNet>,
}

impl ForwardedHeader {
    /// The address of a request's caller, where `peer` is the other end of the connection. When that is a proxy, it is
    /// the last address in the header that does not belong to a proxy. Entries before one that is not an address may be
    /// forged, and are ignored.
    pub(crate) fn caller(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        if !self.is_proxy(&peer) {
            return peer;
        }
        let lines: Vec<&str> = headers.get_all(&self.name).map(|value| value.to_str().unwrap_or_default()).collect();
        let entries = lines.iter().rev().flat_map(|line| line.rsplit(','));
        let mut named = entries.map_while(|entry| entry.trim().parse::<IpAddr>().ok());
        named.find(|address| !self.is_proxy(address)).unwrap_or(peer)
    }

    fn is_proxy(&self, address: &IpAddr) -> bool {
        holds(&self.proxies, address.to_canonical())
    }
}

/// True when one of the networks holds the address.
pub(super) fn holds(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn caller(peer: &str, lines: &[&'static str]) -> String {
        let proxies = vec!["10.0.0.0/8".parse().expect("a network")];
        let name = HeaderName::from_static("x-forwarded-for");
        let mut headers = HeaderMap::new();
        lines.iter().for_each(|line| headers.append(name.clone(), HeaderValue::from_static(line)));
        ForwardedHeader { name, proxies }.caller(&headers, peer.parse().expect("an address")).to_string()
    }

    #[test]
    fn the_last_address_that_is_no_proxys_is_the_callers() {
        for (lines, address) in [
            (&["192.0.2.1"][..], "192.0.2.1"),
            (&["198.51.100.7, 192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.1 , 10.9.9.9,::ffff:10.1.1.1"], "192.0.2.1"),
            (&["198.51.100.7", "2001:db8::1"], "2001:db8::1"),
            (&["192.0.2.1", "10.9.9.9"], "192.0.2.1"),
        ] {
            assert_eq!(caller("10.0.0.1", lines), address, "{lines:?}");
            assert_eq!(caller("::ffff:10.0.0.1", lines), address, "{lines:?}");
        }
    }

    #[test]
    fn the_header_is_trusted_from_proxies_and_up_to_the_first_fault() {
        assert_eq!(caller("192.0.2.9", &["192.0.2.1"]), "192.0.2.9");
        for lines in [&[][..], &[""], &["unknown"], &["192.0.2.1, unknown, 10.9.9.9"], &["10.9.9.9"]] {
            assert_eq!(caller("10.0.0.1", lines), "10.0.0.1", "{lines:?}");
        }
    }
}
