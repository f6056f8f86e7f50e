//! One attempt to deliver: a POST to an endpoint of a merchant, which may be slow, broken or hostile.
//!
//! Every attempt has a connection of its own, so that the addresses of the name are judged each time. A redirect is an
//! answer like any other and never followed; proxies in the environment are not used, since then the proxy would choose
//! the address.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::ext::on_informational;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use till_domain::ids::MerchantId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use super::address_policy::AddressPolicy;
use super::answer::{EndpointAnswer, asked_wait, excerpt_of, gather};
use super::connection::{ADDRESSES_TRIED_MAX, begin_tls, connect, system_roots, tls_trusting};
use super::destination::Scheme;
use super::failure::{FailureReason, INTERIM_HEADS_MAX};
use super::limits::{ATTEMPTS_MAX, LOOKUPS_MAX, SOCKETS_MAX, part_of};
use super::names::{ResolveNames, SystemNames};

/// The time limit of an attempt in all: resolving, connecting, sending and reading.
pub const ATTEMPT_TIME_LIMIT: Duration = Duration::from_secs(15);

/// Bytes of the head of an answer, at most, and those that are read of a body at once.
const READ_BUFFER_BYTES_MAX: usize = 16 * 1024;

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
        let result = match asked.unwrap_or(Err(FailureReason::TimedOut)) {
            Ok((asked, _permit)) => AttemptResult::Answered(asked.answer_until(deadline).await),
            Err(reason) => AttemptResult::Failed(reason),
        };
        Attempt { latency, result }
    }

    /// Sends the request and waits for the head of the answer.
    async fn ask(&self, post: Post<'_>) -> Result<PendingResponse, FailureReason> {
        let request = request_of(post)?;
        let scheme = Scheme::of(post.url).ok_or(FailureReason::Unsendable)?;
        // Each address has a part of the time, and one part is left for the answer.
        let part = self.time_limit / (ADDRESSES_TRIED_MAX + 1);
        let stream = connect((post.merchant_id, post.url), scheme, self.names.as_ref(), &self.policy, part).await?;
        match scheme {
            Scheme::Https => ask_over(begin_tls(stream, post.url, &self.tls).await?, request).await,
            Scheme::Http => ask_over(stream, request).await,
        }
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// An answer whose body is not read yet, and the task that drives its connection, which ends with it.
struct PendingResponse {
    response: hyper::Response<Incoming>,
    _connection: JoinSet<hyper::Result<()>>,
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

async fn ask_over<S>(stream: S, mut request: Request<Full<Bytes>>) -> Result<PendingResponse, FailureReason>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let no_answer = |error: hyper::Error| FailureReason::NoAnswer(error.to_string());
    let mut builder = http1::Builder::new();
    builder.max_buf_size(READ_BUFFER_BYTES_MAX);
    let (mut requests, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(no_answer)?;
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let too_many = notice_of_interim_heads(&mut request);
    tokio::select! {
        biased;
        () = too_many.notified() => Err(FailureReason::TooManyInterimHeads),
        response = requests.send_request(request) => {
            Ok(PendingResponse { response: response.map_err(no_answer)?, _connection: driver })
        }
    }
}

/// Notifies when more heads come before that of the answer than an attempt reads: HTTP sets no limit to them.
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

fn request_of(post: Post<'_>) -> Result<Request<Full<Bytes>>, FailureReason> {
    let mut request = Request::post(&post.url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &post.url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, USER_AGENT_VALUE)
        .header(CONTENT_TYPE, "application/json")
        .header(CONNECTION, "close");
    for (name, value) in post.headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from(post.body.to_vec())).map_err(|_| FailureReason::Unsendable)
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
