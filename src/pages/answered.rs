//! Calls of pages, and the objects that they answer.

use serde_json::Value;
use till_domain::money::{AmountMinor, Money};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::{AuthenticatedCaller, BrowserRequest};

use crate::access::MerchantCaller;

/// A request for a page of the public listener.
pub(super) type Request = BrowserRequest<MerchantCaller>;

/// Makes a look-up that needs no key. None when there is no such object, and when its name cannot be one.
///
/// # Errors
/// Any other refusal.
pub(super) async fn look_up<C: AuthenticatedCaller>(
    request: &BrowserRequest<C>,
    declaration: &'static Declaration,
    arguments: &Value,
) -> Result<Option<Value>, ApiError> {
    match request.call(declaration, None, arguments).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.code(), Code::NotFound | Code::InvalidArguments) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The attributes of an object that a call answered. One that is null, or that is not declared, is empty.
pub(super) trait AnsweredObject {
    /// A text.
    fn text(&self, name: &str) -> &str;

    /// A text that may be null.
    fn optional_text(&self, name: &str) -> Option<&str>;

    /// A number of something; 0 when it is null.
    fn count(&self, name: &str) -> u64;

    /// True or false.
    fn is(&self, name: &str) -> bool;

    /// The objects or texts of an array.
    fn items(&self, name: &str) -> &[Value];

    /// An amount in minor units, in this currency.
    fn money(&self, name: &str, currency: &str) -> Option<Money>;

    /// The words of an array, each of a closed list.
    fn words<W: Copy>(&self, name: &str, all: &[W], word: fn(W) -> &'static str) -> Vec<W>;

    /// A word of a closed list.
    fn word<W: Copy>(&self, name: &str, all: &[W], word: fn(W) -> &'static str) -> Option<W>;
}

impl AnsweredObject for Value {
    fn text(&self, name: &str) -> &str {
        self.optional_text(name).unwrap_or_default()
    }

    fn optional_text(&self, name: &str) -> Option<&str> {
        self[name].as_str()
    }

    fn count(&self, name: &str) -> u64 {
        self[name].as_u64().unwrap_or_default()
    }

    fn is(&self, name: &str) -> bool {
        self[name] == Value::Bool(true)
    }

    fn items(&self, name: &str) -> &[Value] {
        self[name].as_array().map_or(&[], Vec::as_slice)
    }

    fn money(&self, name: &str, currency: &str) -> Option<Money> {
        Some(Money { amount: AmountMinor::new(self[name].as_u64()?)?, currency: currency.parse().ok()? })
    }

    fn words<W: Copy>(&self, name: &str, all: &[W], word: fn(W) -> &'static str) -> Vec<W> {
        self.items(name).iter().filter_map(|item| parse_word(item, all, word)).collect()
    }

    fn word<W: Copy>(&self, name: &str, all: &[W], word: fn(W) -> &'static str) -> Option<W> {
        parse_word(&self[name], all, word)
    }
}

/// The word that a text names.
fn parse_word<W: Copy>(text: &Value, all: &[W], word: fn(W) -> &'static str) -> Option<W> {
    let text = text.as_str()?;
    all.iter().copied().find(|known| word(*known) == text)
}
