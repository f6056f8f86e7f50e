//! Callers as the activity log names them, and what they do to payments.

use super::context::{Context, profile};
use crate::activity::{Activity, ActivityObject, ActivityType, Actor};
use crate::command::Caller;
use crate::ids::PaymentId;
use crate::money::AmountMinor;
use crate::records::MerchantState;
use crate::refusal::Refusal;
use crate::role::Role;
use crate::time::Millis;

/// The caller as activities name it: a member as its address, the operator as that of its support.
pub(super) fn actor(state: &MerchantState, caller: Caller) -> Result<Actor, Refusal> {
    Ok(match caller {
        Caller::ApiKey(key_id) => Actor::ApiKey(key_id),
        Caller::User(user_id) => Actor::User { email: state.users.get(&user_id).map(|user| user.email.clone()) },
        Caller::Operator => Actor::User { email: profile(state)?.support_email.clone() },
        Caller::Sdk(_) | Caller::System => Actor::System,
    })
}

/// The role of a live key or of a member, with its refund limit; none of other callers.
pub(super) fn role_of(state: &MerchantState, caller: Caller, now: Millis) -> Option<(Role, Option<AmountMinor>)> {
    match caller {
        Caller::ApiKey(id) => {
            state.keys.get(&id).filter(|key| key.is_live(now)).map(|key| (key.role, key.refund_limit))
        }
        Caller::User(id) => state.users.get(&id).map(|user| (user.role, user.refund_limit)),
        Caller::Sdk(_) | Caller::Operator | Caller::System => None,
    }
}

/// Refuses to give more back than the caller may in one call.
pub(super) fn check_refund_limit(
    state: &MerchantState,
    caller: Caller,
    amount: AmountMinor,
    now: Millis,
) -> Result<(), Refusal> {
    let limit = role_of(state, caller, now).and_then(|(_, limit)| limit).filter(|limit| amount > *limit);
    limit.map_or(Ok(()), |limit| Err(Refusal::AmountExceedsRefundLimit { limit_minor: limit.get() }))
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
