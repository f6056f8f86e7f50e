//! A client of one server. Connections are kept between calls; redirects are answers like any other, proxies in the
//! environment are not used, and nothing is sent twice.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Request, Response};
use parking_lot::Mutex;
use rustls::RootCertStore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};
use zeroize::Zeroizing;

use super::failure::RequestFailure;
use super::http_connection::HttpConnection;
use super::lookups::Lookups;
use super::stream::{ADDRESSES_TRIED_MAX, Scheme, addresses_of, connect, system_roots, tls_trusting};

/// The time limit of connecting: looking the name up, calling its addresses, and TLS.
const CONNECTING_MAX: Duration = Duration::from_secs(3);
/// Bytes of an answer's body, at most.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Connections that are kept without a request, at most.
const KEPT_MAX: usize = 32;
/// The time without a request after which a connection is not used again: servers close such ones, and one that closes
/// while a request is on its way leaves the outcome unknown.
const KEPT_TIME_MAX: Duration = Duration::from_secs(10);

/// The name that the client gives itself.
const USER_AGENT_VALUE: &str = concat!("Till/", env!("CARGO_PKG_VERSION"));

/// Calls one server.
pub struct HttpClient {
    base: Url,
    scheme: Scheme,
    tls: TlsConnector,
    lookups: Lookups<()>,
    /// Connections without a request, each with the time since which it has none; the last one was used last.
    kept: Mutex<Vec<(HttpConnection, Instant)>>,
}

/// A request to the server of a client.
#[derive(Clone, Copy)]
pub struct HttpCall<'c> {
    /// The path, which begins with `/`, and the query.
    pub path: &'c str,
    /// Headers besides those of HTTP itself: names with values.
    pub headers: &'c [(&'c str, &'c str)],
    /// The body of a POST, which asks for a change; none for GET, which changes nothing.
    pub body: Option<&'c [u8]>,
}

/// The whole answer to a call, with any status.
pub struct HttpAnswer {
    /// The status, from 100 to 999.
    pub status: u16,
    /// The body: at most 1 MiB.
    pub body: Bytes,
    headers: HeaderMap,
}

/// The text is no base URL of a client. The messages read after the name of the argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedBaseUrl {
    /// It is not absolute, or has more than a server's address.
    #[error("must be a scheme, a host and possibly a port, such as https://api.example")]
    NotAServer,
    /// It is called without TLS, and leads to another machine.
    #[error("must begin with https://, or with http:// and a loopback address such as 127.0.0.1")]
    NotHttps,
}

impl HttpClient {
    /// A client of the server at `base`, which is https, or http at a loopback address. TLS trusts the certificates
    /// that the system trusts.
    ///
    /// # Errors
    /// [`RefusedBaseUrl`], to be told to the operator.
    pub fn new(base: &str) -> Result<HttpClient, RefusedBaseUrl> {
        HttpClient::trusting(system_roots(), base)
    }

    fn trusting(roots: RootCertStore, base: &str) -> Result<HttpClient, RefusedBaseUrl> {
        let (base, scheme) = server_of(base)?;
        Ok(HttpClient { base, scheme, tls: tls_trusting(roots), lookups: Lookups::system(), kept: Mutex::default() })
    }

    /// Makes a call, which ends within `time_limit`. Dropping it closes its connection.
    ///
    /// # Errors
    /// [`RequestFailure`]. When it is unsent, the server has not seen the call, and nothing has changed there; else it
    /// may have, and its answer is missing, too late, or not whole.
    pub async fn call(&self, call: HttpCall<'_>, time_limit: Duration) -> Result<HttpAnswer, RequestFailure> {
        let deadline = Instant::now() + time_limit;
        let request = self.request_of(call)?;
        if let Some(kept) = timeout_at(connecting_until(deadline), self.take_kept()).await.unwrap_or_default() {
            match self.ask(kept, request.clone(), deadline).await {
                Err(RequestFailure::NotWritten) => {} // The server had closed it: a new one is made, once.
                ended => return ended,
            }
        }
        let connection = self.connect(connecting_until(deadline)).await?;
        self.ask(connection, request, deadline).await
    }

    fn request_of(&self, call: HttpCall<'_>) -> Result<Request<Full<Bytes>>, RequestFailure> {
        if !call.path.starts_with('/') {
            return Err(RequestFailure::Unsendable);
        }
        let request = match call.body {
            None => Request::get(call.path),
            Some(body) => Request::post(call.path).header(CONTENT_LENGTH, body.len()),
        };
        let host = &self.base[Position::BeforeHost..Position::AfterPort];
        let mut request = request.header(HOST, host).header(USER_AGENT, USER_AGENT_VALUE);
        for (name, value) in call.headers {
            let value = HeaderValue::from_maybe_shared(zeroized(value.as_bytes()));
            request = request.header(*name, value.map_err(|_| RequestFailure::Unsendable)?);
        }
        request.body(Full::from(zeroized(call.body.unwrap_or_default()))).map_err(|_| RequestFailure::Unsendable)
    }

