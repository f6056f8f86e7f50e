//! The JSON of an entry of the activity log: specification, section 2.4.

use serde::Serialize;
use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::ids::{ActivityId, KeyId, PlanId};

use crate::protocol::declaration::{Attribute, ObjectType, ValueType, words_of};

pub(in crate::endpoints) static ACTIVITY_LOG: ObjectType = ObjectType {
    name: "activity_log",
    attributes: &[
        Attribute::always(
            "activity_log_id",
            ValueType::Id(ActivityId::PREFIX),
            "The entry's id (`act_...`), which cursors name.",
        ),
        Attribute::always("created_at", ValueType::TIMESTAMP, "The time at which it was recorded."),
        Attribute::always("activity_type", words_of!(ActivityType), "The kind of event.").such_as("PAYMENT_CAPTURED"),
        Attribute::always("actor_type", ValueType::words(&["USER", "API_KEY", "SYSTEM"]), "The kind of actor.")
            .such_as("SYSTEM"),
        Attribute::nullable(
            "actor_email",
            ValueType::EMAIL,
            "The address of the user who did it; the support address for the operator.",
        ),
        Attribute::nullable("actor_key_id", ValueType::Id(KeyId::PREFIX), "The uid of the API key that did it."),
        Attribute::nullable("parent_type", ValueType::words(&["PAYMENT"]), "The kind of the related resource."),
        Attribute::nullable("parent_id", ValueType::STRING, "The related resource."),
        Attribute::nullable("object_id", ValueType::STRING, "The object that it is about.")
            .such_as("pay_01h2e8kqvbfwea724h75qc655w"),
        Attribute::nullable(
            "object_type",
            ValueType::words(&ActivityObject::TYPE_NAMES),
            "The kind of the object that it is about.",
        )
        .such_as("PAYMENT"),
        Attribute::nullable("user_email", ValueType::EMAIL, "The team member it is about."),
        Attribute::nullable("new_plan_id", ValueType::Id(PlanId::PREFIX), "The new plan, for a switch of plans."),
        Attribute::nullable("new_plan_name", ValueType::STRING, "The plan's name, for a switch of plans."),
        Attribute::nullable(
            "previous_plan_id",
            ValueType::Id(PlanId::PREFIX),
            "The previous plan, for a switch of plans.",
        ),
        Attribute::nullable("previous_plan_name", ValueType::STRING, "The plan's name, for a switch of plans."),
    ],
};

#[derive(Serialize)]
pub(crate) struct ActivityShape {
    activity_log_id: String,
    created_at: u64,
    activity_type: &'static str,
    actor_type: &'static str,
    actor_email: Option<String>,
    actor_key_id: Option<String>,
    parent_type: Option<&'static str>,
    parent_id: Option<String>,
    object_id: Option<String>,
    object_type: Option<&'static str>,
    user_email: Option<String>,
    new_plan_id: Option<String>,
    new_plan_name: Option<String>,
    previous_plan_id: Option<String>,
    previous_plan_name: Option<String>,
}

impl ActivityShape {
    /// The object of an entry.
    pub(crate) fn new(activity: &Activity) -> ActivityShape {
        let (actor_email, actor_key_id) = match &activity.actor {
            Actor::User { email } => (email.as_ref().map(|email| email.as_str().to_owned()), None),
            Actor::ApiKey(key_id) => (None, Some(key_id.to_string())),
            Actor::System => (None, None),
        };
        let switched = activity.plan_switch.as_ref();
        ActivityShape {
            activity_log_id: activity.id.to_string(),
            created_at: activity.at.unix_seconds(),
            activity_type: activity.activity_type.name(),
            actor_type: activity.actor.type_name(),
            actor_email,
            actor_key_id,
            parent_type: activity.parent.map(|_| "PAYMENT"),
            parent_id: activity.parent.map(|payment_id| payment_id.to_string()),
            object_id: Some(activity.object.id_text()),
            object_type: activity.object.type_name(),
            user_email: activity.user_email.as_ref().map(|email| email.as_str().to_owned()),
            new_plan_id: switched.map(|plans| plans.new.id.to_string()),
            new_plan_name: switched.map(|plans| plans.new.name.as_str().to_owned()),
            previous_plan_id: switched.map(|plans| plans.previous.id.to_string()),
            previous_plan_name: switched.map(|plans| plans.previous.name.as_str().to_owned()),
        }
    }
}
