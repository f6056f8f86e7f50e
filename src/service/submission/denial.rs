//! Converts denials by the actors into errors of the interface. No other file knows both.

use serde_json::{Value, json};
use till_actors::{Denied, FailedOutcome};
use till_domain::dispute::DisputeStatus;
use till_domain::ids::{CheckoutId, PaymentId};
use till_domain::merchant::{ADVANCE_MAX_SECONDS, PaymentMethod};
use till_domain::metadata::{BYTESIZE_MAX, DOCUMENT_BYTES_MAX, ITEMS_MAX, SETS_MAX};
use till_domain::money::{AMOUNT_MAX_MINOR, Money};
use till_domain::payment::{OperationKind, PaymentStatus};
use till_domain::refusal::{CommandField, MethodObstacle, Refusal};
use till_domain::role::{Act, Grant, Role};
use till_protocol::api_error::{ApiError, CallEffect, Code, RETRY_AFTER_SECONDS};
use till_protocol::fault::{Fault, IDEMPOTENCY_KEY};

/// The advised delay before a retry while events are being delivered to the webhook again, in seconds.
const REDELIVERY_RETRY_SECONDS: u32 = 30;

/// The reasons for which methods cannot pay, by method.
fn by_method(obstacles: &[Option<MethodObstacle>; PaymentMethod::ALL.len()]) -> Value {
    let named = PaymentMethod::ALL.into_iter().zip(obstacles);
    let named = named.filter_map(|(method, obstacle)| Some((method.name().to_owned(), (*obstacle)?.name().into())));
    Value::Object(named.collect())
}

/// The error for a denial.
pub(super) fn to_api_error(denied: &Denied) -> ApiError {
    match denied {
        Denied::Refused(refusal) => refused(refusal),
        Denied::Unavailable { outcome, reason } => {
            tracing::warn!(%reason, ?outcome, "a command was not carried out");
            let outcome = match outcome {
                FailedOutcome::NotDone => CallEffect::NotDone,
                FailedOutcome::Unknown => CallEffect::Unknown,
            };
            ApiError::unavailable(outcome, RETRY_AFTER_SECONDS).with_cause(reason.to_string())
        }
    }
}

/// Generates `refused` from one entry for each refusal: variant, code, details and message, which is written as for
/// `format!` and has the variant's data. The details are an argument whose object does not exist, other members, or
/// nothing; an `INVALID_ARGUMENTS` names the constructor of its fault and the argument. Entries with an error of their
/// own come first.
///
/// ```text
/// refusals! {
///     { Refusal::CallerNotLive => ApiError::unauthorized(), }
///     PlanNotFound = NotFound("plan_id"), "There is no plan with this plan_id.";
///     NotASet = InvalidArguments(not_a_set "path"), "leads to a value that is not an array";
///     TooMany { kind, limit } = Conflict { "limit": limit }, "The merchant already has {limit} {kind}.";
/// }
/// ```
macro_rules! refusals {
    (
        { $($pattern:pat => $error:expr,)* }
        $($variant:ident $({ $($field:ident),+ })? = $code:ident $(($($named:tt)+))? $({ $($details:tt)+ })?,
            $message:literal $(, $value:expr)*;)*
    ) => {
        /// The error for a refusal.
        #[must_use]
        pub(crate) fn refused(refusal: &Refusal) -> ApiError {
            match refusal {
                $($pattern => $error,)*
                $(Refusal::$variant $({ $($field),+ })? => {
                    error!($code $(($($named)+))? $({ $($details)+ })?, format!($message $(, $value)*))
                })*
            }
        }

        /// The texts of all messages, and the arguments of those that are faults.
        #[cfg(test)]
        const TEXTS: &[(Option<&str>, &str)] = &[$((argument!($code $($($named)+)?), $message)),*];
    };
}

/// The argument of one entry of `refusals!` that is a fault.
#[cfg(test)]
macro_rules! argument {
    (InvalidArguments $fault:ident $argument:literal) => {
        Some($argument)
    };
    ($($other:tt)*) => {
        None
    };
}

/// The error of one entry of `refusals!`.
macro_rules! error {
    (InvalidArguments($fault:ident $argument:literal), $message:expr) => {
        ApiError::invalid_arguments(&[Fault::$fault($argument, $message)])
    };
    (NotFound($argument:literal), $message:expr) => {
        ApiError::not_found($argument, $message)
    };
    ($code:ident { $($details:tt)+ }, $message:expr) => {
        ApiError::new(Code::$code, $message).with_details(json!({ $($details)+ }))
    };
    ($code:ident, $message:expr) => {
        ApiError::new(Code::$code, $message)
    };
}

