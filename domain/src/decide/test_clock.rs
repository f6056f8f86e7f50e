//! Test clocks: a merchant's time that the operator advances, so that everything that is due happens.
//!
//! A call is judged first. Then the clock is advanced from timer to timer, and each fires at its own instant. When
//! nothing more is due before the instant of the call, the clock is set to that instant.

use super::context::{Context, Decision};
use super::timers;
use crate::command::{AdvanceClock, StepClock};
use crate::event::{Answer, Event};
use crate::ids::MerchantId;
use crate::merchant::ADVANCE_MAX_SECONDS;
use crate::records::{MerchantState, Records};
use crate::refusal::{DecisionError, Refusal};
use crate::time::Millis;

/// A call is refused as a whole, or accepted as a whole.
pub(super) fn judge(
    state: &MerchantState,
    command: &AdvanceClock,
    context: &Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    check_has_one(state)?;
    let (now, latest) = (context.now, context.now.plus_seconds(ADVANCE_MAX_SECONDS));
    if command.to <= now {
        return Err(Refusal::ClockNotForward { now });
    }
    if command.to > latest {
        return Err(Refusal::ClockTooFar { latest });
    }
    Ok((Decision::nothing(), Answer::Changed(true)))
}

/// Everything that is due until then has happened. The wall clock may have passed the instant meanwhile.
pub(super) fn advance(
    state: &MerchantState,
    command: &AdvanceClock,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), Refusal> {
    check_has_one(state)?;
    let set = set(command.merchant_id, command.to, context);
    Ok((Decision { events: set.into_iter().collect(), vault: Vec::new() }, Answer::Changed(true)))
}

/// Timers fire at the instant to which the clock is advanced, or now when that instant has passed.
pub(super) fn step(
    records: &impl Records,
    command: &StepClock,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    check_has_one(records.state())?;
    let set = set(command.merchant_id, command.to, context);
    let (mut decision, _) = timers::fire_timers(records, &command.timers, context)?;
    decision.events.splice(0..0, set);
    let changed = Answer::Changed(!decision.events.is_empty());
    Ok((decision, changed))
}

fn check_has_one(state: &MerchantState) -> Result<(), Refusal> {
    state.test_clock.map(|_| ()).ok_or(Refusal::NoTestClock)
}

fn set(merchant_id: MerchantId, to: Millis, context: &mut Context<'_>) -> Option<Event> {
    (to > context.now).then(|| Event::TestClockSet { merchant_id, test_clock: context.advance_to(to) })
}
