//! The table of a payment's life, cell by cell: the effect of each action in each status.

use crate::words::*;
use crate::world::{ScenarioWorld, raw_id};
use till_domain::decide::Outcome;
use till_domain::dispute::DisputeOutcome;
use till_domain::effect::{EffectId, EffectKind, Timer, TimerKind};
use till_domain::ids::{DisputeId, PaymentId, RefundId};
use till_domain::payment::{
    AUTHORIZATION_LIFETIME_SECONDS, OperationKind, PENDING_LIFETIME_SECONDS, PaymentAction, PaymentStatus, Ruling,
};
use till_domain::records::Effects;
use till_domain::refusal::{DecisionError, Refusal};

/// A payment for which the acquirer is asked for an authorization.
fn initiated(world: &mut ScenarioWorld) -> PaymentId {
    let session = world.card_session();
    world.payment(initiate(session).authorize_only())
}

/// A pending payment that the action is possible for: a void, and giving up, while the customer must act.
fn pending(world: &mut ScenarioWorld, action: PaymentAction) -> PaymentId {
    let id = initiated(world);
    if action != PaymentAction::RequireAction {
        world.given(result(id, challenge_required()));
    }
    id
}

/// A payment in this status. If it is captured, its entries are on hold.
fn payment_in(world: &mut ScenarioWorld, status: PaymentStatus, action: PaymentAction) -> PaymentId {
    let id = match status {
        PaymentStatus::Pending => pending(world, action),
        PaymentStatus::Authorized => world.authorized_payment(),
        PaymentStatus::Successful => world.held(),
        PaymentStatus::Failed => {
            let id = initiated(world);
            world.given(result(id, declined()));
            id
        }
        PaymentStatus::Expired => {
            let id = initiated(world);
            world.after_seconds(PENDING_LIFETIME_SECONDS);
            world.given(expire(id));
            id
        }
        // An acquirer that authorized before the void does not do so again.
        PaymentStatus::Voided if action == PaymentAction::Succeed => {
            let id = pending(world, action);
            world.given(void(id));
            id
        }
        PaymentStatus::Voided => {
            let id = world.authorized_payment();
            world.given(void(id));
            world.given(void_done(id));
            id
        }
        PaymentStatus::Reversed => {
            let id = world.held();
            world.given(reverse(id));
            world.given(reversal_done(id));
            id
        }
        PaymentStatus::PartiallyRefunded => {
            let id = world.held();
            let refund = world.refund(refund(id).part(1));
            world.given(refund_done(refund));
            id
        }
        PaymentStatus::Refunded => {
            let id = world.held();
            let refund = world.refund(refund(id));
            world.given(refund_done(refund));
            id
        }
        PaymentStatus::Disputed => {
            let id = world.held();
            world.given(dispute_part(id, 4_000));
            id
        }
    };
    assert_eq!(world.payment_row(id).status, status);
    id
}

/// Does the action, and returns its refusal, or true when it changed anything.
fn act(world: &mut ScenarioWorld, id: PaymentId, action: PaymentAction) -> Result<bool, Refusal> {
    let ask: Ask = match action {
        PaymentAction::Capture => capture(id),
        PaymentAction::Void => void(id),
        PaymentAction::Reverse => reverse(id),
        PaymentAction::Refund => refund(id).part(1).into(),
        PaymentAction::Settle | PaymentAction::Expire => {
            let is_pending = world.payment_row(id).status == PaymentStatus::Pending;
            world.after_seconds(AUTHORIZATION_LIFETIME_SECONDS);
            let is_asked = |timer: &Timer| match timer.kind {
                TimerKind::Settle(_) => action == PaymentAction::Settle,
                TimerKind::Lapse(_) => action == PaymentAction::Expire,
                TimerKind::ExpireMetadata(_)
                | TimerKind::EvidenceDue(_)
                | TimerKind::ActionDue(_)
                | TimerKind::CheckoutDue(_)
                | TimerKind::CloseStatement
                | TimerKind::EraseTokens(_) => false,
            };
            let timers: Vec<Timer> = world.timers().into_iter().filter(is_asked).collect();
            if action == PaymentAction::Expire && is_pending { expire(id) } else { fire(timers) }
        }
        PaymentAction::Succeed => result(id, approved()),
        PaymentAction::Fail => result(id, declined()),
        PaymentAction::RequireAction => result(id, challenge_required()),
        PaymentAction::GiveUp => cancel_session(world.payment_row(id).session_id),
        PaymentAction::OpenDispute => dispute_part(id, 1),
        PaymentAction::ChallengeDispute => challenge(dispute_about(world, id), "it was delivered"),
        PaymentAction::ConcedeDispute => concede(dispute_about(world, id)),
        PaymentAction::CloseDispute => close(dispute_about(world, id), DisputeOutcome::Lost),
    };
    match world.step(&ask) {
        Ok(Outcome::Effective { .. }) => Ok(true),
        Ok(_) => Ok(false),
        Err(DecisionError::Refused(refusal)) => Err(refusal),
        Err(DecisionError::Unreadable(unreadable)) => panic!("{unreadable}"),
    }
}