refusals! {
    {
        Refusal::CallerNotLive => ApiError::unauthorized(),
        Refusal::Forbidden { act, role } => forbidden(*act, *role),
        Refusal::RedeliveryUnderWay => ApiError::too_many(REDELIVERY, REDELIVERY_RETRY_SECONDS),
        Refusal::SessionNotActive { payment_id } => session_not_active(*payment_id),
        Refusal::ExternalIdTaken { payment_id, checkout_id } => external_id_taken(*payment_id, *checkout_id),
        Refusal::VersionMismatch { current } => {
            ApiError::invalid_arguments(&[Fault::version_mismatch("version", *current)])
        },
        Refusal::CardNumbersGiven { fields } => card_numbers_given(fields),
    }

    MerchantNotFound = NotFound("merchant_id"),
        "There is no merchant with this merchant_id. Check it: list-merchants of the operator shows all of them.";
    MerchantSuspended = MerchantSuspended,
        "The merchant is suspended: only calls that close a leak, such as revoke-key, change something. \
         Lists and look-ups go on. Ask the operator to resume it.";
    IdempotencyKeyReused = IdempotencyKeyReused,
        "This Idempotency-Key was used with another body. Use a new key for a new call.";
    InstallationNotFound = NotFound("installation_id"),
        "There is no installation with this merchant_id and installation_id. Ask the operator for the right ones.";
    TooMany { kind, limit } = Conflict { "limit": limit },
        "The merchant already has {limit} {kind}, which is the maximum. Use the existing ones.";
    TooManyOpenCheckouts { limit } = Conflict { "limit": limit },
        "The merchant already has {limit} open checkouts, which is the maximum. End those that nobody is to pay by \
         expire-checkout, or wait until they expire.";
    CustomerOfOpenCheckouts { limit } = Conflict { "limit": limit },
        "More than {limit} open checkouts name this customer. End some of them by expire-checkout, then call \
         remove-contact again.";
    TotalTooLarge = AmountExceedsLimit,
        "With this amount a total of the merchant's ledger would exceed {AMOUNT_MAX_MINOR} minor units. Ask the \
         operator.";

    AmountExceedsRefundLimit { limit_minor } = Forbidden { "roles": [Role::Owner.name()], "limit": limit_minor },
        "The amount is more than this caller may give back in one call: at most {limit_minor} minor units. Send that \
         much or less, or ask an OWNER to do it.";
    RefundLimitNotPossible = InvalidArguments(invalid "refund_limit"), "is possible only with the role SUPPORT";
    OwnRole = Forbidden { "roles": [Role::Owner.name()] },
        "Nobody changes their own role. Ask another member with the role OWNER to do it.";
    LastOwner = InvalidState,
        "This is the last member with the role OWNER, and the team keeps one. Give the role to another member first.";

    KeyNotFound = NotFound("key_id"),
        "No API key of this merchant has this key_id. The list of its keys shows those that exist.";
    KeyEndPassed = InvalidArguments(invalid "expires_at"), "must be in the future";
    UserNotFound = NotFound("user_id"),
        "No user of this merchant has this user_id. The list of its users shows those that exist.";
    InvitationNotFound = NotFound("invitation_id"),
        "No invitation of this merchant has this invitation_id, or it has expired. Invite the user again.";
    CodeUsedUp = InvalidArguments(invalid "code"), "was used before";
    ResetOver = InvalidState, "The address was used, or is over. Ask for another one.";
    PlanNotFound = NotFound("plan_id"), "There is no plan with this plan_id. The list of plans shows those that exist.";
    AlreadyMember { user_id } = Conflict { "argument": "email", "user_id": user_id.to_string() },
        "A user of this merchant has this e-mail address already. There is nothing left to do.";
    AlreadyInvited { invitation_id } =
        Conflict { "argument": "email", "invitation_id": invitation_id.to_string() },
        "This e-mail address is invited already. Ask the person to accept that invitation.";
    InvitationAccepted { user_id } = Conflict { "user_id": user_id.to_string() },
        "The invitation was accepted before. There is nothing left to do.";

    WebhookNotFound = NotFound("webhook_id"),
        "No webhook of this merchant has this webhook_id. list-webhooks lists those that exist.";
    WebhookEventNotFound = NotFound("event_id"),
        "No event of this merchant has this event_id. list-events shows those of the last 30 days.";
    WebhookNotConnected { status } = InvalidState { "status": status.name() },
        "The webhook is not connected, so that nothing is delivered to it. Call reconnect-webhook first.";
    TooManySecrets { limit } = Conflict { "limit": limit },
        "{limit} replaced secrets of this webhook still sign, which is the maximum. Wait until the oldest one's 24 \
         hours are over, or send end_previous: true, which ends them at once.";

    CurrencyNotConfigured { currency } = InvalidArguments(invalid "currency"),
        "is not the currency of the merchant's account: send {currency}";
    TokenNotFound = NotFound("token"), "No card token has this id, or it has expired. Tokenize the card again.";
    TokenAlreadyUsed = TokenAlreadyUsed, "The card token was for one use and is used up. Tokenize the card again.";
    TokenForOneUse = InvalidArguments(invalid "token"),
        "must be a token for several uses: have the card tokenized with usage MULTIPLE";
    MethodNotEnabled = NotSupported,
        "The payment method is not enabled for this merchant. Offer another one, or ask the operator to enable it.";
    MethodOfOtherCurrency { currency } = InvalidArguments(invalid "payment_method"),
        "is possible for merchants with an account in {} only", currency.code();
    AmountMismatch { given, session } = Conflict {
            "argument": if given.currency == session.currency { "amount" } else { "currency" },
            "session": { "amount": session.amount.get(), "currency": session.currency.code() },
        },
        "{} Send what the session has, or have the customer select the payment method again.",
        difference(given, session);
    AuthorizationOnlyNotSupported = NotSupported,
        "The payment method does not support authorization without capture. Send capture: true.";
    CardEnteredAtAcquirer = NotSupported,
        "Customers of this merchant enter their card on the acquirer's page: send neither token nor card_id. Where \
         card_entry is PAGE, cards are neither tokenized nor named.";
    CheckoutCardMissing = InvalidArguments(missing_because "token"), "or card_id is required for a card";
    InterestBearerMissing { fixed } = InvalidArguments(missing_because "interest_bearer"),
        "is required for an instalment session: send {}, as when the payment method was selected", fixed.name();
    InterestBearerMismatch { fixed } = InvalidArguments(invalid "interest_bearer"),
        "is not the one that was fixed when the payment method was selected: send {}", fixed.name();

    AcquirerNotFound = NotFound("acquirer_id"),
        "No account of this merchant has this acquirer_id. list-acquirers lists those that exist.";
    ConfiguredAcquirerNotFound = NotFound("acquirer"),
        "No account of this merchant has this id. list-acquirers lists those that exist; `sandbox` needs none.";
    AccountTaken { acquirer_id } = Conflict { "argument": "secret", "acquirer_id": acquirer_id.to_string() },
        "The merchant has this account of the acquirer already: update that one.";
    SecretOfOtherAccount = Conflict { "argument": "secret" },
        "The secret belongs to another account of the acquirer, and payments stay with theirs: add it as a new one.";
    AccountWithTestClock = NotSupported,
        "A merchant with a test clock pays at the sandbox only: its time is not the acquirer's. Create another one.";
    MoneyOfOtherMode { mode } = InvalidState { "mode": mode.name() },
        "The merchant's payments or accounts are {}, and play money and real money never stand in one ledger. \
            Create another merchant.", mode.name();
    AccountConfigured { method } = InvalidState { "payment_method": method.name() },
        "{} is enabled at this account: configure it to another one, or disable it, first.", method.name();
    AccountInUse { open_payments, removable_at } =
        InvalidState { "open_payments": open_payments, "removable_at": removable_at.unix_seconds() },
        "{open_payments} payments of this account or refunds of them are open, and the last one must be 180 days old, \
            within which a customer can dispute it.";
    MethodNotCarriedOut { acquirer } = InvalidArguments(invalid "payment_method"),
        "is not carried out by {}", acquirer.name();
    CurrencyNotTaken { currency, acquirer } = InvalidArguments(invalid "acquirer"),
        "cannot be used: {} does not take {currency} with the minor units of ISO 4217", acquirer.name();
    PublicAddressMissing { is_http } = InvalidState,
        "Customers come back from the acquirer to this server: set public_url{}, and start it again.",
        if *is_http { " to an https address" } else { "" };
    SupportEmailMissing = InvalidState,
        "The acquirer needs an e-mail address for PROMPTPAY, and the merchant has no support_email.";
    PayoutsNotSupported = NotSupported,
        "The acquirer of the merchant's cards pays out by its own schedule: there is nothing to call.";

    CustomerNotFound = NotFound("customer_id"),
        "No customer of this merchant has this customer_id. One that begins with ctc_ must exist: send the merchant's \
         own identifier to have a customer created.";
    ContactNotFound = NotFound("contact_id"),
        "No customer of this merchant has this contact_id: neither as Till's id (ctc_...) nor as the merchant's own. \
         E-mail addresses are not looked up here.";
    ContactTaken { field, customer_id } =
        Conflict { "argument": name_of(*field), "contact_id": customer_id.to_string() },
        "Another customer of this merchant has this {}. Update that customer, or send another one.", name_of(*field);
    CustomerRequired = CustomerRequired,
        "The session uses a saved card: give customer_id, customer_email or customer_mobile of its owner.";
    CustomerMismatch = CustomerMismatch,
        "The given customer does not own the session's saved card. Give customer_id, customer_email or customer_mobile \
         of its owner, and of nobody else.";
    CardIdMissing = InvalidArguments(missing_because "card_id"),
        "is required: the payment method was selected with neither a token nor a saved card. Send a saved card, or \
         have the customer select again with a token";
    CardNotFound = NotFound("card_id"),
        "No saved card of this customer has this card_id. Send another one, or have the customer enter the card again.";
    CardExternalIdTaken { card_id } = Conflict { "argument": "external_id", "card_id": card_id.to_string() },
        "Another saved card of this merchant has this external_id. Send another one.";
    CardHasExternalId { card_id } = Conflict { "argument": "external_id", "card_id": card_id.to_string() },
        "The customer has saved this card already, under another external_id. Send that one, or none.";

    PaymentNotFound = NotFound("payment_id"),
        "No payment of this merchant has this payment_id. Send the payment's id or the external_id it was given.";
    CheckoutNotFound = NotFound("checkout_id"),
        "No checkout of this merchant has this checkout_id: neither as Till's id (chk_...) nor as the merchant's \
         external_id. list-checkouts lists those that exist.";
    CheckoutState { status } = InvalidState { "status": status.name() },
        "The checkout takes no new payment: it is {}. Start another one.", status.name();
    NoMethodLeft { obstacles } = NotSupported { "payment_methods": by_method(obstacles) },
        "None of these payment methods is enabled for this merchant, captures as asked and can carry the amount: \
            details say why. Leave payment_methods out to offer all that do; CAPTURES_AT_ONCE needs capture: true.";
    SavingNotOffered = InvalidArguments(invalid "save_card"),
        "is possible only for a checkout that was started with offer_saved_cards: true";
    PageOfAnotherOrigin = InvalidArguments(invalid "page_url"),
        "must be a page of the installation's own web site: begin it with the installation's identifier, as \
         https://shop.example/pay begins with https://shop.example. Only an installation of the platform WEB has one";
    ReplacedSessionNotFound = NotFound("replaces"),
        "No payment of this checkout was made by the session that replaces names. Send the one that pay-checkout \
            answered.";
    InvalidState { status, operation } =
        InvalidState { "status": status.name(), "operation": operation.map(OperationKind::name) },
        "{}", not_permitted("This cannot be done to the payment now", *status, *operation, advice(*status));
    NotRefundable { status, operation } =
        NotRefundable { "status": status.name(), "operation": operation.map(OperationKind::name) },
        "{}", not_permitted("The payment cannot be refunded now", *status, *operation, refund_advice(*status));
    AmountExceedsPayment { limit_minor } = AmountExceedsLimit { "limit": limit_minor },
        "The amount is more than the payment has: at most {limit_minor} minor units. Send that much or less.";
    HasEnded { what, status } = InvalidState { "status": status },
        "The {what} has ended already: it is {status}. There is nothing left to do.";

    RefundNotFound = NotFound("refund_id"),
        "No refund of this merchant has this refund_id: neither as Till's id (rfn_...) nor as the merchant's \
         external_id. list-refunds lists those that exist.";
    RefundExternalIdTaken { refund_id } = Conflict { "argument": "external_id", "refund_id": refund_id.to_string() },
        "Another refund of this merchant has this external_id. Look that refund up before you refund again.";
    RefundNotCovered { available_minor, pending_minor, is_reversible } =
        InsufficientBalance { "available": available_minor, "pending": pending_minor },
        "The balance does not cover the refund: {available_minor} minor units are available and {pending_minor} \
         pending. {}",
        if *is_reversible {
            "Send less, or give all of the payment back with reverse-payment, which needs no balance."
        } else {
            "Send less, or wait until more has come in."
        };
    DisputeNotFound = NotFound("dispute_id"),
        "No dispute of this merchant has this dispute_id. list-disputes lists those that exist.";
    DisputeState { status, has_evidence } = InvalidState { "status": status.name() },
        "{}", dispute_not_permitted(*status, *has_evidence);

    PayoutNotFound = NotFound("payout_id"),
        "No payout of this merchant has this payout_id: neither as Till's id (pyo_...) nor as the merchant's \
         external_id. list-payouts lists those that exist.";
    PayoutExternalIdTaken { payout_id } = Conflict { "argument": "external_id", "payout_id": payout_id.to_string() },
        "Another payout of this merchant has this external_id. Look that payout up before you pay out again.";
    InsufficientBalance { available_minor } = InsufficientBalance { "available": available_minor },
        "The balance does not cover the amount: {available_minor} minor units are available. Send less, or wait until \
         more has settled.";
    TopupExternalIdTaken { topup_id } = Conflict { "argument": "external_id", "topup_id": topup_id.to_string() },
        "Another top-up of this merchant has this external_id: it was added before. For a further one send another \
         external_id.";
    InvoiceExternalIdTaken { invoice_id } =
        Conflict { "argument": "external_id", "invoice_id": invoice_id.to_string() },
        "Another invoice of this merchant has this external_id: it was charged before. For a further one send another \
         external_id.";

    NoTestClock = InvalidState,
        "The merchant has no test clock: its time is the wall clock. Create a merchant with test_clock: true to \
         test with.";
    ClockNotForward { now } = InvalidArguments(invalid "to"),
        "must be later than the merchant's time, which is {}", now.unix_seconds();
    ClockTooFar { latest } = InvalidArguments(invalid "to"),
        "must be at most {} days later than the merchant's time: send {} or less", ADVANCE_MAX_SECONDS / 86_400,
        latest.unix_seconds();
    NotASet = InvalidArguments(not_a_set "path"),
        "leads to a value that is not an array, or through a value that is not an object";
    MetadataItemsExceeded = InvalidArguments(invalid "value"), "would make the record hold more than {ITEMS_MAX} items";
    MetadataBytesExceeded = InvalidArguments(invalid "value"), "would make the record larger than {BYTESIZE_MAX} bytes";
    MetadataDocumentExceeded = InvalidArguments(invalid "path"),
        "would make the record's objects and plain values larger than {DOCUMENT_BYTES_MAX} bytes";
    MetadataSetsExceeded = InvalidArguments(invalid "path"), "would give the record more than {SETS_MAX} sets";
}

