//! The JSON of a ledger entry: specification, section 2.5.

use till_domain::ids::{
    DisputeId, EntryId, InvoiceId, PaymentId, PayoutId, RefundId, StatementId, TopupId, TransactionId,
};
use till_domain::ledger::{Direction, Entry, EntryStatus, EntryType};
use till_domain::text::ExternalId;

use super::object::object;

/// The only kind of parent.
pub(in crate::endpoints) const PARENT_TYPE: &str = "PAYMENT";

object! {
    /// An entry, with the closed statement of the month in which it became effective and the external identifier of
    /// what it was posted for.
    pub(crate) ENTRY "entry" as EntryShape<'a> of (
        entry: &'a Entry,
        statement_id: Option<StatementId>,
        external_id: Option<ExternalId>
    ) {
        entry_id: Id(EntryId::PREFIX) = entry.id, "The entry's id (`ent_...`), which cursors name.";
        transaction_id: Id(TransactionId::PREFIX) = entry.transaction_id,
            "The transaction (`txn_...`) that contains it.";
        direction: words_of(Direction) = entry.direction, "The side of the ledger.", such_as("CREDIT");
        type: words_of(EntryType) = entry.entry_type, "The purpose.", such_as("PAYMENT");
        amount: MINOR_UNITS = entry.amount, "The amount in minor units; always positive.", such_as("10000");
        currency: STRING = entry.currency, "The ISO 4217 code.", such_as("THB");
        status: words_of(EntryStatus) = entry.status, "The present status.", such_as("EFFECTIVE");
        payment_id: Id(PaymentId::PREFIX) or null = entry.cause.payment_id(),
            "The payment it is linked to.", in_examples;
        external_id: STRING or null = external_id,
            "The merchant's own reference of that payment, or of the payout; the operator's of the top-up or invoice.",
            such_as("order-1001");
        refund_id: Id(RefundId::PREFIX) or null = entry.cause.refund_id(), "The refund it is linked to.";
        invoice_id: Id(InvoiceId::PREFIX) or null = entry.cause.invoice_id(), "The invoice it is linked to.";
        statement_id: Id(StatementId::PREFIX) or null = statement_id,
            "The statement of the month in which it became effective, once the month is over.";
        payout_id: Id(PayoutId::PREFIX) or null = entry.cause.payout_id(), "The payout it is linked to.";
        topup_id: Id(TopupId::PREFIX) or null = entry.cause.topup_id(), "The top-up it is linked to.";
        dispute_id: Id(DisputeId::PREFIX) or null = entry.cause.dispute_id(), "The dispute it is linked to.";
        parent_id: Id(PaymentId::PREFIX) or null = entry.cause.disputed_payment_id(), "The payment of that dispute.";
        parent_type: words(&[PARENT_TYPE]) or null = entry.cause.disputed_payment_id().map(|_| PARENT_TYPE),
            "The kind of `parent_id`.";
        created_at: TIMESTAMP = entry.created_at, "The time at which it was posted.";
        effective_at: TIMESTAMP or null = entry.effective_at,
            "The time at which it became effective.", such_as("1767398400");
        canceled_at: TIMESTAMP or null = entry.canceled_at, "The time at which it was canceled.";
    }
}
