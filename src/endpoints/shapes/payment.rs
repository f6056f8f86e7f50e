//! The JSON of a payment: contract, section 9.

use till_domain::acquirer::{AcquirerName, AcquirerRef};
use till_domain::card::{CardScheme, ShownCard};
use till_domain::customer_action::{
    Authentication, AuthenticationFlow, AuthenticationStatus, AuthenticationVersion, CustomerAction, CustomerStep,
    LateSuccess,
};
use till_domain::failure::FailureCode;
use till_domain::ids::{AcquirerId, CardId, CheckoutId, CustomerId, PaymentId, SessionId};
use till_domain::ledger::EntryType;
use till_domain::money::{AmountMinor, Currency};
use till_domain::payment::{
    CaptureMode, Operation, OperationKind, Payment, PaymentAction, PaymentStatus, RefusedOperation,
};
use till_domain::session::Instrument;
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::declaration::ValueType;
use till_protocol::dispatch::Call;

use super::object::object;
use crate::endpoints::forms::{INTEREST_BEARER_WORDS, PAYMENT_METHOD_WORDS};
use crate::service::{Reader, open_action};

object! {
    /// A payment at the time `now`.
    pub(crate) PAYMENT "payment" as PaymentShape<'a> of (
        payment: &'a Payment,
        next_action: Option<NextActionShape>,
        prepared: Option<String>,
        now: Millis
    ) {
        payment_id: Id(PaymentId::PREFIX) = payment.id, "The payment's id (`pay_...`).";
        external_id: STRING or null = payment.external_id,
            "The merchant's own reference. A failed payment keeps it; an attempt of a checkout passes it on to the \
                next one.", such_as("order-1001");
        payment_session_id: Id(SessionId::PREFIX) = payment.session_id, "The session that it was made from.";
        status: words_of(PaymentStatus) = payment.status, "The status.", such_as("SUCCESSFUL");
        amount: MINOR_UNITS = payment.money.amount, "The amount in minor units.", such_as("10000");
        currency: STRING = payment.money.currency, "The ISO 4217 code.", such_as("THB");
        payment_method: type(PAYMENT_METHOD_WORDS) = payment.instrument.method(), "The payment method.";
        payment_method_display_name: STRING = payment.instrument.display_name(),
            "The name of the payment method for a person.", such_as("Visa 4242");
        capture: words_of(CaptureMode) = payment.capture_mode, "The choice to capture it on authorization.";
        amount_captured: MINOR_UNITS = payment.capture.map_or(0, |capture| capture.amount_minor),
            "The captured amount in minor units.", such_as("10000");
        amount_refunded: MINOR_UNITS = payment.refunded_minor,
            "The amount that is refunded or being refunded, in minor units.", such_as("0");
        amount_charged_back: MINOR_UNITS = payment.charged_back_minor,
            "The amount that was charged back, in minor units.", such_as("0");
        operation: Object(&OPERATION) or null = payment.operation.as_ref().map(OperationShape::new),
            "The capture, void or reversal that the acquirer has not answered yet.";
        last_operation: Object(&LAST_OPERATION) or null = payment.last_operation.as_ref().map(LastOperationShape::new),
            "The last capture, void or reversal that the acquirer refused.";
        return_url: URL = payment.return_url, "The page that the customer is sent to afterwards.";
        customer_id: Id(CustomerId::PREFIX) or null = payment.customer_id, "The customer (`ctc_...`).", in_examples;
        customer_email: EMAIL or null = payment.contact.email,
            "The address given with the payment, else the customer's.", in_examples;
        customer_mobile: PHONE or null = payment.contact.mobile,
            "The number given with the payment, else the customer's.";
        customer_name: STRING or null = payment.contact.name,
            "The name given with the payment, else the customer's.", such_as("Somchai Jaidee");
        card: Object(&PAYMENT_CARD) or null = card(&payment.instrument),
            "The card, for a payment by card; null until the acquirer has told the card that was entered on its page.",
            in_examples;
        interest_bearer: type(INTEREST_BEARER_WORDS) or null = payment.instrument.interest_bearer(),
            "The side that pays the interest; null without instalments.";
        failure_code: words_of(FailureCode) or null = payment.failure.as_ref().map(|failure| failure.code),
            "The reason of the failure, for programs.";
        failure_message: STRING or null = payment.failure.as_ref().map(|failure| failure.code.message()),
            "The reason of the failure, for a person.";
        acquirer_code: STRING or null = payment.failure.as_ref().and_then(|failure| failure.acquirer_code.as_ref()),
            "The acquirer's own word for the failure, where it has told one.", such_as("do_not_honor");
        acquirer: words_of(AcquirerName) = payment.acquirer.name(), "The acquirer that processes it.";
        acquirer_id: Id(AcquirerId::PREFIX) or null = payment.acquirer.account_id(),
            "The merchant's account at the acquirer (`acq_...`); null for the sandbox.";
        acquirer_reference: STRING or null = payment.authorization.as_ref()
                .map(|authorization| &authorization.acquirer_reference).or(prepared.as_ref()),
            "The acquirer's own id of the payment, and of the page of it before that is known; null before it has told \
                one.",
            such_as("sandbox:pay_01jz0000000000000000000001/authorize");
        next_action: Object(&NEXT_ACTION) or null = next_action,
            "What the customer must do; null when there is nothing to do, or not any more.";
        authentication: Object(&AUTHENTICATION) or null = payment.authentication
                .map(|found| AuthenticationShape::new(found, payment.acquirer)),
            "The authentication of the card by 3-D Secure, once something is known of it.";
        late_success: Object(&LATE_SUCCESS) or null = payment.late_success
                .map(|late| LateSuccessShape::new(late, payment.money.amount)),
            "An approval that came after the payment's end: the money is given back.";
        checkout_id: Id(CheckoutId::PREFIX) or null = payment.checkout_id, "The checkout that it belongs to.";
        fees: Array(&ValueType::Object(&FEE)) = fees(payment),
            "The fee, and the interest that the merchant bears, once captured.";
        created_at: TIMESTAMP = payment.created_at, "The time at which it was initiated.";
        authorized_at: TIMESTAMP or null = payment.authorization.as_ref()
                .filter(|_| payment.late_success.is_none()).map(|authorization| authorization.at),
            "The time at which it was authorized; null for an approval that came too late.", such_as("1767225601");
        captured_at: TIMESTAMP or null = payment.capture.map(|capture| capture.at),
            "The time at which it was captured.", such_as("1767225601");
        expires_at: TIMESTAMP or null = payment.open_action_until().or_else(|| lapses_at(payment, *now)),
            "The time until which the customer must act, or at which the authorization lapses unless it is captured \
                before.";
        capturable: BOOLEAN = payment.allows(PaymentAction::Capture, *now),
            "True when it can be captured now.", such_as("false");
        voidable: BOOLEAN = payment.allows(PaymentAction::Void, *now),
            "True when it can be voided now.", such_as("false");
        reversible: BOOLEAN = payment.allows(PaymentAction::Reverse, *now), "True when it can be reversed now.";
        refundable: BOOLEAN = payment.allows(PaymentAction::Refund, *now),
            "True when it can be refunded now. It speaks of the payment alone: a refund also needs a balance that \
                covers it.";
    }
}

