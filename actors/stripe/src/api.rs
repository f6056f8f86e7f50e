//! Requests to Stripe's API at one version, and what an answer tells by its status.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use till_actors::acquirer::{AcquirerUnavailable, ReturnPath, UnansweredOutcome};
use till_actors::outgoing::{HttpAnswer, HttpCall, HttpClient};
use till_domain::acquirer::AccountMode;
use url::form_urlencoded;
use zeroize::Zeroizing;

/// The version of the API whose objects and words are read.
const VERSION: &str = "2026-10-28.endive";
/// The time limit of a call that may change something.
const CALL_TIME_MAX: Duration = Duration::from_secs(30);
/// The time limit of a call that changes nothing.
const LOOK_UP_TIME_MAX: Duration = Duration::from_secs(10);
/// The number of keys that a call is made under, at most, when the stored answer to each before is a failure.
const KEYS_MAX: usize = 8;
/// The room of a form, so that a card number in it is not copied while it grows.
const FORM_BYTES: usize = 2_048;

/// The name of the member by which an answer has further objects in place of their ids.
pub(crate) const EXPAND: &str = "expand[0]";
/// The path of all intents.
pub(crate) const INTENTS: &str = "/v1/payment_intents";

/// Stripe's API in the name of an account.
pub(crate) struct Api {
    pub(crate) client: Arc<HttpClient>,
    pub(crate) secret: Zeroizing<String>,
    pub(crate) mode: AccountMode,
    /// This server's own address, without a slash at its end.
    pub(crate) public_url: Arc<str>,
}

/// The fields of a request: names with values, nested by brackets.
pub(crate) struct FormBody(Zeroizing<String>);

/// A request has no object as its answer.
pub(crate) enum NoObject {
    /// Stripe refused it as it was made, and has carried nothing out.
    Refused(ApiError),
    /// Stripe keeps a failure as the answer to the key, or has seen another request under it.
    KeyIsUsed,
    /// There is no clear answer.
    Unclear(AcquirerUnavailable),
}

/// Stripe's words for a refusal; its sentences are not read.
#[derive(Debug, Deserialize)]
pub(crate) struct ApiError {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) decline_code: Option<String>,
    /// Of a declined attempt: the charge.
    pub(crate) charge: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ApiError,
}

impl ApiError {
    /// True when the issuer of a card declined, or its data are wrong.
    pub(crate) fn is_of_card(&self) -> bool {
        self.kind.as_deref() == Some("card_error")
    }
}

impl From<AcquirerUnavailable> for NoObject {
    fn from(error: AcquirerUnavailable) -> NoObject {
        NoObject::Unclear(error)
    }
}

impl NoObject {
    /// The error of a request that may be refused for no reason that decides anything.
    pub(crate) fn unclear(self) -> AcquirerUnavailable {
        match self {
            NoObject::Unclear(error) => error,
            NoObject::Refused(_) => AcquirerUnavailable::unknown("it refused the request"),
            NoObject::KeyIsUsed => AcquirerUnavailable::unknown("it keeps failures as the answers to all keys"),
        }
    }
}

impl FormBody {
    pub(crate) fn new() -> FormBody {
        FormBody(Zeroizing::new(String::with_capacity(FORM_BYTES)))
    }

    /// The form with one more field.
    pub(crate) fn with(mut self, name: &str, value: &str) -> FormBody {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        self.0.push('=');
        self.0.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        self
    }

