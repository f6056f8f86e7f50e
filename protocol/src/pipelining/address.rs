//! Addresses of steps: those of this server, by host and port.

use url::Url;

/// The addresses under which this server is known to the caller.
pub(crate) struct Address {
    bases: Vec<Url>,
}

/// The part of an address after the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PathAndQuery {
    pub(crate) path: String,
    pub(crate) query: String,
}

impl Address {
    /// A server with these addresses: the one that the operator has set, and the one that the pipeline was sent to.
    pub(crate) fn new<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Address {
        Address { bases: addresses.into_iter().filter_map(|address| Url::parse(address).ok()).collect() }
    }

    /// Removes the server from this address. None for an address of another server.
    pub(super) fn resolve(&self, address: &str) -> Option<PathAndQuery> {
        self.bases.iter().find_map(|base| path_below(base, &Url::options().base_url(Some(base)).parse(address).ok()?))
    }

    /// The beginning of this server's addresses, for a message.
    pub(super) fn beginning(&self) -> &str {
        self.bases.first().map_or("/", Url::as_str)
    }
}

/// The path below that of `base`, which a server behind a proxy may have. The scheme is not compared, since a proxy may
/// have terminated TLS.
fn path_below(base: &Url, url: &Url) -> Option<PathAndQuery> {
    let is_ours = matches!(url.scheme(), "http" | "https")
        && url.host_str() == base.host_str()
        && url.port() == base.port()
        && url.username().is_empty();
    let path = url.path().strip_prefix(base.path().trim_end_matches('/')).filter(|path| path.starts_with('/'))?;
    is_ours.then(|| PathAndQuery { path: path.to_owned(), query: url.query().unwrap_or_default().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(address: &str) -> Option<String> {
        let ours = Address::new(["https://pay.example/till", "http://127.0.0.1:8080"]);
        ours.resolve(address).map(|found| format!("{}?{}", found.path, found.query))
    }

    #[test]
    fn an_address_of_ours_is_known_by_host_and_port() {
        for (address, expected) in [
            ("https://pay.example/till/merchants/find-payment", "/merchants/find-payment?"),
            ("http://PAY.example:80/till/sdk/x", "/sdk/x?"),
            ("http://127.0.0.1:8080/merchants/x?api_version=2025-04-01", "/merchants/x?api_version=2025-04-01"),
            ("/merchants/x", "/merchants/x?"),
        ] {
            assert_eq!(path(address).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn any_other_address_is_another_servers() {
        for address in [
            "https://evil.example/till/merchants/x",
            "https://pay.example:8443/till/merchants/x",
            "https://pay.example/tilly/merchants/x",
            "http://127.0.0.1:9090/admin/x",
            "http://pay.example@evil.example/till/merchants/x",
            "http://somebody@127.0.0.1:8080/merchants/x",
            "ftp://127.0.0.1:8080/merchants/x",
            "//evil.example/merchants/x",
            "http://",
        ] {
            assert_eq!(path(address), None, "{address}");
        }
    }
}
