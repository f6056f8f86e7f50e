//! Shapes of the ledger.

use till_domain::ledger::{
    Account, BalanceTotals, Cause, Direction, Entry, EntryStatus, EntryType, Invoice, Leg, Topup, Transaction,
};

use till_domain::records::Unreadable;

use super::codec::{Decode, Out, ShapeError};
use super::personal::Personal;
use super::shape::{Shape, shape_enum, shape_struct};

shape_enum! {
    /// An account of a merchant.
    AccountV1 of Account {
        Balance,
        AcquirerClearing,
        BankClearing,
        Fees,
        Invoices,
        Interest,
    }
}

shape_enum! {
    /// The side of an account that an entry is on.
    DirectionV1 of Direction {
        Credit,
        Debit,
    }
}

shape_enum! {
    /// The purpose of an entry.
    EntryTypeV1 of EntryType {
        AddPrefund,
        Payment,
        PaymentFee,
        Refund,
        Invoice,
        PayOut,
        Dispute,
        Interest,
    }
}

shape_enum! {
    /// The status of an entry.
    EntryStatusV1 of EntryStatus {
        OnHold,
        Effective,
        Canceled,
    }
}

shape_struct! {
    /// One side of a transaction on one account.
    LegV1 of Leg {
        entry_id: [u8; 16],
        account: AccountV1,
        direction: DirectionV1,
        entry_type: EntryTypeV1,
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
        status: EntryStatusV1,
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
        direction: DirectionV1,
        entry_type: EntryTypeV1,
        amount: u64,
        currency: [u8; 3],
        status: EntryStatusV1,
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

/// Sums of the entries on the balance, in minor units, when a capture covers every debit on hold.
#[derive(Debug, Decode)]
pub(super) struct BalanceTotalsV1 {
    effective_credit_minor: u64,
    effective_debit_minor: u64,
    held_credit_minor: u64,
    held_debit_minor: u64,
}

impl BalanceTotalsV1 {
    /// Returns true when the shape holds the totals.
    pub(super) const fn holds(totals: &BalanceTotals) -> bool {
        totals.uncovered_debit_minor == 0
    }
}

impl Shape<BalanceTotals> for BalanceTotalsV1 {
    fn write(totals: &BalanceTotals, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        if !BalanceTotalsV1::holds(totals) {
            return Err(Unreadable { reason: "debits that no capture covers have no shape".to_owned() });
        }
        u64::write(&totals.effective_credit_minor, personal, out)?;
        u64::write(&totals.effective_debit_minor, personal, out)?;
        u64::write(&totals.held_credit_minor, personal, out)?;
        u64::write(&totals.held_debit_minor, personal, out)
    }

    fn unpack(self, _: &dyn Personal) -> Result<BalanceTotals, ShapeError> {
        Ok(BalanceTotals {
            effective_credit_minor: self.effective_credit_minor,
            effective_debit_minor: self.effective_debit_minor,
            held_credit_minor: self.held_credit_minor,
            held_debit_minor: self.held_debit_minor,
            uncovered_debit_minor: 0,
        })
    }
}

shape_struct! {
    /// Sums of the entries on the balance, in minor units.
    BalanceTotalsV2 of BalanceTotals {
        effective_credit_minor: u64,
        effective_debit_minor: u64,
        held_credit_minor: u64,
        held_debit_minor: u64,
        uncovered_debit_minor: u64,
    }
}
