//! The address of an endpoint, and the checks before its name is resolved.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::address_policy::{AddressPolicy, RefusedAddress, is_port_of_endpoints};
use crate::outgoing::Scheme;

/// Bytes of a destination, at most: what servers and proxies commonly take.
pub const DESTINATION_BYTES_MAX: usize = 2_048;

/// The reason why a text is no destination. The messages read after the name of the argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedDestination {
    /// It is too long.
    #[error("must be at most {DESTINATION_BYTES_MAX} bytes")]
    TooLong,
    /// It cannot be read, or is not absolute.
    #[error("must be an absolute URL such as https://shop.example/webhooks")]
    NotAbsolute,
    /// It is neither https, nor http where that is allowed.
    #[error("must begin with https://")]
    NotHttps,
    /// It has a user name or a password, which would be stored and shown.
    #[error("must not have a user name or a password")]
    UserInformation,
    /// It has a fragment, which is never sent.
    #[error("must not have a fragment (#)")]
    Fragment,
    /// Its port is none of those that may be called.
    #[error("must have port 443 or one above 1023")]
    Port,
    /// Its host is an address, or a name of one, to which nothing is delivered.
    #[error("must not lead to {}{}", .0, .0.remedy())]
    Address(RefusedAddress),
}

impl AddressPolicy {
    /// Reads a destination: an absolute https URL, or http where its host is in an allowed network. A host that is an
    /// address is judged in any spelling; a name is judged each time that it is resolved.
    ///
    /// # Errors
    /// [`RefusedDestination`], to be told to the caller.
    pub fn check_url(&self, text: &str) -> Result<Url, RefusedDestination> {
        let url = parse(text)?;
        let scheme = self.check_scheme(&url)?;
        if has_user_information(text) {
            return Err(RefusedDestination::UserInformation);
        }
        if url.fragment().is_some() {
            return Err(RefusedDestination::Fragment);
        }
        self.check_host(&url, scheme).map_err(RefusedDestination::Address)?;
        if self.may_allow_port(&url) { Ok(url) } else { Err(RefusedDestination::Port) }
    }

    /// Judges an address that is called by this scheme.
    ///
    /// # Errors
    /// As [`AddressPolicy::check`] and [`AddressPolicy::check_without_tls`].
    pub(super) fn check_for(&self, scheme: Scheme, address: IpAddr) -> Result<(), RefusedAddress> {
        match scheme {
            Scheme::Https => self.check(address),
            Scheme::Http => self.check_without_tls(address),
        }
    }

    fn check_scheme(&self, url: &Url) -> Result<Scheme, RefusedDestination> {
        match Scheme::of(url) {
            Some(Scheme::Http) if self.allowed_networks().is_empty() => Err(RefusedDestination::NotHttps),
            scheme => scheme.ok_or(RefusedDestination::NotHttps),
        }
    }

