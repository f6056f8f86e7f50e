//! The hosts under which a listener is called.
//!
//! A web page can make its visitor's browser resolve the page's own name to an address of the visitor's network (DNS
//! rebinding), and then read what a listener there answers without a token. Such a request has the page's name in
//! `Host`, which is not one of the listener's names.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The hosts under which a listener answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hosts {
    /// Any host: the listener is public, or a browser compares the name with the listener's certificate.
    Any,
    /// Addresses, `localhost` and this name.
    Named(String),
}

impl Hosts {
    /// True when a request with this `Host` header is answered. Browsers always send the header.
    pub(super) fn answer(&self, host: Option<&str>) -> bool {
        match (self, host) {
            (Hosts::Any, _) | (Hosts::Named(_), None) => true,
            (Hosts::Named(own), Some(host)) => is_own(without_port(host), own),
        }
    }
}

/// True for the name or an address of the machine itself, where nobody else can listen to what is sent.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = without_port(host);
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host_name = host.to_ascii_lowercase();
    host_name == "localhost"
        || host_name.ends_with(".localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || in_brackets.and_then(|host| host.parse::<Ipv6Addr>().ok()).is_some_and(|address| address.is_loopback())
}

fn is_own(host: &str, own: &str) -> bool {
    let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    host.parse::<Ipv4Addr>().is_ok()
        || in_brackets.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
        || host.eq_ignore_ascii_case("localhost")
        || host.eq_ignore_ascii_case(own)
}

fn without_port(host: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_localhost_and_the_configured_name_are_answered() {
        let hosts = Hosts::Named("till.internal".to_owned());
        for host in ["127.0.0.1", "10.0.0.7:9090", "[::1]", "[fe80::1]:9090", "LocalHost:1", "Till.Internal:9090"] {
            assert!(hosts.answer(Some(host)), "{host}");
        }
        assert!(hosts.answer(None));
    }

    #[test]
    fn only_names_and_addresses_of_the_machine_itself_are_loopback() {
        for host in ["localhost", "LOCALHOST:8080", "till.localhost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]", "::1", "evillocalhost", ""]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn any_other_name_is_not_answered() {
        let hosts = Hosts::Named("till.internal".to_owned());
        for host in [
            "evil.example",
            "evil.example:9090",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "::1",
            "[::1",
            "1",
            "",
        ] {
            assert!(!hosts.answer(Some(host)), "{host}");
        }
        assert!(Hosts::Any.answer(Some("evil.example")));
    }
}
