//! The activity log: each entry names an event, its actor and its object.

use crate::ids::{ActivityId, DisputeId, KeyId, MerchantId, PaymentId, PayoutId, RefundId};
use crate::plan::NamedPlan;
use crate::text::Email;
use crate::time::Millis;

word_enum! {
    /// The type of an activity. Lists are filtered by the `filter_name`.
    pub enum ActivityType: name, filter_name {
        /// Payment funds captured.
        PaymentCaptured => "PAYMENT_CAPTURED" | "payment_captured",
        /// Payment voided.
        PaymentVoided => "PAYMENT_VOIDED" | "payment_voided",
        /// Payment reversed: refunded in full, reversed or charged back.
        PaymentReversed => "PAYMENT_REVERSED" | "payment_reversed",
        /// Refund requested.
        RefundCreated => "REFUND_CREATED" | "refund_created",
        /// Payout recorded.
        PayoutCreated => "PAYOUT_CREATED" | "payout_created",
        /// The merchant challenges a dispute.
        DisputeChallenged => "DISPUTE_CHALLENGED" | "dispute_challenged",
        /// The merchant conceded a dispute.
        DisputeConceded => "DISPUTE_CONCEDED" | "dispute_conceded",
        /// A dispute went on to the provider.
        DisputeEscalated => "DISPUTE_ESCALATED" | "dispute_escalated",
        /// The merchant switched its plan.
        PlanSwitched => "PLAN_SWITCHED" | "plan_switched",
        /// A user was invited to the team.
        UserInvited => "USER_INVITED" | "user_invited",
        /// An invitation to the team was accepted.
        InvitationAccepted => "INVITATION_ACCEPTED" | "invitation_accepted",
        /// A user was removed from the team.
        UserRemoved => "USER_REMOVED" | "user_removed",
    }
}

impl ActivityType {
    /// The types of the group `dispute`.
    pub const DISPUTE: [ActivityType; 3] =
        [ActivityType::DisputeChallenged, ActivityType::DisputeEscalated, ActivityType::DisputeConceded];
}

/// The person or program that acted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// A person, by the address of the dashboard user or, for the operator's staff, of support.
    User {
        /// The address, when one is configured.
        email: Option<Email>,
    },
    /// A program, by its key.
    ApiKey(KeyId),
    /// Till itself.
    System,
}

impl Actor {
    /// The name of the kind in the API.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Actor::User { .. } => "USER",
            Actor::ApiKey(_) => "API_KEY",
            Actor::System => "SYSTEM",
        }
    }
}

/// The object that an activity is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityObject {
    /// A payment.
    Payment(PaymentId),
    /// A refund.
    Refund(RefundId),
    /// A dispute.
    Dispute(DisputeId),
    /// A payout.
    Payout(PayoutId),
    /// The merchant itself: its team or its plan.
    Merchant(MerchantId),
}

impl ActivityObject {
    /// The names of the kinds in the API.
    pub const TYPE_NAMES: [&str; 4] = ["PAYMENT", "REFUND", "DISPUTE", "PAYOUT"];

    /// The name of the kind in the API; none for the merchant itself.
    #[must_use]
    pub const fn type_name(&self) -> Option<&'static str> {
        match self {
            ActivityObject::Payment(_) => Some("PAYMENT"),
            ActivityObject::Refund(_) => Some("REFUND"),
            ActivityObject::Dispute(_) => Some("DISPUTE"),
            ActivityObject::Payout(_) => Some("PAYOUT"),
            ActivityObject::Merchant(_) => None,
        }
    }

    /// The id as a text of the API.
    #[must_use]
    pub fn id_text(&self) -> String {
        match self {
            ActivityObject::Payment(id) => id.to_string(),
            ActivityObject::Refund(id) => id.to_string(),
            ActivityObject::Dispute(id) => id.to_string(),
            ActivityObject::Payout(id) => id.to_string(),
            ActivityObject::Merchant(id) => id.to_string(),
        }
    }

    /// The object with an id of the API, if it is of a kind that activities are about.
    #[must_use]
    pub fn from_id_text(text: &str) -> Option<ActivityObject> {
        let payment = text.parse().map(ActivityObject::Payment);
        let found = payment.or_else(|_| text.parse().map(ActivityObject::Refund));
        let found = found.or_else(|_| text.parse().map(ActivityObject::Dispute));
        let found = found.or_else(|_| text.parse().map(ActivityObject::Payout));
        found.or_else(|_| text.parse().map(ActivityObject::Merchant)).ok()
    }
}

/// The change of a merchant from one plan to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSwitch {
    /// The target plan.
    pub new: NamedPlan,
    /// The prior plan.
    pub previous: NamedPlan,
}

/// One entry of the activity log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// Its id, which carries its time.
    pub id: ActivityId,
    /// The time at which it was recorded.
    pub at: Millis,
    /// The type of the event.
    pub activity_type: ActivityType,
    /// The person or program that acted.
    pub actor: Actor,
    /// The object that it is about.
    pub object: ActivityObject,
    /// The payment of a refund or dispute.
    pub parent: Option<PaymentId>,
    /// The user who was invited or removed, or who accepted an invitation.
    pub user_email: Option<Email>,
    /// The plans, when one was switched.
    pub plan_switch: Option<PlanSwitch>,
}

impl Activity {
    /// An entry without anything related.
    #[must_use]
    pub const fn new(
        id: ActivityId,
        at: Millis,
        activity_type: ActivityType,
        actor: Actor,
        object: ActivityObject,
    ) -> Activity {
        Activity { id, at, activity_type, actor, object, parent: None, user_email: None, plan_switch: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_the_name_in_lower_case() {
        for found in ActivityType::ALL {
            assert_eq!(found.filter_name(), found.name().to_lowercase());
        }
    }

    #[test]
    fn an_object_is_found_again_by_its_id_and_no_other_id_is_one() {
        let suffix = "01h2e8kqvbfwea724h75qc655w";
        let mut names = Vec::new();
        for prefix in ["pay", "rfn", "dsp", "pyo", "mer"] {
            let text = format!("{prefix}_{suffix}");
            let object = ActivityObject::from_id_text(&text);
            assert_eq!(object.map(|object| object.id_text()), Some(text));
            names.extend(object.and_then(|object| object.type_name()));
        }
        assert_eq!(names, ActivityObject::TYPE_NAMES);
        assert_eq!(ActivityObject::from_id_text(&format!("ctc_{suffix}")), None);
    }
}