const REDELIVERY: &str = "Events are being delivered to this webhook again by an earlier call. Wait until that has \
                          ended, or call disconnect-webhook to end it.";

/// The refusal of a caller whose role does not allow something. It names the roles that may.
fn forbidden(act: Option<Act>, role: Role) -> ApiError {
    let roles: Vec<&str> = act.into_iter().flat_map(Act::roles).map(Role::name).collect();
    let lacks_limit = act.is_some_and(|act| act.grant(role) == Grant::UpToRefundLimit);
    let reason = if lacks_limit { " without a refund_limit" } else { "" };
    let message = format!("The role {} may not do this{reason}. These roles may: {}.", role.name(), roles.join(", "));
    ApiError::new(Code::Forbidden, message).with_details(json!({ "role_id": role.name(), "roles": roles }))
}

/// The session's payment is in the details, so that a repeated call finds it.
fn session_not_active(payment_id: Option<PaymentId>) -> ApiError {
    let message = "No active payment session has this id: it is unknown, has expired or was used. Have the customer \
                   select the payment method again.";
    let error = ApiError::not_found("payment_session_id", message);
    let Some(payment_id) = payment_id else { return error };
    error.with_details(json!({ "argument": "payment_session_id", "payment_id": payment_id.to_string() }))
}

/// A fault for each field that is a card number.
fn card_numbers_given(fields: &[Option<CommandField>]) -> ApiError {
    let message = "is a card number, or has one as a value or key: cards are given to tokenize-card only. Where the \
                   merchant's own numbers look so, its operator sets card_numbers_in_identifiers";
    let faults: Vec<Fault> = fields.iter().flatten().map(|field| Fault::invalid(name_of(*field), message)).collect();
    ApiError::invalid_arguments(&faults)
}

