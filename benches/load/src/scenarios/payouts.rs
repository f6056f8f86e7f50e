//! Payouts of merchants with sufficient balances.

use std::rc::Rc;

use serde_json::json;
use till_domain::ids::PayoutId;

use super::amounts::{FUNDS_MINOR, PAYOUT_MINOR};
use super::load_client::LoadClient;
use super::prepare::{Lines, OPERATOR_CALLS_AT_ONCE};
use super::stock::Stock;
use super::world::RunContext;
use crate::recording::{MadeObject, MeasuredStep, Trouble};

/// Sends a payout: the answer is the id of a payout that was not known before.
pub(super) async fn send(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let shop = &world.stock.shops[world.distribution.draw(&mut client.dice)];
    let recorder = Rc::clone(&client.recorder);
    let answer = Trouble::unless_accepted(client.connection.call(&shop.send_payout).await);
    let answer = answer.inspect_err(|_| recorder.borrow_mut().doubtful(PAYOUT_MINOR))?;
    let payout: PayoutId = Trouble::unless_id("the id of a payout", &answer)?;
    if recorder.borrow_mut().record_made(MadeObject::Payout, payout.to_bytes(), PAYOUT_MINOR) {
        return Ok(MeasuredStep::SendPayout);
    }
    Err(Trouble::wrong("the id of a new payout", &answer))
}

/// Tops up every merchant by more than a run can pay out.
pub(super) async fn fund(stock: &Stock) -> anyhow::Result<()> {
    let top_up = async |lines: &mut Lines, index: usize| {
        let body = json!({ "merchant_id": stock.shops[index].merchant_id, "amount": FUNDS_MINOR });
        lines.operator("add a top-up", "add-topup", &body).await.map(drop)
    };
    stock.ends.each(stock.shops.len(), OPERATOR_CALLS_AT_ONCE, top_up).await.map(|_: Vec<()>| ())
}
