//! One page of a list.

use serde_json::{Value, json};

use super::load_client::LoadClient;
use super::page::{ExpectedPage, check_page};
use super::stock::Entries;
use super::world::RunContext;
use crate::client::RequestHead;
use crate::recording::{MeasuredStep, Trouble};

/// Reads a page of a merchant's activity.
pub(super) async fn activity(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    read(world, client, &world.stock.shops[index].list_activity, &world.stock.activity[index]).await?;
    Ok(MeasuredStep::ListActivityLogs)
}

/// Reads a page of a merchant's ledger.
pub(super) async fn balance(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    read(world, client, &world.stock.shops[index].balance_history, &world.stock.balance[index]).await?;
    Ok(MeasuredStep::BalanceHistory)
}

/// Reads the page after a random number of entries.
async fn read(
    world: &RunContext,
    client: &mut LoadClient,
    head: &RequestHead,
    entries: &Entries,
) -> Result<(), Trouble> {
    let (count, per_page) = (entries.ids.len(), world.plan.per_page());
    // The last pages of a list that goes on have more entries than are known.
    let pages_from = if entries.is_all { count } else { count.saturating_sub(per_page).max(1) };
    let depth = client.dice.index(pages_from);
    let until = (depth + per_page).min(count);
    let mut body = json!({ "per_page": per_page });
    if let Some(cursor) = depth.checked_sub(1) {
        body["after"] = Value::from(entries.ids[cursor].as_str());
    }
    // The first page changes when payments are made or changed meanwhile; the entries after a cursor never do.
    let exactly = depth > 0 || (world.stock.is_made_for_the_run() && !world.plan.scenario.adds_entries());
    let after = until < count || !entries.is_all;
    let expected = ExpectedPage { ids: &entries.ids[depth..until], before: depth > 0, after, exactly };
    head.write(body.to_string().as_bytes(), &mut client.request);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await)?;
    check_page(&answer, &expected, per_page)
}
