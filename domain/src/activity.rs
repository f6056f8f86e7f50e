//! The activity log: each entry names an event, its actor and its object.

use crate::ids::{ActivityId, DisputeId, KeyId, MerchantId, PaymentId, PayoutId, RefundId};
use crate::plan::NamedPlan;
use crate::text::Email;
use crate::time::Millis;

/// The type of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityType {
    /// Payment funds captured.
    PaymentCaptured,
    /// Payment voided.
    PaymentVoided,
    /// Payment reversed: refunded in full, reversed or charged back.
    PaymentReversed,
    /// Refund requested.
    RefundCreated,
    /// Payout recorded.
    PayoutCreated,
    /// The merchant challenges a dispute.
    DisputeChallenged,
    /// The merchant conceded a dispute.
    DisputeConceded,
    /// A dispute went on to the provider.
    DisputeEscalated,
    /// The merchant switched its plan.
    PlanSwitched,
    /// A user was invited to the team.
    UserInvited,
    /// An invitation to the team was accepted.
    InvitationAccepted,
    /// A user was removed from the team.
    UserRemoved,
}

impl ActivityType {
    /// Every type.
    pub const ALL: [ActivityType; 12] = [
        ActivityType::PaymentCaptured,
        ActivityType::PaymentVoided,
        ActivityType::PaymentReversed,
        ActivityType::RefundCreated,
        ActivityType::PayoutCreated,
        ActivityType::DisputeChallenged,
        ActivityType::DisputeConceded,
        ActivityType::DisputeEscalated,
        ActivityType::PlanSwitched,
        ActivityType::UserInvited,
        ActivityType::InvitationAccepted,
        ActivityType::UserRemoved,
    ];

    /// The types of the group `dispute`.
    pub const DISPUTE: [ActivityType; 3] =
        [ActivityType::DisputeChallenged, ActivityType::DisputeEscalated, ActivityType::DisputeConceded];

    /// The name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ActivityType::PaymentCaptured => "PAYMENT_CAPTURED",
            ActivityType::PaymentVoided => "PAYMENT_VOIDED",
            ActivityType::PaymentReversed => "PAYMENT_REVERSED",
            ActivityType::RefundCreated => "REFUND_CREATED",
            ActivityType::PayoutCreated => "PAYOUT_CREATED",
            ActivityType::DisputeChallenged => "DISPUTE_CHALLENGED",
            ActivityType::DisputeConceded => "DISPUTE_CONCEDED",
            ActivityType::DisputeEscalated => "DISPUTE_ESCALATED",
            ActivityType::PlanSwitched => "PLAN_SWITCHED",
            ActivityType::UserInvited => "USER_INVITED",
            ActivityType::InvitationAccepted => "INVITATION_ACCEPTED",
            ActivityType::UserRemoved => "USER_REMOVED",
        }
    }

    /// The name by which lists are filtered.
    #[must_use]
    pub const fn filter_name(self) -> &'static str {
        match self {
            ActivityType::PaymentCaptured => "payment_captured",
            ActivityType::PaymentVoided => "payment_voided",
            ActivityType::PaymentReversed => "payment_reversed",
            ActivityType::RefundCreated => "refund_created",
            ActivityType::PayoutCreated => "payout_created",
            ActivityType::DisputeChallenged => "dispute_challenged",
            ActivityType::DisputeConceded => "dispute_conceded",
            ActivityType::DisputeEscalated => "dispute_escalated",
            ActivityType::PlanSwitched => "plan_switched",
            ActivityType::UserInvited => "user_invited",
            ActivityType::InvitationAccepted => "invitation_accepted",
            ActivityType::UserRemoved => "user_removed",
        }
    }
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
