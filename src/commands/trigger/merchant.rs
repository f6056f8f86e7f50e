//! A merchant with its client, as the public interface sees them.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use ureq::Agent;

use crate::commands::admin_client::agent;
use crate::configuration::Configuration;
use crate::tls;

/// The timeout of a call.
const CALL_MAX: Duration = Duration::from_secs(30);
/// The timeout of waiting for an effect.
const EFFECT_MAX: Duration = Duration::from_secs(15);
/// The interval between two polls.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The payment or the payout that an event is about, by its id.
pub(super) enum EventSubject {
    Payment(String),
    Payout(String),
}

/// A merchant of a running server.
pub(super) struct MerchantClient {
    agent: Agent,
    /// Scheme, host and port of the public listener.
    base: String,
    merchant_id: String,
    installation_id: String,
    key: SecretString,
}

impl MerchantClient {
    /// The merchant at the public listener that the configuration describes.
    pub(super) fn new(
        configuration: &Configuration,
        merchant_id: String,
        installation_id: String,
        key: SecretString,
    ) -> anyhow::Result<MerchantClient> {
        let (trust, base) = match &configuration.tls {
            None => (None, format!("http://{}", configuration.listen)),
            Some(files) => {
                let named = configuration.public_url.clone();
                let base = named.unwrap_or_else(|| format!("https://{}", configuration.listen));
                (Some(tls::trusting(&files.certificate)?), base)
            }
        };
        let base = base.trim_end_matches('/').to_owned();
        let agent = agent(CALL_MAX, trust.as_ref());
        Ok(MerchantClient { agent, base, merchant_id, installation_id, key })
    }

    /// Calls one of the merchants' functions.
    pub(super) fn call(&self, endpoint: &str, body: &Value) -> anyhow::Result<Value> {
        let request = self.agent.post(format!("{}/merchants/{endpoint}", self.base));
        self.answer(endpoint, request.header("Authorization", format!("Bearer {}", self.key.expose_secret())), body)
    }

    /// Calls a function of its installation, as the customer's client does.
    pub(super) fn sdk(&self, endpoint: &str, mut body: Value) -> anyhow::Result<Value> {
        body["merchant_id"] = json!(self.merchant_id);
        body["installation_id"] = json!(self.installation_id);
        self.answer(endpoint, self.agent.post(format!("{}/sdk/{endpoint}", self.base)), &body)
    }

    fn answer(
        &self,
        endpoint: &str,
        request: ureq::RequestBuilder<ureq::typestate::WithBody>,
        body: &Value,
    ) -> anyhow::Result<Value> {
        let request = request.header("Content-Type", "application/json").header("Accept", "application/json");
        let sent = request.send(body.to_string());
        let mut response = sent.with_context(|| {
            format!("failed to call the server at {}: is it running, and is this its listener (--listen)?", self.base)
        })?;
        let text = response.body_mut().read_to_string()?;
        let answer: Value =
            serde_json::from_str(&text).with_context(|| format!("the answer of {endpoint} is not JSON"))?;
        if response.status().is_success() {
            return Ok(answer);
        }
        match answer.as_array().map(Vec::as_slice) {
            Some([Value::String(code), Value::String(message), ..]) => bail!("{endpoint}: {code}: {message}"),
            Some(_) | None => bail!("{endpoint} answers {}", response.status()),
        }
    }

    /// The text of an id in an answer.
    pub(super) fn id(&self, answer: &Value) -> anyhow::Result<String> {
        let text = answer.as_str().with_context(|| format!("the answer of {} is not an id", self.base))?;
        Ok(text.to_owned())
    }

    /// Its currency.
    pub(super) fn currency(&self) -> anyhow::Result<Value> {
        Ok(self.sdk("retrieve-installation-settings", json!({}))?["currency"].take())
    }

    /// The status of a payment once the acquirer has answered.
    pub(super) fn settled(&self, payment_id: &str) -> anyhow::Result<String> {
        let look = || {
            let payment = self.call("find-payment", &json!({ "payment_id": payment_id }))?;
            let status = payment["status"].as_str().context("find-payment answers no status")?;
            Ok((status != "PENDING").then(|| status.to_owned()))
        };
        until_there(look)?.with_context(|| format!("the payment {payment_id} is still pending"))
    }

    /// The dispute that is open about a payment.
    pub(super) fn dispute(&self, payment_id: &str) -> anyhow::Result<String> {
        let page = self.call("list-disputes", &json!({ "payment_id": payment_id }))?;
        self.id(&page["page"][0]["dispute_id"])
    }

    /// The event of this name about a payment or a payout, once there is one.
    pub(super) fn event(&self, name: &str, subject: &EventSubject) -> anyhow::Result<Value> {
        let (member, id) = match subject {
            EventSubject::Payment(id) => ("payment_id", id),
            EventSubject::Payout(id) => ("payout_id", id),
        };
        let mut filters = json!({ "event": name });
        if let EventSubject::Payment(id) = subject {
            filters["payment_id"] = json!(id);
        }
        let look = || {
            let mut page = self.call("list-events", &filters)?;
            let events = page["page"].as_array_mut().context("list-events answers no page")?;
            Ok(events.iter_mut().find(|event| event[member] == json!(id)).map(Value::take))
        };
        let found = until_there(look)?;
        found.with_context(|| format!("list-events shows no {name} of {id} yet"))
    }
}

/// Polls until the value exists, within the timeout of an effect.
fn until_there<T>(look: impl Fn() -> anyhow::Result<Option<T>>) -> anyhow::Result<Option<T>> {
    let until = Instant::now() + EFFECT_MAX;
    loop {
        let found = look()?;
        if found.is_some() || Instant::now() >= until {
            return Ok(found);
        }
        thread::sleep(LOOK_EVERY);
    }
}
