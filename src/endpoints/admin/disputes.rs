//! `POST /admin/open-dispute`, `escalate-dispute`, `close-dispute`

use till_domain::command::{Command, OpenDispute};
use till_domain::dispute::DisputeOutcome;
use till_domain::ids::{DisputeId, MerchantId};
use till_domain::text::{NAME_MAX_CHARACTERS, Reason};

use super::about_merchant::{MERCHANT_ARGUMENT, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::forms::{PAYMENT_ARGUMENT, printable};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::Shared;

/// The outcomes that the provider decides, by their words in the API.
const OUTCOMES: [(&str, DisputeOutcome); 2] = [("WON", DisputeOutcome::Won), ("LOST", DisputeOutcome::Lost)];

const DISPUTE_ARGUMENT: Argument =
    Argument::required("dispute_id", ValueType::Id(DisputeId::PREFIX), "The dispute (`dsp_...`).");

const NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No merchant has this id, or no dispute of this merchant.");

pub(super) static OPEN_DISPUTE: Declaration = Declaration {
    name: "open-dispute",
    package: Package::Admin,
    group: "disputes",
    summary: "Opens a dispute about a captured payment and answers its id (`dsp_...`).",
    docs: "Plays the provider, for payments of the sandbox. One dispute of a payment is open at a time.",
    arguments: &[
        MERCHANT_ARGUMENT,
        PAYMENT_ARGUMENT,
        Argument::optional(
            "amount",
            ValueType::AMOUNT,
            "The amount in minor units; the whole remainder when left out.",
        ),
        Argument::optional("reason", printable(NAME_MAX_CHARACTERS, "goods not received"), "The provider's reason."),
    ],
    returns: Returns::Id(DisputeId::PREFIX),
    errors: &[
        DeclaredError::when(Code::NotFound, "No merchant has this id, or no payment of this merchant."),
        DeclaredError::when(
            Code::InvalidState,
            "The payment cannot be disputed now: details name its `status` and its open `operation`.",
        ).with(r#"{"status": "VOIDED", "operation": null}"#),
        DeclaredError::when(
            Code::AmountExceedsLimit,
            "More than remains of the payment: details name the `limit`. Or a total of the ledger would exceed 2^53 - 1 minor units.",
        ).with(r#"{"limit": 10000}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static ESCALATE_DISPUTE: Declaration = Declaration {
    name: "escalate-dispute",
    package: Package::Admin,
    group: "disputes",
    summary: "Escalates a dispute to the card scheme.",
    docs: "Plays the provider, for payments of the sandbox.",
    arguments: &[MERCHANT_ARGUMENT, DISPUTE_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[
        NOT_FOUND,
        DeclaredError::when(
            Code::InvalidState,
            "The dispute is decided or escalated already: details name its `status`.",
        )
        .with(r#"{"status": "ESCALATED"}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static CLOSE_DISPUTE: Declaration = Declaration {
    name: "close-dispute",
    package: Package::Admin,
    group: "disputes",
    summary: "Decides a dispute for the merchant or for the customer.",
    docs: "Plays the provider, for payments of the sandbox. A dispute that is lost is charged back.",
    arguments: &[
        MERCHANT_ARGUMENT,
        DISPUTE_ARGUMENT,
        Argument::required(
            "outcome",
            ValueType::words(&["WON", "LOST"]),
            "`WON` for the merchant, `LOST` for the customer.",
        ),
    ],
    returns: Returns::Boolean,
    errors: &[
        NOT_FOUND,
        DeclaredError::when(Code::InvalidState, "The dispute is decided already: details name its `status`.")
            .with(r#"{"status": "WON"}"#),
    ],
    flags: Flags::COMMAND,
};

/// `POST /admin/open-dispute`
pub(super) async fn open_dispute(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let payment = fields.required("payment_id", arguments::payment_ref);
    let amount = fields.optional("amount", arguments::amount);
    let reason = fields.optional("reason", |value| arguments::checked(Reason::new(field::name(value)?)));
    let (merchant_id, command) =
        fields.finish(|| Some((merchant_id?, OpenDispute { payment: payment?, amount, reason })))?;
    Ok(submit(&service, &OPEN_DISPUTE, &call, merchant_id, Command::OpenDispute(command), None).await?.into())
}

/// `POST /admin/escalate-dispute`
pub(super) async fn escalate_dispute(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let (merchant_id, dispute_id) = dispute_arguments(&mut fields);
    let (merchant_id, dispute_id) = fields.finish(|| Some((merchant_id?, dispute_id?)))?;
    let command = Command::EscalateDispute(dispute_id);
    Ok(submit(&service, &ESCALATE_DISPUTE, &call, merchant_id, command, None).await?.into())
}

/// `POST /admin/close-dispute`
pub(super) async fn close_dispute(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let (merchant_id, dispute_id) = dispute_arguments(&mut fields);
    let outcome = fields.required("outcome", field::one_of(&OUTCOMES, |(name, _)| name));
    let (merchant_id, command) =
        fields.finish(|| Some((merchant_id?, Command::CloseDispute(dispute_id?, outcome?.1))))?;
    Ok(submit(&service, &CLOSE_DISPUTE, &call, merchant_id, command, None).await?.into())
}

fn dispute_arguments(fields: &mut Fields<'_>) -> (Option<MerchantId>, Option<DisputeId>) {
    let merchant_id = merchant_argument(fields);
    (merchant_id, fields.required("dispute_id", arguments::id("a dispute id (dsp_...)")))
}
