//! Entries of lists, made beforehand and read once, so that every page is known.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::initiate::initiate_session;
use super::prepare::{Lines, accepted, accepted_id};
use super::sessions::session_of;
use super::settling::{Baseline, wait_until_paid};
use super::shop::OperatorHeads;
use super::stock::{Entries, Stock};
use crate::client::{Connection, RequestHead};

/// Payments made at once.
const PAYMENTS_AT_ONCE: usize = 64;

/// The amount of a top-up, in minor units.
const TOPUP_MINOR: u64 = 100;

/// A page of a list, read beforehand.
#[derive(Deserialize)]
struct PreparedPage {
    page: Vec<PreparedEntry>,
    next: Option<Value>,
}

#[derive(Deserialize)]
struct PreparedEntry {
    #[serde(alias = "activity_log_id", alias = "entry_id")]
    id: String,
    object_id: Option<String>,
}

/// Makes payments, each of which the system captures, which makes one entry, and reads all entries.
pub(super) async fn of_activity(stock: &Stock, count: usize) -> anyhow::Result<Vec<Entries>> {
    let shops = stock.shops.len();
    let before = Baseline::read(stock, shops).await?;
    let pay = async |lines: &mut Lines, index: usize| {
        let shop = &stock.shops[index % shops];
        let session = session_of(shop, &mut lines.public).await?;
        initiate_session(shop, &session, &mut lines.public).await
    };
    let paid: Vec<u64> = stock.ends.each(count * shops, PAYMENTS_AT_ONCE, pay).await?;
    wait_until_paid(stock, &before, paid.iter().sum()).await?;
    let read = async |lines: &mut Lines, index: usize| {
        read_all(&stock.shops[index].list_activity, &mut lines.public, count).await
    };
    stock.ends.each(shops, PAYMENTS_AT_ONCE, read).await
}

/// Makes top-ups, each of which makes one entry, and reads all entries.
pub(super) async fn of_balance(
    stock: &Stock,
    count: usize,
    operator: &OperatorHeads,
    at_once: usize,
) -> anyhow::Result<Vec<Entries>> {
    let (shops, head) = (stock.shops.len(), operator.head("add-topup"));
    let top_up = async |lines: &mut Lines, index: usize| {
        let shop = &stock.shops[index % shops];
        let request = head.with(&json!({ "merchant_id": shop.merchant_id, "amount": TOPUP_MINOR }));
        accepted_id("add a top-up", lines.admin.call(&request).await).map(|_| ())
    };
    stock.ends.each(count * shops, at_once, top_up).await?;
    let read = async |lines: &mut Lines, index: usize| {
        read_all(&stock.shops[index].balance_history, &mut lines.public, count).await
    };
    stock.ends.each(shops, PAYMENTS_AT_ONCE, read).await
}

/// All entries of a list, of which there are at least `count`.
async fn read_all(head: &RequestHead, connection: &mut Connection, count: usize) -> anyhow::Result<Entries> {
    let mut entries = Entries::default();
    let mut next = Some(json!({ "per_page": 100 }));
    while let Some(body) = next {
        let answer = accepted("read a list", connection.call(&head.with(&body)).await)?;
        let page: PreparedPage =
            serde_json::from_slice(answer.body).context("failed to read a list: it is not a page")?;
        for entry in page.page {
            entries.ids.push(entry.id);
            entries.objects.push(entry.object_id);
        }
        next = page.next;
    }
    let found = entries.ids.len();
    ensure!(found >= count, "the server lists {found} entries of {count} that were made");
    ensure!(entries.ids.is_sorted_by(|newer, older| newer > older), "the server lists entries in the wrong order");
    Ok(entries)
}
