//! The byte stream below a connection: TCP, with or without TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpSocket;

use super::answer::CallFailure;
use crate::target::ServerAddress;

/// An open connection to a server: TCP, or TLS after the handshake, in which the server has proved its name.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

/// Connects, from `source` where it is given.
pub(super) async fn connect(server: &ServerAddress, source: Option<IpAddr>) -> Result<Box<dyn Stream>, CallFailure> {
    let socket = bound_socket(server.socket(), source).map_err(|error| CallFailure::of(&error))?;
    let stream = socket.connect(server.socket()).await.map_err(|error| CallFailure::of(&error))?;
    let Some(tls) = server.tls() else { return Ok(Box::new(stream)) };
    let secured = tls.connector.connect(tls.name.clone(), stream).await;
    Ok(Box::new(secured.map_err(|error| CallFailure::of(&error))?))
}

/// A socket that sends at once, bound to the address that its connection is to come from.
fn bound_socket(server: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpSocket> {
    let socket = if server.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_nodelay(true)?;
    if let Some(source) = source {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use rustls::ServerConfig;
    use rustls::crypto::ring;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tempfile::NamedTempFile;
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::super::answer::TlsFailure;
    use super::*;
    use crate::target::{Trust, server_address};

    /// The port of a server whose certificate is for `name` until a year, and the certificate in a file.
    async fn server(name: &str, until: i32) -> (u16, NamedTempFile) {
        let key = KeyPair::generate().expect("randomness");
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        parameters.not_after = date_time_ymd(until, 3, 1);
        let certificate = parameters.self_signed(&key).expect("it is signed");
        let file = NamedTempFile::new().expect("a temporary file can be made");
        std::fs::write(file.path(), certificate.pem()).expect("it can be written");
        let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("they go together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = acceptor.accept(stream).await;
            }
        });
        (port, file)
    }

    /// The failure of a connection to 127.0.0.1.
    async fn connected(name: &str, until: i32, is_trusted: bool) -> Result<(), TlsFailure> {
        let ((port, certificate), (_, other)) = (server(name, until).await, server("127.0.0.1", 2400).await);
        let trusted = if is_trusted { certificate.path() } else { other.path() };
        let server = server_address(&format!("https://127.0.0.1:{port}"), false, &Trust::File(trusted.to_owned()));
        let server = server.unwrap_or_else(|fault| panic!("{fault}"));
        connect(&server, None).await.map(drop).map_err(|failure| match failure {
            CallFailure::Tls(failure) => failure,
            failure => panic!("{failure}"),
        })
    }

    #[tokio::test]
    async fn only_a_server_with_a_valid_certificate_is_called() {
        assert_eq!(connected("127.0.0.1", 2400, true).await, Ok(()));
        assert_eq!(connected("shop.example", 2400, true).await, Err(TlsFailure::OtherName));
        assert_eq!(connected("127.0.0.1", 2400, false).await, Err(TlsFailure::UnknownIssuer));
        assert_eq!(connected("127.0.0.1", 2001, true).await, Err(TlsFailure::NotValidNow));
    }
}
