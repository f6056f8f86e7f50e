//! Callers as the activity log names them.

use super::context::profile;
use crate::activity::Actor;
use crate::command::Caller;
use crate::records::MerchantState;
use crate::refusal::Refusal;

/// The caller as activities name it: the operator as the address of its support.
pub(super) fn actor(state: &MerchantState, caller: Caller) -> Result<Actor, Refusal> {
    Ok(match caller {
        Caller::ApiKey(key_id) => Actor::ApiKey(key_id),
        Caller::Operator => Actor::User { email: profile(state)?.support_email.clone() },
        Caller::Sdk(_) | Caller::System => Actor::System,
    })
}
