//! Sets that are added to, filled beforehand.

use serde_json::{Value, json};

use super::prepare::{Lines, accepted, accepted_json};
use super::shop::LoadMerchant;
use super::stock::Stock;
use crate::client::Connection;
use crate::plan::{Plan, ScenarioKind};

/// Items of one call, which stay well below the 1 MiB of a body.
const ITEMS_OF_A_CALL: usize = 50_000;

/// Calls at once.
const AT_ONCE: usize = 32;

/// The path of the set in its record.
pub(super) const PATH: &str = "tags";

/// The names of a run's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sets {
    run: usize,
    pub(super) size: usize,
}

impl Sets {
    /// Fills the sets of a run: one for each merchant, and with versions one for each connection and merchant.
    pub(super) async fn prepare(stock: &Stock, plan: &Plan, run: usize, tell: &dyn Fn(&str)) -> anyhow::Result<Sets> {
        let sets = Sets { run, size: plan.metadata.set_size };
        if !plan.scenario.has(ScenarioKind::Metadata) {
            return Ok(sets);
        }
        let own = if plan.metadata.versioned_share > 0.0 { plan.connections } else { 0 };
        tell(&format!("filling {} sets of {} items", plan.merchants * (1 + own), sets.size));
        let fill = async |lines: &mut Lines, index: usize| {
            let (shop, owner) = (&stock.shops[index % plan.merchants], (index / plan.merchants).checked_sub(1));
            let key = owner.map_or_else(|| sets.shared_key(), |connection| sets.own_key(connection));
            sets.fill(shop, &key, &mut lines.public).await
        };
        stock.ends.each(plan.merchants * (1 + own), AT_ONCE, fill).await?;
        Ok(sets)
    }

    /// The record that all connections add to.
    pub(super) fn shared_key(&self) -> String {
        format!("load-test-{}", self.run)
    }

    /// The record that only one connection adds to, which therefore knows its version.
    pub(super) fn own_key(&self, connection: usize) -> String {
        format!("load-test-{}-{connection}", self.run)
    }

    /// An item that a set has beforehand.
    pub(super) fn item(index: usize) -> String {
        format!("i{index}")
    }

    async fn fill(&self, shop: &LoadMerchant, key: &str, connection: &mut Connection) -> anyhow::Result<()> {
        let items: Vec<Value> = (0..self.size.min(ITEMS_OF_A_CALL)).map(|index| Sets::item(index).into()).collect();
        let request = shop.sync.with(&json!({ "key": key, "metadata": { PATH: items } }));
        accepted("fill a set", connection.call(&request).await)?;
        for index in ITEMS_OF_A_CALL..self.size {
            let request = shop.add_to_set.with(&json!({ "key": key, "path": PATH, "value": Sets::item(index) }));
            accepted("fill a set", connection.call(&request).await)?;
        }
        Ok(())
    }

    /// The current version of a record.
    pub(super) async fn version(
        &self,
        shop: &LoadMerchant,
        key: &str,
        connection: &mut Connection,
    ) -> anyhow::Result<u64> {
        let request = shop.retrieve.with(&json!({ "key": key }));
        let record = accepted_json("read a set", connection.call(&request).await)?;
        Ok(record["version"].as_u64().unwrap_or(0))
    }
}
