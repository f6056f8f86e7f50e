//! The judgement of a delivery: it may be trusted or not.

use std::time::{SystemTime, UNIX_EPOCH};

use actix_web::http::header::HeaderMap;
use anyhow::Context;
use secrecy::ExposeSecret;
use till_actors::webhooks::{ReceivedHeaders, VerificationKey};

use super::ListenArguments;

/// The keys that deliveries are checked with.
pub(super) struct Keys(Vec<VerificationKey>);

/// The judgement of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It was signed with one of the keys, and recently.
    Verified,
    /// There is no key to check it with.
    NotVerified,
    /// It must not be trusted, for the given reason.
    Refused(String),
}

impl Keys {
    /// The keys from the command line or the environment.
    pub(super) fn of_arguments(arguments: &ListenArguments) -> anyhow::Result<Keys> {
        let secrets = arguments.secrets.iter().map(|text| ("--secret or TILL_WEBHOOK_SECRET", text));
        let public_keys = arguments.public_keys.iter().map(|text| ("--public-key", text));
        let keys = secrets.chain(public_keys).map(|(from, text)| {
            VerificationKey::parse(text.expose_secret()).with_context(|| format!("the key of {from} cannot be used"))
        });
        keys.collect::<anyhow::Result<_>>().map(Keys)
    }

    /// True when there is no key.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Judges a delivery that arrives now.
    pub(super) fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Judgement {
        if self.is_empty() {
            return Judgement::NotVerified;
        }
        match received(headers).and_then(|headers| self.verify(&headers, body)) {
            Ok(()) => Judgement::Verified,
            Err(reason) => Judgement::Refused(reason),
        }
    }

    /// Checks it with one key after the other, and returns the last key's reason: they all judge the time alike.
    fn verify(&self, headers: &ReceivedHeaders<'_>, body: &[u8]) -> Result<(), String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut found = Err(String::new());
        for key in &self.0 {
            found = key.verify(headers, body, now).map_err(|error| error.to_string());
            if found.is_ok() {
                break;
            }
        }
        found
    }
}

fn received(headers: &HeaderMap) -> Result<ReceivedHeaders<'_>, String> {
    let header = |name: &str| {
        let value = headers.get(name).ok_or_else(|| format!("the header {name} is missing"))?;
        value.to_str().map_err(|_| format!("the header {name} is not text"))
    };
    Ok(ReceivedHeaders {
        webhook_id: header("webhook-id")?,
        webhook_timestamp: header("webhook-timestamp")?,
        webhook_signature: header("webhook-signature")?,
    })
}
