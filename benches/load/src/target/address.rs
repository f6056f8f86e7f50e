//! Addresses of servers to be measured.

use std::net::{SocketAddr, ToSocketAddrs};

use url::Url;

/// The reason that an address cannot be called.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressFault {
    /// The text is not an address.
    #[error("{0}: write http://HOST:PORT")]
    NoAddress(String),
    /// The address is one of TLS.
    #[error("{0}: the load tester speaks http only: measure a listener without TLS")]
    Encrypted(String),
    /// The host name cannot be resolved.
    #[error("{0}: there is no such host")]
    UnknownHost(String),
    /// The address is one of another machine.
    #[error("{0} is not on this machine: load on another one's server needs --allow-remote")]
    Remote(String),
}

/// The address of `http://HOST:PORT`; another machine's only where that is allowed.
///
/// # Errors
/// The text is not an address, or the address is not allowed.
pub fn server_address(text: &str, allow_remote: bool) -> Result<SocketAddr, AddressFault> {
    let no_address = || AddressFault::NoAddress(text.to_owned());
    let url = Url::parse(text).map_err(|_| no_address())?;
    if url.scheme() == "https" {
        return Err(AddressFault::Encrypted(text.to_owned()));
    }
    let is_plain = url.scheme() == "http" && matches!(url.path(), "" | "/") && url.query().is_none();
    let (Some(host), Some(port), true) = (url.host_str(), url.port_or_known_default(), is_plain) else {
        return Err(no_address());
    };
    let unknown = || AddressFault::UnknownHost(host.to_owned());
    let host_name = host.trim_start_matches('[').trim_end_matches(']');
    let address = (host_name, port).to_socket_addrs().map_err(|_| unknown())?.next().ok_or_else(unknown)?;
    if address.ip().is_loopback() || allow_remote { Ok(address) } else { Err(AddressFault::Remote(text.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_this_machine_may_be_called() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        assert_eq!(server_address("http://127.0.0.1:8080", false), Ok(address));
        assert_eq!(server_address("http://127.0.0.1:8080/", false), Ok(address));
        assert!(server_address("http://[::1]:8080", false).is_ok());
    }

    #[test]
    fn an_address_of_another_machine_needs_the_permission() {
        let refused = Err(AddressFault::Remote("http://192.0.2.1:80".to_owned()));
        assert_eq!(server_address("http://192.0.2.1:80", false), refused);
        assert!(server_address("http://192.0.2.1:80", true).is_ok());
    }

    #[test]
    fn an_invalid_address_is_refused() {
        let encrypted = "https://127.0.0.1:8080";
        assert_eq!(server_address(encrypted, true), Err(AddressFault::Encrypted(encrypted.to_owned())));
        for text in ["", "127.0.0.1:8080", "http://127.0.0.1:8080/merchants", "http://:80"] {
            assert_eq!(server_address(text, true), Err(AddressFault::NoAddress(text.to_owned())), "{text}");
        }
    }
}