    /// True unless the port of a URL is refused whatever the addresses of its host are.
    fn may_allow_port(&self, url: &Url) -> bool {
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            Some(Host::Ipv4(address)) => self.allows_port(IpAddr::V4(address), port),
            Some(Host::Ipv6(address)) => self.allows_port(IpAddr::V6(address), port),
            Some(Host::Domain(_)) | None => is_port_of_endpoints(port) || !self.allowed_networks().is_empty(),
        }
    }

    fn check_host(&self, url: &Url, scheme: Scheme) -> Result<(), RefusedAddress> {
        match url.host() {
            Some(Host::Ipv4(address)) => self.check_for(scheme, IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => self.check_for(scheme, IpAddr::V6(address)),
            Some(Host::Domain(name)) if is_localhost(name) => {
                let ipv4 = self.check_for(scheme, IpAddr::V4(Ipv4Addr::LOCALHOST));
                ipv4.or_else(|_| self.check_for(scheme, IpAddr::V6(Ipv6Addr::LOCALHOST)))
            }
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }
}

/// Reads a URL that is written out: the parser alone would also complete `https:shop.example` and drop spaces.
fn parse(text: &str) -> Result<Url, RefusedDestination> {
    if text.len() > DESTINATION_BYTES_MAX {
        return Err(RefusedDestination::TooLong);
    }
    let has_gaps = text.chars().any(|character| character.is_whitespace() || character.is_control());
    let url = Url::parse(text).ok().filter(|_| !has_gaps).ok_or(RefusedDestination::NotAbsolute)?;
    let after_scheme = text.get(url.scheme().len()..).unwrap_or_default();
    match after_scheme.strip_prefix("://") {
        Some(rest) if !rest.starts_with(['/', '\\']) => Ok(url),
        _ if Scheme::of(&url).is_none() => Err(RefusedDestination::NotHttps),
        _ => Err(RefusedDestination::NotAbsolute),
    }
}

/// True when there is an `@` before the host, also with nothing before it, which the parser drops.
fn has_user_information(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    after_scheme.split(['/', '\\', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// True when a name is reserved for this machine, by RFC 6761.
fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(networks: &str) -> AddressPolicy {
        AddressPolicy::allowing(networks.parse().expect("they are networks"))
    }

    #[track_caller]
    fn assert_refused(policy: &AddressPolicy, reason: RefusedDestination, texts: &[&str]) {
        for text in texts {
            assert_eq!(policy.check_url(text), Err(reason), "{text}");
        }
    }

    #[track_caller]
    fn assert_taken(policy: &AddressPolicy, texts: &[&str]) {
        for text in texts {
            assert!(policy.check_url(text).is_ok(), "{text}: {:?}", policy.check_url(text));
        }
    }

    #[test]
    fn https_urls_of_names_and_public_addresses_are_taken() {
        let names =
            ["https://shop.example/webhooks", "HTTPS://SHOP.example:8443/a?b=c", "https://xn--bcher-kva.example"];
        assert_taken(&AddressPolicy::default(), &names);
        assert_taken(&AddressPolicy::default(), &["https://8.8.8.8/", "https://[2606:4700:4700::1111]:8443/x"]);
        let url = AddressPolicy::default().check_url("https://shop.example/webhooks?shop=1").expect("it is taken");
        assert_eq!(url.as_str(), "https://shop.example/webhooks?shop=1");
    }

    #[test]
    fn a_url_is_absolute_and_written_out() {
        let texts = [
            "",
            "shop.example",
            "/webhooks",
            "//shop.example/",
            "https://",
            "https:shop.example",
            "https:/shop.example",
        ];
        assert_refused(&AddressPolicy::default(), RefusedDestination::NotAbsolute, &texts);
        let odd = [
            "https:///shop.example",
            "https://\\shop.example",
            " https://shop.example",
            "https://shop.example/\n",
            "https://sh\top.example",
            "https://shop.example/a b",
            "https://[::1",
            "https://1.2.3.4.5/",
            "https://shop.example:99999/",
        ];
        assert_refused(&AddressPolicy::default(), RefusedDestination::NotAbsolute, &odd);
    }

    #[test]
    fn other_schemes_are_refused() {
        let texts = [
            "http://shop.example/",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "mailto:a@shop.example",
            "javascript:alert(1)",
        ];
        assert_refused(&AddressPolicy::default(), RefusedDestination::NotHttps, &texts);
        assert_refused(&allowing("127.0.0.0/8"), RefusedDestination::NotHttps, &["ftp://127.0.0.1/"]);
    }

    #[test]
    fn user_information_and_fragments_are_refused() {
        let users =
            ["https://user@shop.example/", "https://user:password@shop.example/", "https://:password@shop.example/"];
        let users =
            [&users[..], &["https://@shop.example/", "https://@:@shop.example?a", "https://:@shop.example"]].concat();
        assert_refused(&AddressPolicy::default(), RefusedDestination::UserInformation, &users);
        let fragments = ["https://shop.example/#", "https://shop.example/a#b"];
        assert_refused(&AddressPolicy::default(), RefusedDestination::Fragment, &fragments);
    }

    #[test]
    fn a_url_has_at_most_2048_bytes() {
        let url_of = |length: usize| format!("https://shop.example/{:a<1$}", "", length - 21);
        assert_taken(&AddressPolicy::default(), &[&url_of(DESTINATION_BYTES_MAX)]);
        assert_refused(&AddressPolicy::default(), RefusedDestination::TooLong, &[&url_of(DESTINATION_BYTES_MAX + 1)]);
    }

    #[test]
    fn loopback_is_refused_in_any_spelling() {
        let refused = RefusedDestination::Address(RefusedAddress::Loopback);
        let ipv4 = [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://127.0.0.1./",
            "https://%31%32%37.0.0.1/",
            "https://１２７.0.0.1/",
        ];
        assert_refused(&AddressPolicy::default(), refused, &ipv4);
        assert_refused(&AddressPolicy::default(), refused, &["https://[::1]/", "https://[::ffff:127.0.0.1]:8443/"]);
    }

    #[test]
    fn private_and_metadata_addresses_are_refused() {
        let private =
            ["https://10.0.0.1/", "https://192.168.1.1:8443/", "https://[fd00::1]/", "https://[64:ff9b::a00:1]/"];
        assert_refused(&AddressPolicy::default(), RefusedDestination::Address(RefusedAddress::Private), &private);
        let metadata = ["https://169.254.169.254/latest/", "https://[fd00:ec2::254]/"];
        assert_refused(&AddressPolicy::default(), RefusedDestination::Address(RefusedAddress::Metadata), &metadata);
    }

    #[test]
    fn names_of_localhost_are_refused_unless_loopback_is_allowed() {
        let names = ["https://localhost/", "https://LOCALHOST.:8443/", "https://shop.localhost/"];
        assert_refused(&AddressPolicy::default(), RefusedDestination::Address(RefusedAddress::Loopback), &names);
        assert_taken(&allowing("127.0.0.0/8"), &names);
        assert_taken(&allowing("::1/128"), &names);
        assert_taken(&AddressPolicy::default(), &["https://localhost.example/", "https://notlocalhost/"]);
    }

    #[test]
    fn http_is_accepted_for_names_only_if_a_network_is_allowed() {
        let policy = allowing("10.0.0.0/8");
        assert_taken(&policy, &["http://10.0.0.1:8080/", "https://10.0.0.1/", "http://shop.example/"]);
        assert_refused(&policy, RefusedDestination::Address(RefusedAddress::NotForHttp), &["http://8.8.8.8/"]);
        assert_refused(&policy, RefusedDestination::Address(RefusedAddress::Loopback), &["http://localhost/"]);
    }

    #[test]
    fn privileged_ports_but_443_are_refused() {
        for port in [1, 22, 25, 80, 442, 444, 1_023] {
            for host in ["shop.example", "8.8.8.8", "[2606:4700:4700::1111]"] {
                let url = format!("https://{host}:{port}/");
                assert_refused(&AddressPolicy::default(), RefusedDestination::Port, &[&url]);
            }
        }
        let urls = ["https://shop.example:443/", "https://8.8.8.8:1024/", "https://shop.example:65535/"];
        assert_taken(&AddressPolicy::default(), &urls);
    }

    #[test]
    fn allowed_networks_are_called_at_any_port() {
        let policy = allowing("10.0.0.0/8");
        assert_taken(&policy, &["http://10.0.0.1/", "https://10.0.0.1:22/", "https://shop.example:80/"]);
        assert_refused(&policy, RefusedDestination::Port, &["https://8.8.8.8:22/"]);
    }

    #[test]
    fn messages_read_after_the_name_of_the_argument() {
        let message = |text| AddressPolicy::default().check_url(text).expect_err("it is refused").to_string();
        let private =
            "must not lead to a private address; the operator may allow its network: webhook_allowed_networks";
        assert_eq!(message("https://10.0.0.1/"), private);
        assert_eq!(message("http://shop.example/"), "must begin with https://");
    }
}