    /// The connection that was used last, of those that are still open.
    async fn take_kept(&self) -> Option<HttpConnection> {
        while let Some(mut connection) = self.newest_kept() {
            if connection.is_open().await {
                return Some(connection);
            }
        }
        None
    }

    fn newest_kept(&self) -> Option<HttpConnection> {
        let mut kept = self.kept.lock();
        kept.retain(|(_, since)| since.elapsed() < KEPT_TIME_MAX);
        kept.pop().map(|(connection, _)| connection)
    }

    fn keep(&self, connection: HttpConnection) {
        let mut kept = self.kept.lock();
        if kept.len() < KEPT_MAX {
            kept.push((connection, Instant::now()));
        }
    }

    /// A new connection.
    async fn connect(&self, until: Instant) -> Result<HttpConnection, RequestFailure> {
        let connected = timeout_at(until, async {
            let port = self.base.port_or_known_default().ok_or(RequestFailure::Unsendable)?;
            let found = addresses_of(&self.base, |name| self.look_up(name)).await?;
            let tried = found.into_iter().take(ADDRESSES_TRIED_MAX as usize);
            let addresses: Vec<_> = tried.map(|address| Ok(SocketAddr::new(address, port))).collect();
            let parts = u32::try_from(addresses.len()).unwrap_or_default().max(1);
            let stream = connect::<RequestFailure>(addresses, CONNECTING_MAX / parts).await?;
            HttpConnection::begin(stream, self.scheme, &self.base, &self.tls).await
        });
        connected.await.unwrap_or(Err(RequestFailure::NotConnected(io::ErrorKind::TimedOut)))
    }

    /// Calls share one look-up, whose thread may outlive them.
    async fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let lookup = self.lookups.begin((), name, || Some(())).ok_or(io::ErrorKind::NotFound)?;
        lookup.addresses().await
    }

    async fn ask(
        &self,
        mut connection: HttpConnection,
        request: Request<Full<Bytes>>,
        deadline: Instant,
    ) -> Result<HttpAnswer, RequestFailure> {
        let asked = async { read_whole(connection.ask(request).await?).await };
        let answer = timeout_at(deadline, asked).await.unwrap_or(Err(RequestFailure::TimedOut))?;
        self.keep(connection);
        Ok(answer)
    }
}

impl HttpAnswer {
    /// The value of a header, unless it is missing or not of visible ASCII characters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A copy that is overwritten once nothing of the request is used. What a connection writes of its head is not.
fn zeroized(bytes: &[u8]) -> Bytes {
    Bytes::from_owner(Zeroizing::new(bytes.to_vec()))
}

fn connecting_until(deadline: Instant) -> Instant {
    deadline.min(Instant::now() + CONNECTING_MAX)
}

async fn read_whole(response: Response<Incoming>) -> Result<HttpAnswer, RequestFailure> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, BODY_BYTES_MAX).collect().await.map_err(|error| {
        let is_too_long = error.is::<LengthLimitError>();
        if is_too_long { RequestFailure::BodyTooLong } else { RequestFailure::NoAnswer(error.to_string()) }
    })?;
    Ok(HttpAnswer { status: head.status.as_u16(), body: body.to_bytes(), headers: head.headers })
}

/// Checks the address of a server that [`HttpClient`] may call.
///
/// # Errors
/// [`RefusedBaseUrl`], to be told to the operator.
pub fn check_base_url(base: &str) -> Result<(), RefusedBaseUrl> {
    server_of(base).map(|_| ())
}

/// A URL that names a server and nothing in it, and its scheme.
fn server_of(base: &str) -> Result<(Url, Scheme), RefusedBaseUrl> {
    let base = Url::parse(base).map_err(|_| RefusedBaseUrl::NotAServer)?;
    let has_user = !base.username().is_empty() || base.password().is_some();
    let names_server = !has_user && &base[Position::BeforePath..] == "/";
    let scheme = Scheme::of(&base).filter(|_| names_server).ok_or(RefusedBaseUrl::NotAServer)?;
    let is_loopback = match base.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    };
    let may_call = scheme == Scheme::Https || is_loopback;
    may_call.then_some((base, scheme)).ok_or(RefusedBaseUrl::NotHttps)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
