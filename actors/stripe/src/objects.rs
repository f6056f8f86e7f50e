//! Stripe's objects, with the members that are read. Members that are not are ignored; a missing one, or one of another
//! type, makes the whole answer unclear; a word that is not known is `Other`, which decides nothing.

use serde::Deserialize;
use serde_json::Value;
use till_actors::acquirer::{AcquirerUnavailable, NamedCall, PaymentStep};
use till_domain::acquirer::AccountMode;
use till_domain::ids::PaymentId;
use till_domain::money::Money;

use super::api::ApiError;

/// The longest id of an object, in bytes.
const ID_BYTES_MAX: usize = 255;

/// An object's id: at most 255 letters, digits and underscores, so that it can stand in a path.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct ObjectId(String);

impl TryFrom<String> for ObjectId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<ObjectId, &'static str> {
        let is_id = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let fits = (1..=ID_BYTES_MAX).contains(&text.len());
        if is_id && fits { Ok(ObjectId(text)) } else { Err("it is no id of an object") }
    }
}

impl ObjectId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// An object of which only the id is read.
#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) id: ObjectId,
}

/// A page at which a card is entered, with its intent, which it has from the first attempt on.
#[derive(Deserialize)]
pub(crate) struct CardPage {
    pub(crate) id: ObjectId,
    pub(crate) livemode: bool,
    pub(crate) amount_total: u64,
    pub(crate) currency: String,
    #[serde(default)]
    pub(crate) metadata: Metadata,
    pub(crate) status: CardPageStatus,
    pub(crate) url: Option<String>,
    pub(crate) payment_intent: Option<Intent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CardPageStatus {
    Open,
    Complete,
    Expired,
    #[serde(other)]
    Other,
}

/// A payment, with its latest charge.
#[derive(Deserialize)]
pub(crate) struct Intent {
    pub(crate) id: ObjectId,
    pub(crate) livemode: bool,
    pub(crate) amount: u64,
    pub(crate) amount_capturable: u64,
    pub(crate) amount_received: u64,
    pub(crate) currency: String,
    #[serde(default)]
    pub(crate) metadata: Metadata,
    pub(crate) status: IntentStatus,
    /// What the customer is to do: its text is in the member of its kind.
    #[serde(default)]
    pub(crate) next_action: Value,
    pub(crate) last_payment_error: Option<ApiError>,
    pub(crate) latest_charge: Option<Charge>,
    pub(crate) cancellation_reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStatus {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    Processing,
    RequiresCapture,
    Succeeded,
    Canceled,
    #[serde(other)]
    Other,
}

/// An attempt at a payment, and the money that it moved.
#[derive(Deserialize)]
pub(crate) struct Charge {
    pub(crate) id: ObjectId,
    pub(crate) paid: bool,
    pub(crate) payment_method_details: Option<MethodDetails>,
}

#[derive(Deserialize)]
pub(crate) struct MethodDetails {
    pub(crate) card: Option<CardDetails>,
}

#[derive(Deserialize)]
pub(crate) struct CardDetails {
    pub(crate) brand: Option<String>,
    pub(crate) last4: Option<String>,
    pub(crate) exp_month: u8,
    pub(crate) exp_year: u16,
    /// In Unix seconds.
    pub(crate) capture_before: Option<u64>,
    /// The words for its result.
    #[serde(default)]
    pub(crate) three_d_secure: Value,
}

/// Money that is given back.
#[derive(Deserialize)]
pub(crate) struct RefundObject {
    pub(crate) id: ObjectId,
    pub(crate) amount: u64,
    pub(crate) currency: String,
    pub(crate) payment_intent: Option<String>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) status: String,
    pub(crate) failure_reason: Option<String>,
}

/// A change of the account's balance.
#[derive(Deserialize)]
pub(crate) struct BalanceTransaction {
    pub(crate) id: ObjectId,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) amount: i64,
    pub(crate) fee: i64,
    pub(crate) currency: String,
    /// In Unix seconds.
    pub(crate) created: u64,
    pub(crate) source: Option<BalanceSource>,
}

/// The object that changed a balance.
#[derive(Deserialize)]
pub(crate) struct BalanceSource {
    pub(crate) id: ObjectId,
    pub(crate) payment_intent: Option<String>,
    pub(crate) metadata: Option<Metadata>,
}

/// One page of a list, the newest first.
#[derive(Deserialize)]
pub(crate) struct Page<T> {
    pub(crate) data: Vec<T>,
    pub(crate) has_more: bool,
}

/// What Till has written on an object.
#[derive(Deserialize, Default)]
pub(crate) struct Metadata {
    pub(crate) till_reference: Option<String>,
}

/// What an answer must be about.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    reference: String,
    money: Money,
    mode: AccountMode,
}

impl Expected {
    /// The authorization of a payment.
    pub(crate) fn payment(payment: PaymentId, money: Money, mode: AccountMode) -> Expected {
        let reference = NamedCall::first(payment, PaymentStep::Authorize).to_string();
        Expected { reference, money, mode }
    }

    /// The amount, in minor units.
    pub(crate) const fn amount(&self) -> u64 {
        self.money.amount.get()
    }

    fn check(&self, currency: &str, metadata: &Metadata, livemode: bool) -> Result<(), AcquirerUnavailable> {
        same(currency.eq_ignore_ascii_case(self.money.currency.code()), "currency")?;
        same(metadata.till_reference.as_deref() == Some(&self.reference), "reference")?;
        same(livemode == (self.mode == AccountMode::Live), "mode")
    }
}

/// Compares a member of an answer with what was asked.
pub(crate) fn same(is_same: bool, member: &str) -> Result<(), AcquirerUnavailable> {
    if is_same { Ok(()) } else { Err(AcquirerUnavailable::mismatch(member)) }
}

impl RefundObject {
    /// Till's reference; none for one that Till has not made.
    pub(crate) fn reference(&self) -> Option<&str> {
        self.metadata.as_ref()?.till_reference.as_deref()
    }
}

impl CardPage {
    /// # Errors
    /// A mismatch, when the page or its intent is about another payment.
    pub(crate) fn check(&self, expected: &Expected) -> Result<(), AcquirerUnavailable> {
        expected.check(&self.currency, &self.metadata, self.livemode)?;
        same(self.amount_total == expected.amount(), "amount")?;
        self.payment_intent.as_ref().map_or(Ok(()), |intent| intent.check_whole(expected))
    }
}

impl Charge {
    /// The card that was charged, as far as it is told.
    pub(crate) fn card(&self) -> Option<&CardDetails> {
        self.payment_method_details.as_ref()?.card.as_ref()
    }
}

impl Intent {
    /// # Errors
    /// A mismatch, when it is about another payment; its amount is not compared.
    pub(crate) fn check(&self, expected: &Expected) -> Result<(), AcquirerUnavailable> {
        expected.check(&self.currency, &self.metadata, self.livemode)
    }

    /// # Errors
    /// A mismatch, when it is about another payment, or not about all of it.
    pub(crate) fn check_whole(&self, expected: &Expected) -> Result<(), AcquirerUnavailable> {
        self.check(expected)?;
        same(self.amount == expected.amount(), "amount")
    }
}
