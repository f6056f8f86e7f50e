//! One addition to a set.

use std::time::Instant;

use serde_json::{Value, json};

use super::load_client::LoadClient;
use super::sets::{PATH, Sets};
use super::shop::LoadMerchant;
use super::world::RunContext;
use crate::client::HttpAnswer;
use crate::recording::{MeasuredStep, Trouble};

/// Adds an item: a new one, or, in the share of cases that the plan names, one that changes nothing.
pub(super) async fn add(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    let is_conflict = client.dice.happens(world.plan.metadata.conflict_rate);
    client.done += 1;
    if client.dice.happens(world.plan.metadata.versioned_share) {
        return add_versioned(world, client, index, is_conflict).await;
    }
    let shop = &world.stock.shops[index];
    let item = if is_conflict { Sets::item(client.dice.index(world.sets.size)) } else { new_item(client) };
    let body = json!({ "key": world.sets.shared_key(), "path": PATH, "value": item });
    write(shop, &body, client);
    let answer = Trouble::unless_accepted(client.connection.call(&client.request).await)?;
    check(&answer, !is_conflict)?;
    Ok(MeasuredStep::AddToSet)
}

/// Adds to this connection's own record, whose version only it changes; or names an old version, and is refused.
async fn add_versioned(
    world: &RunContext,
    client: &mut LoadClient,
    index: usize,
    is_conflict: bool,
) -> Result<MeasuredStep, Trouble> {
    let (shop, key) = (&world.stock.shops[index], world.sets.own_key(client.number));
    let version = match client.versions.remove(&index) {
        Some(version) => version,
        None => current_version(world, client, shop, &key).await?,
    };
    let named = if is_conflict { version.saturating_sub(1) } else { version };
    let body = json!({ "key": key, "path": PATH, "value": new_item(client), "version": named });
    write(shop, &body, client);
    let start = Instant::now();
    let answer = client.connection.call(&client.request).await.map_err(Trouble::of_failure)?;
    if is_conflict {
        check_mismatch(&answer, version)?;
    } else {
        check(&Trouble::unless_accepted(Ok(answer))?, true)?;
    }
    let latency = start.elapsed();
    client.versions.insert(index, if is_conflict { version } else { version + 1 });
    client.step(MeasuredStep::AddToSetVersioned, latency);
    Ok(MeasuredStep::AddToSet)
}

async fn current_version(
    world: &RunContext,
    client: &mut LoadClient,
    shop: &LoadMerchant,
    key: &str,
) -> Result<u64, Trouble> {
    let version = world.sets.version(shop, key, &mut client.connection).await;
    version.map_err(|error| Trouble::Failed { code: "(version unknown)".to_owned(), excerpt: format!("{error:#}") })
}

/// An item that no other connection or run adds.
fn new_item(client: &LoadClient) -> String {
    format!("n{}-{}", client.number, client.done)
}

fn write(shop: &LoadMerchant, body: &Value, client: &mut LoadClient) {
    shop.add_to_set.write(body.to_string().as_bytes(), &mut client.request);
}

fn check(answer: &HttpAnswer<'_>, expected: bool) -> Result<(), Trouble> {
    let right = if expected { b"true".as_slice() } else { b"false" };
    if answer.body == right { Ok(()) } else { Err(Trouble::wrong(&expected.to_string(), answer)) }
}

/// Checks that an old version is refused, and that the refusal names the current one.
fn check_mismatch(answer: &HttpAnswer<'_>, current: u64) -> Result<(), Trouble> {
    let json = answer.json();
    let fault = &json[2][0];
    let is_refusal = answer.status == 400 && json[0] == "INVALID_ARGUMENTS";
    if is_refusal && fault["type"] == "version_mismatch" && fault["current"] == current {
        return Ok(());
    }
    Err(Trouble::wrong(&format!("a version_mismatch that names {current}"), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &[u8]) -> HttpAnswer<'_> {
        HttpAnswer { status, body }
    }

    #[test]
    fn an_addition_is_checked_against_its_expected_result() {
        assert_eq!(check(&answer(200, b"true"), true), Ok(()));
        assert_eq!(check(&answer(200, b"false"), false), Ok(()));
        assert!(check(&answer(200, b"true"), false).is_err() && check(&answer(200, b"false"), true).is_err());
    }

    #[test]
    fn an_old_version_must_be_refused_with_the_right_one() {
        let body = br#"["INVALID_ARGUMENTS","m",[{"type":"version_mismatch","argument":"version","current":4}]]"#;
        assert_eq!(check_mismatch(&answer(400, body), 4), Ok(()));
        assert!(check_mismatch(&answer(400, body), 5).is_err());
        assert!(check_mismatch(&answer(200, b"true"), 4).is_err());
    }
}
