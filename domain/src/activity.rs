//! The activity log: what happened, who did it, to what.

use crate::ids::{ActivityId, KeyId, PaymentId};
use crate::text::Email;
use crate::time::Millis;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityType {
    /// Payment funds captured.
    PaymentCaptured,
    /// Payment voided.
    PaymentVoided,
}

impl ActivityType {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ActivityType::PaymentCaptured => "PAYMENT_CAPTURED",
            ActivityType::PaymentVoided => "PAYMENT_VOIDED",
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// A person, by the address of the dashboard user or, for the operator's staff, of support.
    User {
        /// That address, when one is configured.
        email: Option<Email>,
    },
    /// A program, by its key.
    ApiKey(KeyId),
    /// Till itself.
    System,
}

impl Actor {
    /// The name of the kind on the wire.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Actor::User { .. } => "USER",
            Actor::ApiKey(_) => "API_KEY",
            Actor::System => "SYSTEM",
        }
    }
}

/// What an activity is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityObject {
    /// A payment.
    Payment(PaymentId),
}

impl ActivityObject {
    /// The name of the kind on the wire.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            ActivityObject::Payment(_) => "PAYMENT",
        }
    }

    /// The id on the wire.
    #[must_use]
    pub fn id_text(&self) -> String {
        match self {
            ActivityObject::Payment(id) => id.to_string(),
        }
    }
}

/// One entry of the activity log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id, which carries its time.
    pub id: ActivityId,
    /// When it was recorded.
    pub at: Millis,
    /// What happened.
    pub activity_type: ActivityType,
    /// Who did it.
    pub actor: Actor,
    /// To what.
    pub object: ActivityObject,
}