/// The name of the argument that gives this field.
const fn name_of(field: CommandField) -> &'static str {
    match field {
        CommandField::IdempotencyKey => IDEMPOTENCY_KEY,
        CommandField::ExternalId => "external_id",
        CommandField::PaymentId => "payment_id",
        CommandField::CustomerId => "customer_id",
        CommandField::CardId => "card_id",
        CommandField::ContactId => "contact_id",
        CommandField::ContactEmail => "contact_email",
        CommandField::ContactMobile => "contact_mobile",
        CommandField::Identifier => "identifier",
        CommandField::ReturnUrl => "return_url",
        CommandField::CancelUrl => "cancel_url",
        CommandField::PageUrl => "page_url",
        CommandField::DestinationUrl => "destination_url",
        CommandField::MetadataKey => "key",
        CommandField::MetadataPath => "path",
        CommandField::MetadataValue => "value",
        CommandField::Metadata => "metadata",
    }
}

/// The refusal of an external id that a payment has, or a checkout with its newest payment.
fn external_id_taken(payment_id: Option<PaymentId>, checkout_id: Option<CheckoutId>) -> ApiError {
    let mut details = json!({ "argument": "external_id", "payment_id": payment_id.map(|id| id.to_string()) });
    let holder = match checkout_id {
        Some(checkout_id) => {
            details["checkout_id"] = checkout_id.to_string().into();
            "A checkout"
        }
        None => "Another payment",
    };
    let message = format!(
        "{holder} of this merchant has this external_id. Look it up before you pay again; another attempt needs one \
            of its own, such as order-1001-2."
    );
    ApiError::new(Code::Conflict, message).with_details(details)
}

