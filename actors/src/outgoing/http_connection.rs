//! HTTP/1.1 over a connected stream.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::ext::on_informational;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::failure::{INTERIM_HEADS_MAX, RequestFailure};
use super::stream::Scheme;

/// Bytes of the head of an answer, at most, and those that are read of a body at once.
pub(super) const READ_BUFFER_BYTES_MAX: usize = 16 * 1024;

/// A connection that requests are sent over. Dropping it closes it.
pub(crate) struct HttpConnection {
    requests: SendRequest<Full<Bytes>>,
    /// Drives the connection, and ends with it.
    _driver: JoinSet<hyper::Result<()>>,
}

impl HttpConnection {
    /// Begins HTTP over a stream to the host of a URL; for https with TLS, by a certificate of this host.
    ///
    /// # Errors
    /// [`RequestFailure::Tls`] when the host's certificate is refused.
    pub(crate) async fn begin(
        stream: TcpStream,
        scheme: Scheme,
        url: &Url,
        tls: &TlsConnector,
    ) -> Result<HttpConnection, RequestFailure> {
        match scheme {
            Scheme::Https => {
                let name = server_name(url).ok_or(RequestFailure::Unsendable)?;
                let encrypted = tls.connect(name, stream).await;
                HttpConnection::of_stream(encrypted.map_err(|error| RequestFailure::Tls(error.to_string()))?).await
            }
            Scheme::Http => HttpConnection::of_stream(stream).await,
        }
    }

    /// Begins HTTP over a connected stream.
    pub(super) async fn of_stream<S>(stream: S) -> Result<HttpConnection, RequestFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = Builder::new();
        builder.max_buf_size(READ_BUFFER_BYTES_MAX);
        let begun = builder.handshake(TokioIo::new(stream)).await;
        let (requests, connection) = begun.map_err(|error| RequestFailure::NoAnswer(error.to_string()))?;
        let mut driver = JoinSet::new();
        driver.spawn(connection);
        Ok(HttpConnection { requests, _driver: driver })
    }

    /// Waits until the answer before has been read, and is false when the connection is closed by then.
    pub(super) async fn is_open(&mut self) -> bool {
        self.requests.ready().await.is_ok()
    }

    /// Sends a request and waits for the head of its answer. The body of the answer ends with this connection.
    ///
    /// # Errors
    /// [`RequestFailure::NotWritten`] when no byte of the request was written; else [`RequestFailure::NoAnswer`] and
    /// [`RequestFailure::TooManyInterimHeads`].
    pub(crate) async fn ask(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, RequestFailure> {
        let too_many = notice_of_interim_heads(&mut request);
        tokio::select! {
            biased;
            () = too_many.notified() => Err(RequestFailure::TooManyInterimHeads),
            response = self.requests.try_send_request(request) => response.map_err(failure_of),
        }
    }
}

fn server_name(url: &Url) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(address))),
        Host::Domain(name) => ServerName::try_from(name.to_owned()).ok(),
    }
}

/// A request that is given back was never begun.
fn failure_of(error: TrySendError<Request<Full<Bytes>>>) -> RequestFailure {
    match error.message() {
        Some(_) => RequestFailure::NotWritten,
        None => RequestFailure::NoAnswer(error.into_error().to_string()),
    }
}

/// Notifies when more heads come before that of the answer than are read: HTTP sets no limit to them.
fn notice_of_interim_heads(request: &mut Request<Full<Bytes>>) -> Arc<Notify> {
    let (too_many, count) = (Arc::new(Notify::new()), AtomicUsize::new(0));
    let notice = Arc::clone(&too_many);
    on_informational(request, move |_| {
        if count.fetch_add(1, Ordering::Relaxed) == INTERIM_HEADS_MAX {
            notice.notify_one();
        }
    });
    too_many
}
