//! The operations on payments after their authorization: captures, voids, refunds.

use std::rc::Rc;

use till_domain::ids::RefundId;

use super::amounts::{CAPTURED_PART_MINOR, INITIATED_MINOR, REFUNDED_PART_MINOR};
use super::load_client::LoadClient;
use super::payments::PreparedPayment;
use super::world::RunContext;
use crate::client::{HttpAnswer, Template};
use crate::recording::{MadeObject, MeasuredStep, Trouble};

/// One in this number of captures takes a part of the authorized amount.
const CAPTURES_FOR_A_PART: usize = 4;

/// Captures the next authorized payment, or a part of it.
pub(super) async fn capture(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let (number, payment) = world.authorized.take().ok_or(Trouble::NothingLeft)?;
    let shop = &world.stock.shops[payment.shop];
    let (template, amount_minor) = match number % CAPTURES_FOR_A_PART {
        0 => (&shop.capture_part, CAPTURED_PART_MINOR),
        _ => (&shop.capture, INITIATED_MINOR),
    };
    Trouble::unless_true(&call(payment, template, client).await?)?;
    payment.acknowledged.captured(amount_minor);
    if client.recorder.borrow_mut().payment(payment.id, amount_minor) {
        return Ok(MeasuredStep::CapturePayment);
    }
    Err(Trouble::Wrong(format!("the payment {} is captured twice", payment.id)))
}

/// Voids the next authorized payment.
pub(super) async fn void(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let (_, payment) = world.authorized.take().ok_or(Trouble::NothingLeft)?;
    let shop = &world.stock.shops[payment.shop];
    Trouble::unless_true(&call(payment, &shop.void, client).await?)?;
    payment.acknowledged.voided();
    Ok(MeasuredStep::VoidPayment)
}

/// Refunds a part of a captured payment: the answer is the id of a refund that was not known before.
pub(super) async fn refund(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let payment = world.captured.take_for_refund().ok_or(Trouble::NothingLeft)?;
    let shop = &world.stock.shops[payment.shop];
    let recorder = Rc::clone(&client.recorder);
    let answer = call(payment, &shop.refund_part, client).await;
    let answer = answer.inspect_err(|_| recorder.borrow_mut().doubtful(REFUNDED_PART_MINOR))?;
    let refund: RefundId = Trouble::unless_id("the id of a refund", &answer)?;
    payment.acknowledged.refunded(REFUNDED_PART_MINOR);
    if recorder.borrow_mut().record_made(MadeObject::Refund, refund.to_bytes(), REFUNDED_PART_MINOR) {
        return Ok(MeasuredStep::RefundPayment);
    }
    Err(Trouble::wrong("the id of a new refund", &answer))
}

/// Makes a call about a payment. A call that fails may have taken effect nevertheless.
async fn call<'a>(
    payment: &PreparedPayment,
    template: &Template,
    client: &'a mut LoadClient,
) -> Result<HttpAnswer<'a>, Trouble> {
    payment.write(template, &mut client.request);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await);
    answer.inspect_err(|_| payment.acknowledged.doubt())
}
