//! The cheapest call with an API key. It measures the cost of HTTP and of the look-up of the key alone.

use serde::Deserialize;

use super::load_client::LoadClient;
use super::world::RunContext;
use crate::recording::{MeasuredStep, Trouble};

/// A merchant's balance, as an answer shows it.
#[derive(Deserialize)]
pub(super) struct Balance<'a> {
    currency: &'a str,
    available: i64,
    pending: i64,
}

impl<'a> Balance<'a> {
    /// Parses an answer. None if it is not a balance in the merchant's currency.
    pub(super) fn read(body: &'a [u8], currency: &str) -> Option<Balance<'a>> {
        serde_json::from_slice(body).ok().filter(|balance: &Balance<'_>| balance.currency == currency)
    }

    /// The sum of the available and the pending balance, in minor units.
    pub(super) const fn total_minor(&self) -> i64 {
        self.available + self.pending
    }
}

/// Reads a merchant's balance.
pub(super) async fn ping(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let shop = &world.stock.shops[world.distribution.draw(&mut client.dice)];
    let answer = Trouble::unless_accepted(client.connection.call(&shop.get_balance).await)?;
    let balance = Balance::read(answer.body, &shop.currency).ok_or_else(|| Trouble::wrong("a balance", &answer))?;
    if balance.total_minor() < 0 {
        return Err(Trouble::wrong("a balance of zero or more", &answer));
    }
    Ok(MeasuredStep::GetBalance)
}
