//! One attempt to deliver: a POST to an endpoint of a merchant, which may be slow, broken or hostile.
//!
//! Every attempt has a connection of its own, so that the addresses of the name are judged each time. A redirect is an
//! answer like any other and never followed; proxies in the environment are not used, since then the proxy would choose
//! the address.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use till_domain::ids::MerchantId;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use super::address_policy::AddressPolicy;
use super::answer::{EndpointAnswer, asked_wait, excerpt_of, gather};
use super::connection::connect;
use super::failure::FailureReason;
use super::limits::{ATTEMPTS_MAX, LOOKUPS_MAX, SOCKETS_MAX, part_of};
use super::names::{ResolveNames, SystemNames};
use crate::outgoing::{ADDRESSES_TRIED_MAX, HttpConnection, RequestFailure, Scheme, system_roots, tls_trusting};

/// The time limit of an attempt in all: resolving, connecting, sending and reading.
pub const ATTEMPT_TIME_LIMIT: Duration = Duration::from_secs(15);

/// The name that the sender gives itself.
const USER_AGENT_VALUE: &str = concat!("Till-Webhooks/", env!("CARGO_PKG_VERSION"));

/// Delivers to endpoints. Cloning it is cheap.
#[derive(Clone)]
pub struct Sender {
    policy: AddressPolicy,
    names: Arc<dyn ResolveNames>,
    tls: TlsConnector,
    time_limit: Duration,
    /// Bounds the sockets of attempts, those by hand included.
    attempts: Arc<Semaphore>,
    sockets: usize,
}

/// The content of a delivery.
#[derive(Debug, Clone, Copy)]
pub struct Post<'p> {
    /// The merchant whose endpoint it is.
    pub merchant_id: MerchantId,
    /// The endpoint, as [`AddressPolicy::check_url`] read it.
    pub url: &'p Url,
    /// Headers besides those of HTTP: names with values.
    pub headers: &'p [(&'p str, &'p str)],
    /// The body, in JSON.
    pub body: &'p [u8],
}

/// The outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Time until the head of the answer was read, or the attempt had failed.
    pub latency: Duration,
    /// The answer, or the reason why there is none.
    pub result: AttemptResult,
}

/// The end of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptResult {
    /// The endpoint answered, with any status.
    Answered(EndpointAnswer),
    /// There was no answer.
    Failed(FailureReason),
}

impl Sender {
    /// Delivers to the addresses that the policy accepts; names are resolved by the system, and TLS trusts the
    /// certificates that the system trusts.
    #[must_use]
    pub fn new(policy: AddressPolicy) -> Sender {
        Sender::with_sockets(policy, SOCKETS_MAX)
    }

    /// Like [`Sender::new`], with at most this number of sockets: attempts and look-ups have them in the usual
    /// proportion.
    #[must_use]
    pub fn with_sockets(policy: AddressPolicy, sockets: usize) -> Sender {
        let names = Arc::new(SystemNames::with_lookups(part_of(LOOKUPS_MAX, sockets)));
        let attempts = Arc::new(Semaphore::new(part_of(ATTEMPTS_MAX, sockets)));
        Sender { attempts, sockets, ..Sender::with_names(policy, names) }
    }

    /// Like [`Sender::new`], but names are resolved by `names`.
    #[must_use]
    pub fn with_names(policy: AddressPolicy, names: Arc<dyn ResolveNames>) -> Sender {
        let (tls, attempts) = (tls_trusting(system_roots()), Arc::new(Semaphore::new(ATTEMPTS_MAX)));
        Sender { policy, names, tls, time_limit: ATTEMPT_TIME_LIMIT, attempts, sockets: SOCKETS_MAX }
    }

    /// The number of sockets that deliveries have.
    pub(super) const fn sockets(&self) -> usize {
        self.sockets
    }

    /// Makes one attempt. It ends within [`ATTEMPT_TIME_LIMIT`], and dropping it ends its connection.
    pub async fn post(&self, post: Post<'_>) -> Attempt {
        let started = Instant::now();
        let deadline = started + self.time_limit;
        let asked = timeout_at(deadline, async {
            let permit = self.attempts.acquire().await;
            Ok((self.ask(post).await?, permit))
        });
        let asked = asked.await;
        let latency = started.elapsed();
        let result = match asked.unwrap_or(Err(RequestFailure::TimedOut.into())) {
            Ok((asked, _permit)) => AttemptResult::Answered(asked.answer_until(deadline).await),
            Err(reason) => AttemptResult::Failed(reason),
        };
        Attempt { latency, result }
    }

    /// Sends the request and waits for the head of the answer.
    async fn ask(&self, post: Post<'_>) -> Result<PendingResponse, FailureReason> {
        let request = request_of(post)?;
        let scheme = Scheme::of(post.url).ok_or(RequestFailure::Unsendable)?;
        // Each address has a part of the time, and one part is left for the answer.
        let part = self.time_limit / (ADDRESSES_TRIED_MAX + 1);
        let stream = connect((post.merchant_id, post.url), scheme, self.names.as_ref(), &self.policy, part).await?;
        let mut connection = HttpConnection::begin(stream, scheme, post.url, &self.tls).await?;
        Ok(PendingResponse { response: connection.ask(request).await?, _connection: connection })
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// An answer whose body is not read yet, and its connection, which ends with it.
struct PendingResponse {
    response: hyper::Response<Incoming>,
    _connection: HttpConnection,
}

impl PendingResponse {
    /// The answer with the part of its body that arrives before the deadline.
    async fn answer_until(mut self, deadline: Instant) -> EndpointAnswer {
        let mut gathered = Vec::new();
        // A body that takes too long changes nothing about the status that the endpoint answered with.
        _ = timeout_at(deadline, gather(self.response.body_mut(), &mut gathered)).await;
        EndpointAnswer {
            status: self.response.status().as_u16(),
            excerpt: excerpt_of(&gathered),
            retry_after: asked_wait(self.response.headers()),
        }
    }
}

fn request_of(post: Post<'_>) -> Result<Request<Full<Bytes>>, RequestFailure> {
    let mut request = Request::post(&post.url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &post.url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, USER_AGENT_VALUE)
        .header(CONTENT_TYPE, "application/json")
        .header(CONNECTION, "close");
    for (name, value) in post.headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from(post.body.to_vec())).map_err(|_| RequestFailure::Unsendable)
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