/// The dispute about a payment; when there is none, an unknown id.
fn dispute_about(world: &ScenarioWorld, id: PaymentId) -> DisputeId {
    let about = world.payment_row(id).open_dispute;
    about.map_or(raw_id(9, DisputeId::from_raw), |dispute| dispute.id)
}

/// Has the acquirer carry out its open call.
fn carry_out(world: &mut ScenarioWorld, id: PaymentId, refund_id: Option<RefundId>) {
    if let Some(refund_id) = refund_id {
        world.given(refund_done(refund_id));
    }
    let Some(effect) = world.find::<Effects>(EffectId::operation(id)) else { return };
    let done = |kind| operation_answered(id, kind, 1, succeeded());
    match effect.kind {
        EffectKind::Capture => _ = world.given(done(OperationKind::Capture)),
        EffectKind::Void => _ = world.given(done(OperationKind::Void)),
        EffectKind::Reverse => _ = world.given(done(OperationKind::Reverse)),
        EffectKind::VoidLate | EffectKind::RefundLate => _ = world.given(given_back(id, succeeded())),
        EffectKind::CancelAction => _ = world.given(action_canceled(id)),
        EffectKind::Authorize | EffectKind::AuthorizePrepared | EffectKind::Refund(_) => {}
    }
}

#[test]
fn every_reachable_cell_has_the_effect_in_the_table() {
    for status in PaymentStatus::ALL {
        for action in PaymentAction::ALL {
            check_cell(status, action);
        }
    }
}

fn check_cell(status: PaymentStatus, action: PaymentAction) {
    let (mut world, id) = ScenarioWorld::open_with(|world| payment_in(world, status, action));
    let (before, records) = (world.payment_row(id), world.log.len());
    let (allowed, ruling) = (before.allows(action, world.clock), status.ruling(action));
    let acted = act(&mut world, id, action);
    let cell = format!("{action:?} of {status:?}");
    let is_call = matches!(
        action,
        PaymentAction::Capture
            | PaymentAction::Void
            | PaymentAction::Reverse
            | PaymentAction::Refund
            | PaymentAction::OpenDispute
    );
    assert!(!is_call || allowed == acted.is_ok(), "{cell}: the flag is true exactly where the call is taken");
    let refund_id = world.all::<till_domain::records::Refunds>().last().map(|refund| refund.id);
    carry_out(&mut world, id, refund_id.filter(|_| action == PaymentAction::Refund && acted.is_ok()));
    let after = world.payment_row(id).status;
    match ruling {
        Ruling::Refused => {
            assert!(acted.is_err_and(|refusal| is_proper(action, refusal)), "{cell}: {acted:?}");
            assert_eq!(world.log.len(), records, "{cell}");
        }
        Ruling::Nothing => assert_eq!((acted.is_ok(), after), (true, status), "{cell}"),
        // A reversed payment has nothing on hold, and a refunded one settles as any other.
        Ruling::Stays => {
            let is_on_hold = status != PaymentStatus::Reversed;
            assert_eq!((acted, after), (Ok(is_on_hold), status), "{cell}");
        }
        Ruling::Becomes(expected) => assert_eq!((acted, after), (Ok(true), expected), "{cell}"),
        Ruling::Authorizes => assert_eq!((acted, after), (Ok(true), PaymentStatus::Authorized), "{cell}"),
        Ruling::WorkedOut => assert_eq!((acted, after), (Ok(true), worked_out(status, action)), "{cell}"),
        Ruling::GivenBack => assert_eq!((acted, after), (Ok(true), status), "{cell}"),
    }
    crate::invariants::check(&world);
}

/// True for the refusal of this action. A payment that is not disputed has no dispute that could be named.
const fn is_proper(action: PaymentAction, refusal: Refusal) -> bool {
    match action {
        PaymentAction::Refund => matches!(refusal, Refusal::NotRefundable { .. }),
        PaymentAction::ChallengeDispute | PaymentAction::ConcedeDispute | PaymentAction::CloseDispute => {
            matches!(refusal, Refusal::DisputeNotFound)
        }
        _ => matches!(refusal, Refusal::InvalidState { .. }),
    }
}

/// The status after a partial refund, or after a charge-back of a part.
fn worked_out(before: PaymentStatus, action: PaymentAction) -> PaymentStatus {
    match (before, action) {
        (PaymentStatus::Disputed, PaymentAction::Refund) => PaymentStatus::Disputed,
        (_, PaymentAction::Refund) => PaymentStatus::PartiallyRefunded,
        (_, _) => PaymentStatus::Successful,
    }
}