object! {
    /// The action that the customer must take.
    pub(crate) NEXT_ACTION "payment_next_action" as NextActionShape of (action: CustomerAction,
        address: Option<String>) {
        type: words(&["REDIRECT", "DISPLAY_QR"]) = match action.step {
                CustomerStep::Redirect(_) | CustomerStep::AcquirerPage => "REDIRECT",
                CustomerStep::DisplayQr(_) => "DISPLAY_QR",
            },
            "What the customer is asked to do: open an address, or scan a QR code.";
        redirect_url: URL or null = address, "The address to open.";
        qr_data: STRING or null = qr_data(action), "The text of the QR code.", such_as("000201");
        expires_at: TIMESTAMP = action.expires_at, "The time until which the customer can act.";
    }
}

impl NextActionShape {
    /// The action of a payment, if its customer must act, as the caller can follow it.
    pub(in crate::endpoints) fn read<C>(
        reader: &Reader<'_>,
        call: &Call<C>,
        payment: &Payment,
        now: Millis,
    ) -> Result<Option<NextActionShape>, ApiError> {
        Ok(open_action(reader, payment, now)?.map(|action| {
            let address = match &action.step {
                CustomerStep::Redirect(address) => Some(call.absolute(address.as_str())),
                CustomerStep::DisplayQr(_) | CustomerStep::AcquirerPage => None,
            };
            NextActionShape::new(action, address)
        }))
    }
}

