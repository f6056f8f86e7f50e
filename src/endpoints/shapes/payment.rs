//! The JSON of a payment: contract, section 9.

use serde::Serialize;
use till_domain::card::{CardExpiry, CardFacts, CardScheme};
use till_domain::ids::{CardId, CustomerId, PaymentId, SessionId};
use till_domain::ledger::EntryType;
use till_domain::payment::{
    CaptureMode, Operation, OperationKind, Payment, PaymentAction, PaymentStatus, RefusedOperation,
};
use till_domain::session::Instrument;
use till_domain::time::Millis;

use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static PAYMENT: ObjectType = ObjectType {
    name: "payment",
    attributes: &[
        Attribute::always("payment_id", ValueType::Id(PaymentId::PREFIX), "The payment's id (`pay_...`)."),
        Attribute::nullable("external_id", ValueType::STRING, "The merchant's own reference.").such_as("order-1001"),
        Attribute::always("payment_session_id", ValueType::Id(SessionId::PREFIX), "The session that it was made from."),
        Attribute::always("status", words_of!(PaymentStatus), "The status.").such_as("SUCCESSFUL"),
        Attribute::always("amount", ValueType::INTEGER, "The amount in minor units.").such_as("10000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("payment_method", PAYMENT_METHOD_WORDS, "The payment method."),
        Attribute::always(
            "payment_method_display_name",
            ValueType::STRING,
            "The name of the payment method for a person.",
        )
        .such_as("Visa 4242"),
        Attribute::always("capture", words_of!(CaptureMode), "The choice to capture it on authorization."),
        Attribute::always("amount_captured", ValueType::INTEGER, "The captured amount in minor units.")
            .such_as("10000"),
        Attribute::always(
            "amount_refunded",
            ValueType::INTEGER,
            "The amount that is refunded or being refunded, in minor units.",
        )
        .such_as("0"),
        Attribute::always(
            "amount_charged_back",
            ValueType::INTEGER,
            "The amount that was charged back, in minor units.",
        )
        .such_as("0"),
        Attribute::nullable(
            "operation",
            ValueType::Object(&OPERATION),
            "The capture, void or reversal that the acquirer has not answered yet.",
        ),
        Attribute::nullable(
            "last_operation",
            ValueType::Object(&LAST_OPERATION),
            "The last capture, void or reversal that the acquirer refused.",
        ),
        Attribute::always("return_url", ValueType::URL, "The page that the customer is sent to afterwards."),
        Attribute::nullable("customer_id", ValueType::Id(CustomerId::PREFIX), "The customer (`ctc_...`).").shown(),
        Attribute::nullable(
            "customer_email",
            ValueType::EMAIL,
            "The address given with the payment, else the customer's.",
        )
        .shown(),
        Attribute::nullable(
            "customer_mobile",
            ValueType::PHONE,
            "The number given with the payment, else the customer's.",
        ),
        Attribute::nullable(
            "customer_name",
            ValueType::STRING,
            "The name given with the payment, else the customer's.",
        )
        .such_as("Somchai Jaidee"),
        Attribute::nullable("card", ValueType::Object(&PAYMENT_CARD), "The card, for a payment by card.").shown(),
        Attribute::nullable(
            "interest_bearer",
            INTEREST_BEARER_WORDS,
            "The side that pays the interest; null without instalments.",
        ),
        Attribute::nullable("failure_code", ValueType::STRING, "The reason of the failure, for programs."),
        Attribute::nullable("failure_message", ValueType::STRING, "The reason of the failure, for a person."),
        Attribute::always(
            "fees",
            ValueType::Array(&ValueType::Object(&FEE)),
            "The fee, and the interest that the merchant bears, once captured.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was initiated."),
        Attribute::nullable("authorized_at", ValueType::TIMESTAMP, "The time at which it was authorized.")
            .such_as("1767225601"),
        Attribute::nullable("captured_at", ValueType::TIMESTAMP, "The time at which it was captured.")
            .such_as("1767225601"),
        Attribute::nullable(
            "expires_at",
            ValueType::TIMESTAMP,
            "The time at which the authorization lapses, unless it is captured before.",
        ),
        Attribute::always("capturable", ValueType::BOOLEAN, "True when it can be captured now.").such_as("false"),
        Attribute::always("voidable", ValueType::BOOLEAN, "True when it can be voided now.").such_as("false"),
        Attribute::always("reversible", ValueType::BOOLEAN, "True when it can be reversed now."),
        Attribute::always("refundable", ValueType::BOOLEAN, "True when it can be refunded now."),
    ],
};

/// The declared members of an open operation.
static OPERATION: ObjectType = ObjectType {
    name: "payment_operation",
    attributes: &[
        Attribute::always("kind", words_of!(OperationKind), "The kind of operation."),
        Attribute::always("amount", ValueType::INTEGER, "The amount in minor units.").such_as("10000"),
        Attribute::always("requested_at", ValueType::TIMESTAMP, "The time of the request."),
    ],
};

/// The declared members of a refused operation.
static LAST_OPERATION: ObjectType = ObjectType {
    name: "payment_last_operation",
    attributes: &[
        Attribute::always("kind", words_of!(OperationKind), "The kind of operation."),
        Attribute::always("status", ValueType::words(&["FAILED"]), "The result."),
        Attribute::always("failure_code", ValueType::STRING, "The acquirer's reason for the refusal, for programs.")
            .such_as("processing_error"),
        Attribute::always("failure_message", ValueType::STRING, "The acquirer's reason for the refusal, for a person.")
            .such_as("The acquirer could not process the call."),
        Attribute::always("at", ValueType::TIMESTAMP, "The time at which the result was recorded."),
    ],
};

/// The declared members of the card used.
static PAYMENT_CARD: ObjectType = ObjectType {
    name: "payment_card",
    attributes: &[
        Attribute::nullable(
            "card_id",
            ValueType::Id(CardId::PREFIX),
            "The id of the saved card (`crd_...`), if it is one.",
        ),
        Attribute::always("scheme", words_of!(CardScheme), "The card's scheme."),
        Attribute::always("first_digits", ValueType::STRING, "The first six digits of its number.").such_as("424242"),
        Attribute::always("last_digits", ValueType::STRING, "The last four digits of its number.").such_as("4242"),
        Attribute::always("expiration_date", ValueType::STRING, "The last month in which it is valid, as MM/YY.")
            .such_as("12/49"),
    ],
};

/// The costs of a capture: its fee, and the interest that the merchant bears.
const FEE_TYPES: [&str; 2] = [EntryType::PaymentFee.name(), EntryType::Interest.name()];

/// The declared members of a fee.
static FEE: ObjectType = ObjectType {
    name: "fee",
    attributes: &[
        Attribute::always("type", ValueType::words(&FEE_TYPES), "The purpose."),
        Attribute::always("amount", ValueType::INTEGER, "The amount in minor units.").such_as("590"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
    ],
};

#[derive(Serialize)]
pub(crate) struct PaymentShape<'a> {
    payment_id: String,
    external_id: Option<&'a str>,
    payment_session_id: String,
    status: &'static str,
    amount: u64,
    currency: &'a str,
    payment_method: &'static str,
    payment_method_display_name: String,
    capture: &'static str,
    amount_captured: u64,
    amount_refunded: u64,
    amount_charged_back: u64,
    operation: Option<OperationShape>,
    last_operation: Option<LastOperationShape<'a>>,
    return_url: &'a str,
    customer_id: Option<String>,
    customer_email: Option<&'a str>,
    customer_mobile: Option<&'a str>,
    customer_name: Option<&'a str>,
    card: Option<CardShape<'a>>,
    interest_bearer: Option<&'static str>,
    failure_code: Option<&'a str>,
    failure_message: Option<&'a str>,
    fees: Vec<FeeShape<'a>>,
    created_at: u64,
    authorized_at: Option<u64>,
    captured_at: Option<u64>,
    expires_at: Option<u64>,
    capturable: bool,
    voidable: bool,
    reversible: bool,
    refundable: bool,
}

#[derive(Serialize)]
struct OperationShape {
    kind: &'static str,
    amount: u64,
    requested_at: u64,
}

#[derive(Serialize)]
struct LastOperationShape<'a> {
    kind: &'static str,
    status: &'static str,
    failure_code: &'a str,
    failure_message: &'a str,
    at: u64,
}

