//! The JSON of a ledger entry: specification, section 2.5.

use serde::Serialize;
use till_domain::ids::{
    DisputeId, EntryId, InvoiceId, PaymentId, PayoutId, RefundId, StatementId, TopupId, TransactionId,
};
use till_domain::ledger::{Direction, Entry, EntryStatus, EntryType};
use till_domain::text::ExternalId;

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

/// The only kind of parent.
pub(in crate::endpoints) const PARENT_TYPE: &str = "PAYMENT";

pub(in crate::endpoints) static ENTRY: ObjectType = ObjectType {
    name: "entry",
    attributes: &[
        Attribute::always(
            "entry_id",
            ValueType::Id(EntryId::PREFIX),
            "The entry's id (`ent_...`), which cursors name.",
        ),
        Attribute::always(
            "transaction_id",
            ValueType::Id(TransactionId::PREFIX),
            "The transaction (`txn_...`) that contains it.",
        ),
        Attribute::always("direction", words_of!(Direction), "The side of the ledger.").such_as("CREDIT"),
        Attribute::always("type", words_of!(EntryType), "The purpose.").such_as("PAYMENT"),
        Attribute::always("amount", ValueType::INTEGER, "The amount in minor units; always positive.").such_as("10000"),
        Attribute::always("currency", ValueType::STRING, "The ISO 4217 code.").such_as("THB"),
        Attribute::always("status", words_of!(EntryStatus), "The present status.").such_as("EFFECTIVE"),
        Attribute::nullable("payment_id", ValueType::Id(PaymentId::PREFIX), "The payment it is linked to.").shown(),
        Attribute::nullable(
            "external_id",
            ValueType::STRING,
            "The merchant's own reference of that payment, or of the payout; the operator's of the top-up or invoice.",
        )
        .such_as("order-1001"),
        Attribute::nullable("refund_id", ValueType::Id(RefundId::PREFIX), "The refund it is linked to."),
        Attribute::nullable("invoice_id", ValueType::Id(InvoiceId::PREFIX), "The invoice it is linked to."),
        Attribute::nullable(
            "statement_id",
            ValueType::Id(StatementId::PREFIX),
            "The statement of the month in which it became effective, once the month is over.",
        ),
        Attribute::nullable("payout_id", ValueType::Id(PayoutId::PREFIX), "The payout it is linked to."),
        Attribute::nullable("topup_id", ValueType::Id(TopupId::PREFIX), "The top-up it is linked to."),
        Attribute::nullable("dispute_id", ValueType::Id(DisputeId::PREFIX), "The dispute it is linked to."),
        Attribute::nullable("parent_id", ValueType::Id(PaymentId::PREFIX), "The payment of that dispute."),
        Attribute::nullable("parent_type", ValueType::words(&[PARENT_TYPE]), "The kind of `parent_id`."),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was posted."),
        Attribute::nullable("effective_at", ValueType::TIMESTAMP, "The time at which it became effective.")
            .such_as("1767398400"),
        Attribute::nullable("canceled_at", ValueType::TIMESTAMP, "The time at which it was canceled."),
    ],
};

#[derive(Serialize)]
pub(crate) struct EntryShape {
    entry_id: String,
    transaction_id: String,
    direction: &'static str,
    r#type: &'static str,
    amount: u64,
    currency: String,
    status: &'static str,
    payment_id: Option<String>,
    external_id: Option<String>,
    refund_id: Option<String>,
    invoice_id: Option<String>,
    statement_id: Option<String>,
    payout_id: Option<String>,
    topup_id: Option<String>,
    dispute_id: Option<String>,
    parent_id: Option<String>,
    parent_type: Option<&'static str>,
    created_at: u64,
    effective_at: Option<u64>,
    canceled_at: Option<u64>,
}

impl EntryShape {
    /// The object for an entry, with the closed statement of the month in which it became effective and the external
    /// identifier of what it was posted for.
    pub(crate) fn new(entry: &Entry, statement_id: Option<StatementId>, external_id: Option<ExternalId>) -> EntryShape {
        let parent = entry.cause.disputed_payment_id();
        EntryShape {
            entry_id: entry.id.to_string(),
            transaction_id: entry.transaction_id.to_string(),
            direction: entry.direction.name(),
            r#type: entry.entry_type.name(),
            amount: entry.amount.get(),
            currency: entry.currency.to_string(),
            status: entry.status.name(),
            payment_id: entry.cause.payment_id().map(|id| id.to_string()),
            external_id: external_id.map(|external_id| external_id.as_str().to_owned()),
            refund_id: entry.cause.refund_id().map(|id| id.to_string()),
            invoice_id: entry.cause.invoice_id().map(|id| id.to_string()),
            statement_id: statement_id.map(|id| id.to_string()),
            payout_id: entry.cause.payout_id().map(|id| id.to_string()),
            topup_id: entry.cause.topup_id().map(|id| id.to_string()),
            dispute_id: entry.cause.dispute_id().map(|id| id.to_string()),
            parent_id: parent.map(|id| id.to_string()),
            parent_type: parent.map(|_| PARENT_TYPE),
            created_at: entry.created_at.unix_seconds(),
            effective_at: entry.effective_at.map(|at| at.unix_seconds()),
            canceled_at: entry.canceled_at.map(|at| at.unix_seconds()),
        }
    }
}
