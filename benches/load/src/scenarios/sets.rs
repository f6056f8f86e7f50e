//! Sets that are added to, filled beforehand.

use serde_json::{Value, json};

use super::prepare::{Lines, check_accepted};
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

/// Fills the sets of a run, one for each merchant.
pub(super) async fn fill_sets(stock: &Stock, plan: &Plan, key: &str, tell: &dyn Fn(&str)) -> anyhow::Result<()> {
    if !plan.scenario.has(ScenarioKind::Metadata) {
        return Ok(());
    }
    let size = plan.set_size();
    tell(&format!("filling {} sets of {size} items", plan.merchants));
    let fill =
        async |lines: &mut Lines, index: usize| fill_set(&stock.shops[index], key, size, &mut lines.public).await;
    stock.ends.each(plan.merchants, AT_ONCE, fill).await.map(|_: Vec<()>| ())
}

async fn fill_set(shop: &LoadMerchant, key: &str, size: usize, connection: &mut Connection) -> anyhow::Result<()> {
    let item = |index: usize| Value::from(format!("i{index}"));
    let items: Vec<Value> = (0..size.min(ITEMS_OF_A_CALL)).map(item).collect();
    let request = shop.head("sync-metadata").with(&json!({ "key": key, "metadata": { PATH: items } }));
    check_accepted("fill a set", connection.call(&request).await)?;
    for index in ITEMS_OF_A_CALL..size {
        let request = shop.add_to_set.with(&json!({ "key": key, "path": PATH, "value": item(index) }));
        check_accepted("fill a set", connection.call(&request).await)?;
    }
    Ok(())
}