#[derive(Serialize)]
struct CardShape<'a> {
    card_id: Option<String>,
    scheme: &'static str,
    first_digits: &'a str,
    last_digits: &'a str,
    expiration_date: String,
}

#[derive(Serialize)]
struct FeeShape<'a> {
    r#type: &'static str,
    amount: u64,
    currency: &'a str,
}

impl<'a> PaymentShape<'a> {
    /// The object for a payment at the time `now`.
    pub(crate) fn new(payment: &'a Payment, now: Millis) -> PaymentShape<'a> {
        let authorization = payment.authorization.as_ref();
        let allows = |action| payment.allows(action, now);
        let lapses_at = authorization.and_then(|authorization| authorization.lapses_at);
        PaymentShape {
            payment_id: payment.id.to_string(),
            external_id: payment.external_id.as_ref().map(|external_id| external_id.as_str()),
            payment_session_id: payment.session_id.to_string(),
            status: payment.status.name(),
            amount: payment.money.amount.get(),
            currency: payment.money.currency.code(),
            payment_method: payment.instrument.method().name(),
            payment_method_display_name: payment.instrument.display_name(),
            capture: payment.capture_mode.name(),
            amount_captured: payment.capture.map_or(0, |capture| capture.amount_minor),
            amount_refunded: payment.refunded_minor,
            amount_charged_back: payment.charged_back_minor,
            operation: payment.operation.as_ref().map(OperationShape::new),
            last_operation: payment.last_operation.as_ref().map(LastOperationShape::new),
            return_url: payment.return_url.as_str(),
            customer_id: payment.customer_id.map(|id| id.to_string()),
            customer_email: payment.contact.email.as_ref().map(|email| email.as_str()),
            customer_mobile: payment.contact.mobile.as_ref().map(|mobile| mobile.as_str()),
            customer_name: payment.contact.name.as_ref().map(|name| name.as_str()),
            card: payment.instrument.card().map(|card| CardShape::new(&payment.instrument, card)),
            interest_bearer: payment.instrument.interest_bearer().map(|bearer| bearer.name()),
            failure_code: payment.failure.as_ref().map(|failure| failure.code.as_str()),
            failure_message: payment.failure.as_ref().map(|failure| failure.message.as_str()),
            fees: fees(payment),
            created_at: payment.created_at.unix_seconds(),
            authorized_at: authorization.map(|authorization| authorization.at.unix_seconds()),
            captured_at: payment.capture.map(|capture| capture.at.unix_seconds()),
            expires_at: lapses_at.filter(|_| allows(PaymentAction::Capture)).map(|at| at.unix_seconds()),
            capturable: allows(PaymentAction::Capture),
            voidable: allows(PaymentAction::Void),
            reversible: allows(PaymentAction::Reverse),
            refundable: allows(PaymentAction::Refund),
        }
    }
}

impl OperationShape {
    fn new(operation: &Operation) -> OperationShape {
        let Operation { kind, amount, requested_by: _, requested_at, attempt: _ } = operation;
        OperationShape { kind: kind.name(), amount: amount.get(), requested_at: requested_at.unix_seconds() }
    }
}

impl<'a> LastOperationShape<'a> {
    fn new(refused: &'a RefusedOperation) -> LastOperationShape<'a> {
        let RefusedOperation { kind, failure, at, attempt: _ } = refused;
        LastOperationShape {
            kind: kind.name(),
            status: "FAILED",
            failure_code: &failure.code,
            failure_message: &failure.message,
            at: at.unix_seconds(),
        }
    }
}

impl<'a> CardShape<'a> {
    fn new(instrument: &Instrument, card: &'a CardFacts) -> CardShape<'a> {
        let card_id = match instrument {
            Instrument::SavedCard { card_id, owner: _, card: _ } => Some(card_id.to_string()),
            Instrument::Token { .. } | Instrument::UnnamedCard | Instrument::Installment { .. } => None,
        };
        CardShape {
            card_id,
            scheme: card.scheme.name(),
            first_digits: &card.first_digits,
            last_digits: &card.last_digits,
            expiration_date: expiration_date(card.expiry),
        }
    }
}

/// The last month in which a card is valid, as MM/YY.
pub(super) fn expiration_date(expiry: CardExpiry) -> String {
    format!("{:02}/{:02}", expiry.month, expiry.year % 100)
}

fn fees(payment: &Payment) -> Vec<FeeShape<'_>> {
    let fee_minor = payment.capture.map_or(0, |capture| capture.fee_minor);
    let costs = [(EntryType::PaymentFee, fee_minor), (EntryType::Interest, payment.interest_minor())];
    let currency = payment.money.currency.code();
    let posted = costs.into_iter().filter(|(_, amount)| *amount > 0);
    posted.map(|(of, amount)| FeeShape { r#type: of.name(), amount, currency }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use till_domain::customer::Contact;
    use till_domain::ids::{PaymentId, SessionId, TransactionId};
    use till_domain::merchant::AcquirerName;
    use till_domain::money::{AmountMinor, Money};
    use till_domain::payment::Capture;
    use till_domain::session::{InstallmentPlan, InterestBearer};
    use till_domain::text::ReturnUrl;

    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn pending() -> Payment {
        let plan = InstallmentPlan::SandboxThreeMonths;
        let money =
            Money { amount: AmountMinor::new(100).expect("in range"), currency: "THB".parse().expect("an ISO code") };
        Payment {
            id: PaymentId::from_bytes([1; 16]),
            external_id: None,
            session_id: SessionId::from_bytes([2; 16]),
            status: PaymentStatus::Pending,
            money,
            instrument: Instrument::Installment { plan, interest_bearer: InterestBearer::Customer },
            acquirer: AcquirerName::Sandbox,
            capture_mode: CaptureMode::Automatic,
            return_url: ReturnUrl::from_stored("https://shop.example/done".to_owned()),
            customer_id: None,
            contact: Contact::default(),
            save_card: None,
            created_at: NOW,
            authorization: None,
            capture: None,
            failure: None,
            refunded_minor: 0,
            confirmed_refund_minor: 0,
            operation: None,
            last_operation: None,
            charged_back_minor: 0,
            open_dispute: None,
        }
    }

    #[test]
    fn a_pending_payment_has_no_outcome_and_permits_no_operation() {
        let payment = pending();
        let shown = serde_json::to_value(PaymentShape::new(&payment, NOW)).expect("a shape has a JSON form");
        assert_eq!(shown["status"], "PENDING");
        for key in ["authorized_at", "captured_at", "expires_at", "failure_code", "failure_message"] {
            assert_eq!(shown[key], Value::Null, "{key}");
        }
        for key in ["capturable", "voidable", "reversible", "refundable"] {
            assert_eq!(shown[key], false, "{key}");
        }
    }

    #[test]
    fn fees_are_the_fee_and_the_interest_of_the_capture() {
        let capture = Capture {
            amount_minor: 80,
            fee_minor: 3,
            transaction_id: TransactionId::from_bytes([3; 16]),
            at: NOW,
            settles_at: NOW,
        };
        let fees = |interest_bearer| {
            let plan = InstallmentPlan::SandboxThreeMonths;
            let instrument = Instrument::Installment { plan, interest_bearer };
            let payment = Payment { instrument, capture: Some(capture), ..pending() };
            serde_json::to_value(fees(&payment)).expect("a shape has a JSON form")
        };
        let fee = json!({ "type": "PAYMENT_FEE", "amount": 3, "currency": "THB" });
        let interest = json!({ "type": "INTEREST", "amount": 2, "currency": "THB" });
        assert_eq!(fees(InterestBearer::Merchant), json!([fee, interest]), "3 % of 80, rounded half up");
        assert_eq!(fees(InterestBearer::Customer), json!([fee]));
    }

    #[test]
    fn the_declared_members_are_those_that_are_answered() {
        let payment = pending();
        let shown = serde_json::to_value(PaymentShape::new(&payment, NOW)).expect("a shape has a JSON form");
        let mut answered: Vec<&str> = shown.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut declared: Vec<&str> = PAYMENT.attributes.iter().map(|attribute| attribute.name).collect();
        answered.sort_unstable();
        declared.sort_unstable();
        assert_eq!(answered, declared);
    }
}
