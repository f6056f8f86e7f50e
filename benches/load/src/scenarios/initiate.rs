//! One initiation.

use anyhow::Context;
use till_domain::ids::PaymentId;

use super::amounts::INITIATED_MINOR;
use super::load_client::LoadClient;
use super::prepare::check_accepted;
use super::sessions::{AskingPayment, SESSION_BYTES, SessionCourse};
use super::shop::LoadMerchant;
use super::world::RunContext;
use crate::client::Connection;
use crate::recording::{MeasuredStep, Trouble};

/// Initiates with the next session: the answer is the id of a payment that was not known before. A customer who is
/// asked acts after the operation.
pub(super) async fn initiate(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let session = world.sessions.take().ok_or(Trouble::NothingLeft)?;
    world.stock.shops[session.shop].initiate.write(&session.id, &mut client.request);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await)?;
    let payment: PaymentId = Trouble::unless_id("the id of a payment", &answer)?;
    let amount_minor = if session.course == SessionCourse::Approved { INITIATED_MINOR } else { 0 };
    if !client.recorder.borrow_mut().payment(payment, amount_minor) {
        return Err(Trouble::wrong("the id of a new payment", &answer));
    }
    match session.course {
        SessionCourse::Approved => {}
        SessionCourse::Declined => world.declined(session.shop, payment),
        SessionCourse::Asking(method) => {
            client.asking = Some(AskingPayment { shop: session.shop, session: session.id, id: payment, method });
        }
    }
    Ok(MeasuredStep::InitiatePaymentFlow)
}

/// Initiates a payment beforehand, and returns its amount.
pub(super) async fn initiate_session(
    shop: &LoadMerchant,
    session: &[u8; SESSION_BYTES],
    connection: &mut Connection,
) -> anyhow::Result<u64> {
    let mut request = Vec::new();
    shop.initiate.write(session, &mut request);
    let answer = check_accepted("initiate a payment", connection.call(&request).await)?;
    answer.id().context("failed to initiate a payment: the answer is not an id")?;
    Ok(INITIATED_MINOR)
}
