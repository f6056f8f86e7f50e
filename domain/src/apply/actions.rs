//! The fold of the customer's part of a payment into rows.

use super::change::{change, take_row};
use crate::customer_action::{ActionStage, Authentication, CustomerAction};
use crate::effect::{Effect, EffectId, EffectKind, Timer, TimerKind};
use crate::event::Event;
use crate::ids::PaymentId;
use crate::payment::Payment;
use crate::preparation::Preparation;
use crate::records::{
    CustomerActions, Effects, Payments, Preparations, Present, RowsMut, Sessions, Timers, Unreadable,
};
use crate::session::Instrument;

/// Folds an event of the customer's part in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    if let Event::ActionRequired { payment_id, action } = event {
        require(*payment_id, action, rows)
    } else if let Event::ActionTaken { payment_id } = event {
        let mut payment = take_row::<Payments>(*payment_id, rows)?;
        close(&mut payment, rows);
        rows.put::<Payments>(*payment_id, payment);
        Ok(())
    } else if let Event::ActionCancelRequested { effect } = event {
        // The payment is written also when nothing of it changes: whether it is open follows from it and its call.
        change::<Payments>(rows, effect.payment_id, |_| ())?;
        rows.put::<Effects>(effect.id(), effect.clone());
        Ok(())
    } else if let Event::CallPrepared(prepared) = event {
        prepare(prepared, rows)
    } else if let Event::CardTold { payment_id, card } = event {
        change::<Payments>(rows, *payment_id, |payment| {
            payment.instrument = Instrument::AcquirerPage { card: Some(card.clone()) };
        })
    } else if let Event::SessionCanceled { session_id, at } = event {
        change::<Sessions>(rows, *session_id, |session| session.expires_at = *at)
    } else {
        Ok(())
    }
}

/// An open authorization is a prepared one from now on.
fn prepare(prepared: &Preparation, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    let id = EffectId::operation(prepared.payment_id);
    rows.put::<Preparations>(prepared.payment_id, prepared.clone());
    if let Some(effect) = rows.get::<Effects>(id)?.filter(|effect| effect.kind == EffectKind::Authorize) {
        rows.put::<Effects>(id, Effect { kind: EffectKind::AuthorizePrepared, ..effect });
    }
    Ok(())
}

fn require(id: PaymentId, action: &CustomerAction, rows: &mut impl RowsMut) -> Result<(), Unreadable> {
    rows.put::<CustomerActions>(id, action.clone());
    rows.put::<Timers>(Timer { due: action.expires_at, kind: TimerKind::ActionDue(id) }, Present);
    change::<Payments>(rows, id, |payment| {
        payment.action = Some(ActionStage::Open(action.expires_at));
        payment.authentication = action.authenticates.then(Authentication::challenged);
    })
}

/// Removes what is kept of an action while the customer must act.
fn close(payment: &mut Payment, rows: &mut impl RowsMut) {
    let Some(ActionStage::Open(due)) = payment.action else { return };
    rows.remove::<CustomerActions>(payment.id);
    rows.remove::<Timers>(Timer { due, kind: TimerKind::ActionDue(payment.id) });
    payment.action = Some(ActionStage::Over);
}

/// Ends the customer's part of a payment that is authorized or over, with the authentication that was told, if one was.
pub(super) fn end(payment: &mut Payment, told: Option<Authentication>, rows: &mut impl RowsMut) {
    close(payment, rows);
    payment.authentication = told.or_else(|| payment.authentication.map(Authentication::at_end_of_payment));
}
