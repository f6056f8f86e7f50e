//! The count of merchants whose available balance is below zero.

use std::time::Duration;
use till_domain::command::{Caller, ChargeInvoice, Command};
use till_domain::money::AmountMinor;

use crate::shop::{by, topup};
use crate::world::{EngineWorld, Settings, done, eventually};

#[actix_rt::test]
async fn a_merchant_counts_as_overdrawn_until_money_comes() {
    let world = EngineWorld::start_with(Settings { expiry_pause: Duration::from_millis(5), ..Settings::default() });
    let (shop, other) = (world.open_shop().await, world.open_shop().await);
    done(world.submit(other.merchant_id, topup(500)).await);
    let amount = AmountMinor::new(100).expect("an amount");
    let invoice = Command::ChargeInvoice(ChargeInvoice { amount, external_id: None, description: None });
    done(world.submit(shop.merchant_id, by(Caller::Operator, invoice)).await);
    eventually("it is counted", || world.engine.counts().overdrawn_merchants() == 1).await;
    let world = world.restart();
    eventually("it is counted again", || world.engine.counts().overdrawn_merchants() == 1).await;
    done(world.submit(shop.merchant_id, topup(100)).await);
    eventually("it counts no longer", || world.engine.counts().overdrawn_merchants() == 0).await;
}
