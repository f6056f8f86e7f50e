//! Addresses of servers to be measured.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use anyhow::{Context, anyhow, bail, ensure};
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use url::Url;

use super::trust::Trust;

/// The address of a server, and the protocol of its listener.
#[derive(Clone)]
pub struct ServerAddress {
    socket: SocketAddr,
    /// Host and port, as requests name them.
    authority: String,
    tls: Option<Tls>,
}

/// The TLS settings of connections.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) connector: TlsConnector,
    /// The name that the server's certificate must be for.
    pub(crate) name: ServerName<'static>,
}

impl ServerAddress {
    /// A server without TLS.
    #[must_use]
    pub fn without_tls(socket: SocketAddr) -> ServerAddress {
        ServerAddress { socket, authority: socket.to_string(), tls: None }
    }

    /// The address that it listens on.
    pub(crate) const fn socket(&self) -> SocketAddr {
        self.socket
    }

    /// Host and port, as requests name them.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// The TLS settings of connections; none where the server speaks plain HTTP.
    pub(crate) const fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.authority)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self} ({})", self.socket)
    }
}

/// The address of `http://HOST:PORT`, or of `https://HOST:PORT` with what its certificate is trusted by; another
/// machine's only where that is allowed.
///
/// # Errors
/// Fails when it is none, not allowed, or cannot be trusted.
pub fn server_address(text: &str, allow_remote: bool, trust: &Trust) -> anyhow::Result<ServerAddress> {
    let no_address = || anyhow!("{text}: write http://HOST:PORT or https://HOST:PORT");
    let url = Url::parse(text).map_err(|_| no_address())?;
    let is_plain = matches!(url.path(), "" | "/") && url.query().is_none() && url.username().is_empty();
    let (Some(host), Some(port), true) = (url.host_str(), url.port_or_known_default(), is_plain) else {
        bail!(no_address());
    };
    let unknown = || anyhow!("{text}: there is no such host");
    let host_name = host.trim_start_matches('[').trim_end_matches(']');
    let socket = (host_name, port).to_socket_addrs().map_err(|_| unknown())?.next().ok_or_else(unknown)?;
    let is_allowed = allow_remote || socket.ip().is_loopback();
    ensure!(is_allowed, "{text} is not on this machine: load on a server elsewhere needs --allow-remote");
    let tls = match url.scheme() {
        "http" => None,
        "https" => {
            let name = ServerName::try_from(host_name.to_owned()).map_err(|_| no_address())?;
            Some(Tls { connector: trust.connector().with_context(|| text.to_owned())?, name })
        }
        _ => bail!(no_address()),
    };
    Ok(ServerAddress { socket, authority: format!("{host}:{port}"), tls })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn address(text: &str, allow_remote: bool) -> Result<String, String> {
        let address = server_address(text, allow_remote, &Trust::System);
        address.map(|address| format!("{address:?}")).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_server_of_this_machine_may_be_called() {
        let called = Ok("http://127.0.0.1:8080 (127.0.0.1:8080)".to_owned());
        assert_eq!(address("http://127.0.0.1:8080", false), called);
        assert_eq!(address("http://127.0.0.1:8080/", false), called);
        assert_eq!(address("http://[::1]:8080", false), Ok("http://[::1]:8080 ([::1]:8080)".to_owned()));
    }

    #[test]
    fn an_address_of_another_machine_needs_the_permission() {
        assert!(address("http://192.0.2.1:80", false).is_err_and(|fault| fault.contains("--allow-remote")));
        assert!(address("http://192.0.2.1:80", true).is_ok());
    }

    #[test]
    fn an_invalid_address_is_refused() {
        let refused = [
            "",
            "127.0.0.1:8080",
            "http://127.0.0.1:8080/merchants",
            "http://:80",
            "ftp://127.0.0.1:80",
            "http://me@127.0.0.1:80",
        ];
        for text in refused {
            assert_eq!(address(text, true), Err(format!("{text}: write http://HOST:PORT or https://HOST:PORT")));
        }
    }

    #[test]
    fn a_file_without_certificates_is_refused_by_name() {
        for file in ["/nonexistent/ca.pem", "/dev/null"] {
            let refused = server_address("https://127.0.0.1:8443", false, &Trust::File(PathBuf::from(file)));
            let refused = refused.map(|_| ()).map_err(|fault| format!("{fault:#}"));
            assert!(refused.as_ref().is_err_and(|fault| fault.contains(file)), "{refused:?}");
        }
    }
}
