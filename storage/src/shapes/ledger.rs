//! Shapes of the ledger.

use till_domain::ledger::{
    Account, BalanceTotals, Cause, Direction, Entry, EntryStatus, EntryType, Leg, Topup, Transaction,
};

use super::shape::{shape_enum, shape_struct};

shape_enum! {
    /// An account of a merchant.
    AccountV1 of Account {
        Balance,
        AcquirerClearing,
        BankClearing,
        Fees,
    }
}

shape_enum! {
    /// Which side of an account an entry is on.
    DirectionV1 of Direction {
        Credit,
        Debit,
    }
}

shape_enum! {
    /// What an entry is for.
    EntryTypeV1 of EntryType {
        AddPrefund,
        Payment,
        PaymentFee,
    }
}

shape_enum! {
    /// Where an entry stands.
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
    /// What a transaction is linked to.
    CauseV1 of Cause {
        Topup(topup_id: [u8; 16]),
        Capture(payment_id: [u8; 16]),
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
    /// Sums of the entries on the balance, in minor units.
    BalanceTotalsV1 of BalanceTotals {
        effective_credit_minor: u64,
        effective_debit_minor: u64,
        held_credit_minor: u64,
        held_fee_minor: u64,
    }
}
