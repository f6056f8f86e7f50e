//! `POST /admin/open-dispute`, `escalate-dispute`, `close-dispute`

use till_domain::command::{Command, OpenDispute};
use till_domain::dispute::DisputeOutcome;
use till_domain::ids::{DisputeId, MerchantId};
use till_protocol::arguments::id;
use till_protocol::field;

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT};
use crate::endpoints::arguments::PAYMENT_ARGUMENT;
use crate::endpoints::forms::{AMOUNT, reason};
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&OPEN_DISPUTE, &ByOperator(OPENED, Command::OpenDispute)),
    Endpoint(&ESCALATE_DISPUTE, &ByOperator(ESCALATED, Command::EscalateDispute)),
    Endpoint(&CLOSE_DISPUTE, &ByOperator(CLOSED, |(dispute_id, outcome)| Command::CloseDispute(dispute_id, outcome))),
];

/// The outcomes that the provider decides, by their words in the API.
const OUTCOMES: [(&str, DisputeOutcome); 2] = [("WON", DisputeOutcome::Won), ("LOST", DisputeOutcome::Lost)];

const OUTCOME: Field<(&str, DisputeOutcome)> = Field {
    value_type: ValueType::words(&["WON", "LOST"]),
    parse: |value| field::one_of(&OUTCOMES, |(name, _)| name)(value),
};

const DISPUTE_ARGUMENT: Required<DisputeId> =
    id::<DisputeId>().required("The dispute (`dsp_...`).").with_name("dispute_id");

const NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No merchant has this id, or no dispute of this merchant.");

const OPENED: ArgumentSet<(MerchantId, OpenDispute)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    payment: PAYMENT_ARGUMENT,
    amount: AMOUNT.optional("The amount in minor units; the whole remainder when left out."),
    reason: reason("goods not received").optional("The provider's reason."),
} => (merchant_id, OpenDispute { payment, amount, reason }));

static OPEN_DISPUTE: Declaration = Declaration {
    name: "open-dispute",
    summary: "Opens a dispute about a captured payment and answers its id (`dsp_...`).",
    docs: "Plays the provider, for payments of the sandbox. One dispute of a payment is open at a time.",
    arguments: OPENED.declared,
    returns: Returns::Id(DisputeId::PREFIX),
    errors: &[
        DeclaredError::new(Code::NotFound, "No merchant has this id, or no payment of this merchant."),
        DeclaredError::new(
            Code::InvalidState,
            "The payment cannot be disputed now: details name its `status` and its open `operation`.",
        )
        .with(r#"{"status": "VOIDED", "operation": null}"#),
        DeclaredError::new(
            Code::AmountExceedsLimit,
            "More than remains of the payment: details name the `limit`. Or a total of the ledger would exceed 2^53 - \
                1 minor units.",
        )
        .with(r#"{"limit": 10000}"#),
    ],
    ..Declaration::command(Package::Admin, "disputes")
};

const ESCALATED: ArgumentSet<(MerchantId, DisputeId)> =
    arguments!({ merchant_id: MERCHANT_ARGUMENT, dispute_id: DISPUTE_ARGUMENT } => (merchant_id, dispute_id));

static ESCALATE_DISPUTE: Declaration = Declaration {
    name: "escalate-dispute",
    summary: "Escalates a dispute to the card scheme.",
    docs: "Plays the provider, for payments of the sandbox.",
    arguments: ESCALATED.declared,
    errors: &[
        NOT_FOUND,
        DeclaredError::new(
            Code::InvalidState,
            "The dispute is decided or escalated already: details name its `status`.",
        )
        .with(r#"{"status": "ESCALATED"}"#),
    ],
    ..Declaration::command(Package::Admin, "disputes")
};

const CLOSED: ArgumentSet<(MerchantId, (DisputeId, DisputeOutcome))> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    dispute_id: DISPUTE_ARGUMENT,
    outcome: OUTCOME.required("`WON` for the merchant, `LOST` for the customer."),
} => (merchant_id, (dispute_id, outcome.1)));

static CLOSE_DISPUTE: Declaration = Declaration {
    name: "close-dispute",
    summary: "Decides a dispute for the merchant or for the customer.",
    docs: "Plays the provider, for payments of the sandbox. A dispute that is lost is charged back.",
    arguments: CLOSED.declared,
    errors: &[
        NOT_FOUND,
        DeclaredError::new(Code::InvalidState, "The dispute is decided already: details name its `status`.")
            .with(r#"{"status": "WON"}"#),
    ],
    ..Declaration::command(Package::Admin, "disputes")
};