/// The arguments that differ (amount, currency or both), and the values of the session.
fn difference(given: &Money, session: &Money) -> String {
    let (amount, currency) = (session.amount.get(), session.currency);
    match (given.amount == session.amount, given.currency == session.currency) {
        (false, false) => {
            format!("Amount and currency are not the payment session's, {amount} minor units of {currency}.")
        }
        (true, _) => format!("The currency is not the payment session's, {currency}."),
        (false, true) => format!("The amount is not the payment session's, {amount} minor units of {currency}."),
    }
}

/// The reason for which the payment does not permit something, and advice.
fn not_permitted(what: &str, status: PaymentStatus, operation: Option<OperationKind>, advice: &str) -> String {
    match operation {
        Some(operation) => format!(
            "{what}: its operation {} has not ended. Ask again once find-payment shows no operation.",
            operation.name()
        ),
        None => format!("{what}: it is {}. {advice}", status.name()),
    }
}

/// The advice to call something else for a payment of this status.
const fn advice(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Pending => "Ask again once find-payment shows another status.",
        PaymentStatus::Authorized => "Call capture-payment to take the money, or void-payment to give it free.",
        PaymentStatus::Successful => {
            "To give money back, call reverse-payment while find-payment says reversible, else refund-payment."
        }
        PaymentStatus::PartiallyRefunded => "To give more of it back, call refund-payment.",
        PaymentStatus::Disputed => {
            "The customer's bank has asked for the money: answer with challenge-dispute or concede-dispute."
        }
        PaymentStatus::Failed
        | PaymentStatus::Expired
        | PaymentStatus::Voided
        | PaymentStatus::Reversed
        | PaymentStatus::Refunded => "It has ended: nothing more can be done with it.",
    }
}

