//! The JSON of an entry of the activity log: specification, section 2.4.

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::ids::{ActivityId, KeyId, PlanId};
use till_domain::text::Email;

use super::object::object;

object! {
    /// An entry of the activity log.
    pub(crate) ACTIVITY_LOG "activity_log" as ActivityShape<'a> of (activity: &'a Activity) {
        activity_log_id: Id(ActivityId::PREFIX) = activity.id, "The entry's id (`act_...`), which cursors name.";
        created_at: TIMESTAMP = activity.at, "The time at which it was recorded.";
        activity_type: words_of(ActivityType) = activity.activity_type,
            "The kind of event.", such_as("PAYMENT_CAPTURED");
        actor_type: words(&["USER", "API_KEY", "SYSTEM"]) = activity.actor, "The kind of actor.", such_as("SYSTEM");
        actor_email: EMAIL or null = user_email(&activity.actor),
            "The address of the user who did it; the support address for the operator.";
        actor_key_id: Id(KeyId::PREFIX) or null = key_id(&activity.actor), "The uid of the API key that did it.";
        parent_type: words(&["PAYMENT"]) or null = activity.parent.map(|_| "PAYMENT"),
            "The kind of the related resource.";
        parent_id: STRING or null = activity.parent, "The related resource.";
        object_id: STRING or null = activity.object.id_text(),
            "The object that it is about.", such_as("pay_01h2e8kqvbfwea724h75qc655w");
        object_type: words(&ActivityObject::TYPE_NAMES) or null = activity.object.type_name(),
            "The kind of the object that it is about.", such_as("PAYMENT");
        user_email: EMAIL or null = activity.user_email, "The team member it is about.";
        new_plan_id: Id(PlanId::PREFIX) or null = activity.plan_switch.as_ref().map(|plans| plans.new.id),
            "The new plan, for a switch of plans.";
        new_plan_name: STRING or null = activity.plan_switch.as_ref().map(|plans| &plans.new.name),
            "The plan's name, for a switch of plans.";
        previous_plan_id: Id(PlanId::PREFIX) or null = activity.plan_switch.as_ref().map(|plans| plans.previous.id),
            "The previous plan, for a switch of plans.";
        previous_plan_name: STRING or null = activity.plan_switch.as_ref().map(|plans| &plans.previous.name),
            "The plan's name, for a switch of plans.";
    }
}

fn user_email(actor: &Actor) -> Option<&Email> {
    match actor {
        Actor::User { email } => email.as_ref(),
        Actor::ApiKey(_) | Actor::System => None,
    }
}

fn key_id(actor: &Actor) -> Option<KeyId> {
    match actor {
        Actor::ApiKey(key_id) => Some(*key_id),
        Actor::User { .. } | Actor::System => None,
    }
}