    /// The form with one more field, when there is a value for it.
    pub(crate) fn with_any(self, name: &str, value: Option<&str>) -> FormBody {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// The keys of a call: the first is `key` itself, the others are numbered.
pub(crate) fn keys(key: &str) -> impl Iterator<Item = String> {
    (1..=KEYS_MAX).map(move |number| if number == 1 { key.to_owned() } else { format!("{key}/{number}") })
}

impl Api {
    /// The address to which a customer comes back.
    pub(crate) fn address_of(&self, path: &ReturnPath) -> String {
        format!("{}{path}", self.public_url)
    }

    /// Asks for an object, which changes nothing. The path has its query.
    ///
    /// # Errors
    /// [`NoObject`].
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, NoObject> {
        self.call(path, None, None).await
    }

    /// Asks for an intent with its latest charge.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] when there is no clear answer.
    pub(crate) async fn intent<T: DeserializeOwned>(&self, id: &str) -> Result<T, AcquirerUnavailable> {
        self.get(&format!("{INTENTS}/{id}?expand%5B0%5D=latest_charge")).await.map_err(NoObject::unclear)
    }

    /// Asks for a change that moves no money, so that it may be made again under another key.
    ///
    /// # Errors
    /// [`NoObject`]: [`NoObject::KeyIsUsed`] after all keys.
    pub(crate) async fn make<T: DeserializeOwned>(
        &self,
        path: &str,
        form: &FormBody,
        key: &str,
    ) -> Result<T, NoObject> {
        for key in keys(key) {
            match self.call(path, Some(form), Some(&key)).await {
                Err(NoObject::KeyIsUsed) => {}
                ended => return ended,
            }
        }
        Err(NoObject::KeyIsUsed)
    }

    /// Makes a request: with a form it asks for a change, under a key or none, and else for an object.
    ///
    /// # Errors
    /// [`NoObject`].
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Option<&FormBody>,
        key: Option<&str>,
    ) -> Result<T, NoObject> {
        let authorization = Zeroizing::new(format!("Bearer {}", self.secret.as_str()));
        let mut headers = vec![("authorization", authorization.as_str()), ("stripe-version", VERSION)];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        headers.extend(form.map(|_| ("content-type", "application/x-www-form-urlencoded")));
        let time_max = if form.is_some() { CALL_TIME_MAX } else { LOOK_UP_TIME_MAX };
        let call = HttpCall { path, headers: &headers, body: form.map(|form| form.0.as_bytes()) };
        // With a name of its own the type of this future does not grow into those of all callers.
        let answer: Pin<Box<dyn Future<Output = _> + Send + '_>> = Box::pin(self.client.call(call, time_max));
        object_of(answer.await.map_err(|failure| {
            let outcome = if failure.is_unsent() { UnansweredOutcome::NotSent } else { UnansweredOutcome::Unknown };
            AcquirerUnavailable { outcome, reason: failure.to_string() }
        })?)
    }
}

/// The object of an answer, by its status.
fn object_of<T: DeserializeOwned>(answer: HttpAnswer) -> Result<T, NoObject> {
    let (status, body) = (answer.status, answer.body.as_ref());
    let unanswered = |outcome| AcquirerUnavailable { outcome, reason: format!("its answer had status {status}") };
    match status {
        200..=299 => serde_json::from_slice(body).map_err(|_| NoObject::Unclear(unreadable())),
        // A conflict with a request that is under way: this one was not carried out, and may come again.
        409 | 429 => Err(NoObject::Unclear(unanswered(UnansweredOutcome::Limited))),
        401 | 403 => Err(NoObject::Unclear(unanswered(UnansweredOutcome::CredentialsRefused))),
        400 | 402 => Err(refusal_of(body)),
        500..=599 if answer.header("idempotent-replayed").is_some() => Err(NoObject::KeyIsUsed),
        _ => Err(NoObject::Unclear(unanswered(UnansweredOutcome::Unknown))),
    }
}

fn refusal_of(body: &[u8]) -> NoObject {
    match serde_json::from_slice(body) {
        Ok(ErrorBody { error }) if error.kind.as_deref() == Some("idempotency_error") => NoObject::KeyIsUsed,
        Ok(ErrorBody { error }) => NoObject::Refused(error),
        Err(_) => NoObject::Unclear(unreadable()),
    }
}

fn unreadable() -> AcquirerUnavailable {
    AcquirerUnavailable::unknown("its answer is not the JSON that was expected")
}