/// The same for a payment that cannot be refunded.
const fn refund_advice(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Successful | PaymentStatus::PartiallyRefunded => {
            "All that is left of it is being refunded already: see list-refunds-by-payment."
        }
        PaymentStatus::Pending
        | PaymentStatus::Authorized
        | PaymentStatus::Disputed
        | PaymentStatus::Failed
        | PaymentStatus::Expired
        | PaymentStatus::Voided
        | PaymentStatus::Reversed
        | PaymentStatus::Refunded => advice(status),
    }
}

/// The reason for which a dispute does not permit something.
fn dispute_not_permitted(status: DisputeStatus, has_evidence: bool) -> String {
    if status.is_open() && has_evidence {
        return "The dispute has its evidence already, which is given once. Wait until it is decided.".to_owned();
    }
    let advice =
        if status.is_open() { "find-dispute shows it." } else { "It is decided: nothing more can be done with it." };
    format!("This cannot be done to the dispute now: it is {}. {advice}", status.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use till_domain::money::{AmountMinor, Currency};

    const PAYMENT: PaymentId = PaymentId::from_bytes([1; 16]);
    const THB: Currency = Currency::from_bytes(*b"THB");
    const USD: Currency = Currency::from_bytes(*b"USD");

    fn money(minor: u64, currency: Currency) -> Money {
        Money { amount: AmountMinor::new(minor).unwrap_or_else(|| panic!("{minor}")), currency }
    }

    #[test]
    fn every_argument_that_is_a_card_number_is_named() {
        let fields = [Some(CommandField::ExternalId), Some(CommandField::CustomerId), None, None, None];
        let error = refused(&Refusal::CardNumbersGiven { fields });
        let faults = error.details().and_then(Value::as_array).expect("an array of faults");
        let named: Vec<&Value> = faults.iter().map(|fault| &fault["argument"]).collect();
        assert_eq!(named, ["external_id", "customer_id"]);
        assert!(faults.iter().all(|fault| fault["type"] == "invalid"), "{faults:?}");
    }

    #[test]
    fn a_repeated_initiation_finds_its_payment_in_the_details() {
        let error = refused(&Refusal::SessionNotActive { payment_id: Some(PAYMENT) });
        let expected = json!({ "argument": "payment_session_id", "payment_id": PAYMENT.to_string() });
        assert_eq!(error.details(), Some(&expected));
        let error = refused(&Refusal::ExternalIdTaken { payment_id: Some(PAYMENT), checkout_id: None });
        assert_eq!(error.details(), Some(&json!({ "argument": "external_id", "payment_id": PAYMENT.to_string() })));
    }

    #[test]
    fn an_invalid_state_names_the_status_and_the_open_operation() {
        let details = |refusal: Refusal| refused(&refusal).details().cloned().unwrap_or_default();
        let (status, operation) = (PaymentStatus::Authorized, Some(OperationKind::Capture));
        let expected = json!({ "status": "AUTHORIZED", "operation": "CAPTURE" });
        assert_eq!(details(Refusal::InvalidState { status, operation }), expected);
        let expected = json!({ "status": "AUTHORIZED", "operation": null });
        assert_eq!(details(Refusal::NotRefundable { status, operation: None }), expected);
    }

    #[test]
    fn a_fault_begins_after_its_argument_and_other_messages_are_sentences() {
        for (argument, text) in TEXTS {
            let Some(argument) = argument else {
                assert!(text.ends_with(['.', '}']), "{text}");
                continue;
            };
            assert!(!text.ends_with('.') && !text.starts_with(argument), "{argument}: {text}");
        }
    }

    #[test]
    fn a_mismatch_of_the_price_names_the_difference_and_the_session() {
        let of = |given| {
            let error = refused(&Refusal::AmountMismatch { given, session: money(900, THB) });
            let sentence = error.message().split_inclusive('.').next().unwrap_or_default().to_owned();
            (sentence, error.details().cloned().unwrap_or_default())
        };
        let session = json!({ "amount": 900, "currency": "THB" });
        for (given, sentence, argument) in [
            (money(901, THB), "The amount is not the payment session's, 900 minor units of THB.", "amount"),
            (money(900, USD), "The currency is not the payment session's, THB.", "currency"),
            (money(901, USD), "Amount and currency are not the payment session's, 900 minor units of THB.", "currency"),
        ] {
            assert_eq!(of(given), (sentence.to_owned(), json!({ "argument": argument, "session": session })));
        }
    }

    #[test]
    fn a_key_that_is_no_longer_live_reads_as_an_unknown_one() {
        assert_eq!(refused(&Refusal::CallerNotLive), ApiError::unauthorized());
    }

    #[test]
    fn a_denied_call_says_whether_its_outcome_is_known() {
        let unknown = to_api_error(&Denied::unknown("a sync failed"));
        assert_eq!(unknown.details(), Some(&json!({ "outcome": "unknown" })));
        assert!(!unknown.message().contains("sync"), "the reason is for the operator");
        let not_done = to_api_error(&Denied::not_done("full"));
        assert_eq!(not_done.details(), Some(&json!({ "outcome": "not_done" })));
    }
}
