//! One page of a list.

use jiff::Timestamp;
use jiff::ToSpan;
use serde_json::{Map, Value};

use super::load_client::LoadClient;
use super::page::{ExpectedPage, check_page};
use super::stock::Entries;
use super::world::RunContext;
use crate::client::RequestHead;
use crate::plan::Filter;
use crate::recording::{MeasuredStep, Trouble};

/// Reads a page of a merchant's activity.
pub(super) async fn activity(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    let (head, entries) = (&world.stock.shops[index].list_activity, &world.stock.activity[index]);
    let filter = world.plan.lists.filter;
    if filter.selects_one() {
        let one = client.dice.index(entries.ids.len());
        let object = entries.objects[one].as_deref().unwrap_or_default();
        let expected = ExpectedPage { ids: &entries.ids[one..=one], before: false, after: false, exactly: true };
        ask(world, client, head, filters(filter, object), &expected).await?;
    } else {
        read(world, client, head, entries, filters(filter, "")).await?;
    }
    Ok(MeasuredStep::ListActivity)
}

/// Reads a page of a merchant's ledger.
pub(super) async fn balance(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    let (head, entries) = (&world.stock.shops[index].balance_history, &world.stock.balance[index]);
    read(world, client, head, entries, Map::new()).await?;
    Ok(MeasuredStep::BalanceHistory)
}

/// Reads the page at the plan's depth.
async fn read(
    world: &RunContext,
    client: &mut LoadClient,
    head: &RequestHead,
    entries: &Entries,
    mut body: Map<String, Value>,
) -> Result<(), Trouble> {
    let count = entries.ids.len();
    let depth = world.plan.lists.depth.unwrap_or_else(|| client.dice.index(count)).min(count - 1);
    let until = (depth + world.plan.lists.per_page).min(count);
    if let Some(cursor) = depth.checked_sub(1) {
        body.insert("after".to_owned(), entries.ids[cursor].as_str().into());
    }
    // The first page changes when payments are made or changed meanwhile; the entries after a cursor never do.
    let exactly = depth > 0 || !world.plan.scenario.adds_entries();
    let expected = ExpectedPage { ids: &entries.ids[depth..until], before: depth > 0, after: until < count, exactly };
    ask(world, client, head, body, &expected).await
}

async fn ask(
    world: &RunContext,
    client: &mut LoadClient,
    head: &RequestHead,
    mut body: Map<String, Value>,
    expected: &ExpectedPage<'_>,
) -> Result<(), Trouble> {
    body.insert("per_page".to_owned(), world.plan.lists.per_page.into());
    head.write(Value::Object(body).to_string().as_bytes(), &mut client.request);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await)?;
    check_page(&answer, expected, world.plan.lists.per_page)
}

fn filters(filter: Filter, object: &str) -> Map<String, Value> {
    let mut body = Map::new();
    let mut add = |name: &str, value: &str| drop(body.insert(name.to_owned(), value.into()));
    match filter {
        Filter::None => {}
        Filter::ActivityType => add("activity_type", "payment_captured"),
        Filter::ObjectId => add("object_id", object),
        Filter::CreatedAt => add("created_at", &since_yesterday()),
        Filter::Terms => add("terms", object),
        Filter::Combined => {
            add("activity_type", "payment_captured");
            add("created_at", &since_yesterday());
        }
    }
    body
}

/// A range that begins a day ago, so that a run over midnight gets the same entries.
fn since_yesterday() -> String {
    let yesterday = Timestamp::now().checked_sub(24.hours()).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{}..", yesterday.strftime("%Y-%m-%d"))
}
