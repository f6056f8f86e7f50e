//! Shapes of the ledger.

use till_domain::ledger::{BalanceTotals, Cause, Entry, Invoice, Leg, Topup, Transaction};

use super::declared::{shape_enum, shape_struct};
use super::tag::Tag;

shape_struct! {
    /// One side of a transaction on one account.
    LegV1 of Leg {
        entry_id: [u8; 16],
        account: Tag,
        direction: Tag,
        entry_type: Tag,
        amount: u64,
    }
}

shape_enum! {
    /// The object that a transaction is linked to.
    CauseV1 of Cause {
        Topup(topup_id: [u8; 16]),
        Capture(payment_id: [u8; 16]),
        Refund(payment_id: [u8; 16], refund_id: [u8; 16]),
        Invoice(invoice_id: [u8; 16]),
        Payout(payout_id: [u8; 16]),
        Dispute(payment_id: [u8; 16], dispute_id: [u8; 16]),
    }
}

shape_struct! {
    /// A transaction.
    TransactionV1 of Transaction {
        id: [u8; 16],
        cause: CauseV1,
        currency: [u8; 3],
        legs: Vec<LegV1>,
        status: Tag,
        created_at: u64,
        settles_at: Option<u64>,
        effective_at: Option<u64>,
        canceled_at: Option<u64>,
    }
}

shape_struct! {
    /// An entry on the balance.
    EntryV1 of Entry {
        id: [u8; 16],
        transaction_id: [u8; 16],
        direction: Tag,
        entry_type: Tag,
        amount: u64,
        currency: [u8; 3],
        status: Tag,
        cause: CauseV1,
        created_at: u64,
        effective_at: Option<u64>,
        canceled_at: Option<u64>,
    }
}

shape_struct! {
    /// A top-up of the balance.
    TopupV1 of Topup {
        id: [u8; 16],
        external_id: Option<String>,
        amount: u64,
        transaction_id: [u8; 16],
        created_at: u64,
    }
}

shape_struct! {
    /// An invoice that was charged to the balance.
    InvoiceV1 of Invoice {
        id: [u8; 16],
        external_id: Option<String>,
        amount: u64,
        description: Option<String>,
        transaction_id: [u8; 16],
        created_at: u64,
    }
}

shape_struct! {
    /// Sums of the entries on the balance, in minor units.
    BalanceTotalsV1 of BalanceTotals {
        effective_credit_minor: u64,
        effective_debit_minor: u64,
        held_credit_minor: u64,
        held_debit_minor: u64,
        uncovered_debit_minor: u64,
    }
}