fn qr_data(action: &CustomerAction) -> Option<String> {
    match &action.step {
        CustomerStep::DisplayQr(text) => Some(text.as_str().to_owned()),
        CustomerStep::Redirect(_) | CustomerStep::AcquirerPage => None,
    }
}

object! {
    /// An authentication of a card by EMV 3-D Secure.
    AUTHENTICATION "payment_authentication" as AuthenticationShape of (
        authentication: Authentication,
        acquirer: AcquirerRef
    ) {
        version: STRING or null = version(authentication, *acquirer).map(AuthenticationVersion::name),
            "The version of EMV 3-D Secure; null where the acquirer does not tell it.", such_as("2.2.0");
        flow: words_of(AuthenticationFlow) = authentication.flow, "The way.";
        trans_status: words_of(AuthenticationStatus) = authentication.status,
            "The result: `transStatus` of EMV 3-D Secure. `C` while the challenge is open.";
        eci: STRING or null = authentication.eci.map(|eci| format!("{eci:02}")),
            "The electronic commerce indicator, two digits.", such_as("05");
        authenticated_at: TIMESTAMP or null = authentication.at,
            "The time at which the result was recorded; null while there is none, and when nobody answered.";
    }
}

/// The version that the acquirer told; the sandbox has one only.
fn version(authentication: &Authentication, acquirer: AcquirerRef) -> Option<AuthenticationVersion> {
    let is_sandbox = acquirer == AcquirerRef::Sandbox;
    authentication.version.or(is_sandbox.then_some(AuthenticationVersion::V2_2_0))
}

object! {
    /// An approval that came too late.
    LATE_SUCCESS "payment_late_success" as LateSuccessShape of (late: LateSuccess, amount: AmountMinor) {
        amount: MINOR_UNITS = amount, "The amount in minor units.", such_as("10000");
        received_at: TIMESTAMP = late.received_at, "The time at which the approval was recorded.";
        returned_at: TIMESTAMP or null = late.returned_at,
            "The time at which the acquirer confirmed that the money is back.";
    }
}

object! {
    /// An operation that is open.
    OPERATION "payment_operation" as OperationShape<'a> of (operation: &'a Operation) {
        kind: words_of(OperationKind) = operation.kind, "The kind of operation.";
        amount: MINOR_UNITS = operation.amount, "The amount in minor units.", such_as("10000");
        requested_at: TIMESTAMP = operation.requested_at, "The time of the request.";
    }
}

object! {
    /// An operation that was refused.
    LAST_OPERATION "payment_last_operation" as LastOperationShape<'a> of (refused: &'a RefusedOperation) {
        kind: words_of(OperationKind) = refused.kind, "The kind of operation.";
        status: words(&["FAILED"]) = "FAILED", "The result.";
        failure_code: words_of(FailureCode) = refused.failure.code,
            "The acquirer's reason for the refusal, for programs.", such_as("processing_error");
        failure_message: STRING = refused.failure.code.message(),
            "The acquirer's reason for the refusal, for a person.",
            such_as("An error occurred while the card was processed. Try again.");
        at: TIMESTAMP = refused.at, "The time at which the result was recorded.";
    }
}

object! {
    /// The card that was used.
    PAYMENT_CARD "payment_card" as CardShape<'a> of (instrument: &'a Instrument, card: ShownCard<'a>) {
        card_id: Id(CardId::PREFIX) or null = saved_card_id(instrument),
            "The id of the saved card (`crd_...`), if it is one.";
        scheme: words_of(CardScheme) = card.scheme, "The card's scheme.";
        first_digits: STRING or null = card.first_digits,
            "The first six digits of its number; null for a card that was entered on the acquirer's page.",
            such_as("424242");
        last_digits: STRING = card.last_digits, "The last four digits of its number.", such_as("4242");
        expiration_date: STRING = card.expiry, "The last month in which it is valid, as MM/YY.", such_as("12/49");
    }
}

/// The costs of a capture: its fee, and the interest that the merchant bears.
const FEE_TYPES: [&str; 2] = [EntryType::PaymentFee.name(), EntryType::Interest.name()];

object! {
    /// A cost of a capture.
    FEE "fee" as FeeShape of (of: EntryType, amount: u64, currency: Currency) {
        type: words(&FEE_TYPES) = of, "The purpose.";
        amount: MINOR_UNITS = amount, "The amount in minor units.", such_as("590");
        currency: STRING = currency, "The ISO 4217 code.", such_as("THB");
    }
}

