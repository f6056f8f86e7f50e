//! Open calls to acquirers, by kind: the rows of one table each, which are removed with the records of the results.

use crate::effect::EffectId;
use crate::ids::{DisputeId, PayoutId};
use crate::records::AnyKey;

/// Declares the kinds of open calls, each with the table of its rows. `Payout(PayoutId) in OpenPayouts;` makes the
/// variant [`OpenCall::Payout`], whose row is under the key `AnyKey::OpenPayouts`.
macro_rules! open_calls {
    ($($(#[$doc:meta])* $kind:ident($id:ty) in $table:ident;)+) => {
        /// The name of an open call to an acquirer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OpenCall {
            $($(#[$doc])* $kind($id),)+
        }

        impl OpenCall {
            /// The key of its row.
            #[must_use]
            pub const fn key(self) -> AnyKey {
                match self {
                    $(OpenCall::$kind(id) => AnyKey::$table(id),)+
                }
            }

            /// The call whose row has this key; none for a key of another table.
            #[must_use]
            pub const fn of(key: &AnyKey) -> Option<OpenCall> {
                $(if let AnyKey::$table(id) = key {
                    return Some(OpenCall::$kind(*id));
                })+
                None
            }
        }
    };
}

open_calls! {
    /// One about a payment.
    Payment(EffectId) in Effects;
    /// One that pays a payout.
    Payout(PayoutId) in OpenPayouts;
    /// One that gives the evidence of a dispute.
    Evidence(DisputeId) in OpenEvidence;
}
