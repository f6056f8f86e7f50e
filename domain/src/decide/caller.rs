//! Callers as the activity log names them, and what they do to payments.

use super::context::{Context, profile};
use crate::activity::{Activity, ActivityObject, ActivityType, Actor};
use crate::command::Caller;
use crate::ids::PaymentId;
use crate::records::MerchantState;
use crate::refusal::Refusal;

/// The caller as activities name it: a member as its address, the operator as that of its support.
pub(super) fn actor(state: &MerchantState, caller: Caller) -> Result<Actor, Refusal> {
    Ok(match caller {
        Caller::ApiKey(key_id) => Actor::ApiKey(key_id),
        Caller::User(user_id) => Actor::User { email: state.users.get(&user_id).map(|user| user.email.clone()) },
        Caller::Operator => Actor::User { email: profile(state)?.support_email.clone() },
        Caller::Sdk(_) | Caller::System => Actor::System,
    })
}

/// An activity about a payment, by the actor that asked for it.
pub(super) fn activity(
    activity_type: ActivityType,
    payment_id: PaymentId,
    actor: Actor,
    context: &mut Context<'_>,
) -> Activity {
    Activity::new(context.mint(), context.now, activity_type, actor, ActivityObject::Payment(payment_id))
}