fn card(instrument: &Instrument) -> Option<CardShape<'_>> {
    instrument.card().map(|card| CardShape::new(instrument, card))
}

fn saved_card_id(instrument: &Instrument) -> Option<CardId> {
    match instrument {
        Instrument::SavedCard { card_id, owner: _, card: _ } => Some(*card_id),
        Instrument::Token { .. }
        | Instrument::UnnamedCard
        | Instrument::Installment { .. }
        | Instrument::PromptPay
        | Instrument::MobileBanking
        | Instrument::AcquirerPage { .. } => None,
    }
}

/// The time at which an authorization lapses that can still be captured.
fn lapses_at(payment: &Payment, now: Millis) -> Option<Millis> {
    let authorization = payment.authorization.as_ref().filter(|_| payment.allows(PaymentAction::Capture, now));
    authorization.and_then(|authorization| authorization.lapses_at)
}

fn fees(payment: &Payment) -> Vec<FeeShape> {
    let fee_minor = payment.capture.map_or(0, |capture| capture.fee_minor);
    let costs = [(EntryType::PaymentFee, fee_minor), (EntryType::Interest, payment.interest_minor())];
    let posted = costs.into_iter().filter(|(_, amount)| *amount > 0);
    posted.map(|(of, amount)| FeeShape::new(of, amount, payment.money.currency)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use till_domain::failure::Failure;
    use till_domain::ids::{PaymentId, SessionId, TransactionId};
    use till_domain::money::{AmountMinor, Money};
    use till_domain::payment::{Authorization, Capture};
    use till_domain::session::{InstallmentPlan, InterestBearer};
    use till_domain::text::{AcquirerCode, ReturnUrl};

    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn pending() -> Payment {
        let plan = InstallmentPlan::SandboxThreeMonths;
        let money =
            Money { amount: AmountMinor::new(100).expect("in range"), currency: "THB".parse().expect("an ISO code") };
        let instrument = Instrument::Installment { plan, interest_bearer: InterestBearer::Customer };
        let session = (SessionId::from_bytes([2; 16]), money, instrument);
        let return_url = ReturnUrl::from_stored("https://shop.example/done".to_owned());
        Payment::of_session(PaymentId::from_bytes([1; 16]), session, AcquirerRef::Sandbox, return_url, NOW)
    }

    #[test]
    fn a_pending_payment_has_no_outcome_and_permits_no_operation() {
        let payment = pending();
        let shown =
            serde_json::to_value(PaymentShape::new(&payment, None, None, NOW)).expect("a shape has a JSON form");
        assert_eq!(shown["status"], "PENDING");
        for key in ["authorized_at", "captured_at", "expires_at", "failure_code", "acquirer_reference"] {
            assert_eq!(shown[key], Value::Null, "{key}");
        }
        for key in ["capturable", "voidable", "reversible", "refundable"] {
            assert_eq!(shown[key], false, "{key}");
        }
    }

    #[test]
    fn what_was_prepared_is_the_reference_until_the_payment_has_one() {
        let shown = |payment: &Payment| {
            let shape = PaymentShape::new(payment, None, Some("cs_1".to_owned()), NOW);
            serde_json::to_value(shape).expect("a shape has a JSON form")["acquirer_reference"].clone()
        };
        assert_eq!(shown(&pending()), "cs_1");
        let authorization = Authorization { acquirer_reference: "pi_1".to_owned(), at: NOW, lapses_at: None };
        assert_eq!(shown(&Payment { authorization: Some(authorization), ..pending() }), "pi_1");
    }

    #[test]
    fn a_failure_shows_its_sentence_and_the_acquirers_own_word() {
        let acquirer_code = Some(AcquirerCode::new("stolen_card").expect("a word"));
        let failure = Some(Failure { code: FailureCode::LostOrStolenCard, acquirer_code });
        let payment = Payment { failure, ..pending() };
        let shown =
            serde_json::to_value(PaymentShape::new(&payment, None, None, NOW)).expect("a shape has a JSON form");
        let of_failure = ["failure_code", "failure_message", "acquirer_code"].map(|key| &shown[key]);
        assert_eq!(of_failure, ["lost_or_stolen_card", "The card was declined.", "stolen_card"]);
        let of_acquirer = ["acquirer", "acquirer_id", "acquirer_reference"].map(|key| &shown[key]);
        assert_eq!(of_acquirer, [&json!("sandbox"), &Value::Null, &Value::Null]);
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
}
