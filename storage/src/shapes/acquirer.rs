//! Shapes of acquirers and of merchants' accounts at them.

use till_domain::acquirer::{AcquirerAccount, AcquirerRef, AcquirerUse};

use super::declared::{shape_enum, shape_struct};
use super::tag::Tag;

shape_enum! {
    /// The party that carries a payment, a payout or the payments of a method out.
    AcquirerRefV1 of AcquirerRef {
        Sandbox,
        Account(acquirer: Tag, acquirer_id: [u8; 16]),
    }
}

shape_struct! {
    /// A merchant's account at an acquirer. Its secrets are in the vault.
    AcquirerAccountV1 of AcquirerAccount {
        id: [u8; 16],
        acquirer: Tag,
        name: String,
        mode: Tag,
        account: Option<String>,
        card_entry: Tag,
        secret_hint: String,
        has_webhook_secret: bool,
        created_at: u64,
    }
}

shape_struct! {
    /// What payments and refunds of an account mean for its removal.
    AcquirerUseV1 of AcquirerUse {
        open_payments: u64,
        last_at: u64,
    }
}
