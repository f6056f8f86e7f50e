//! Entries of lists, made beforehand and read once, so that every page is known.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::initiate::initiate_session;
use super::prepare::{Lines, OPERATOR_CALLS_AT_ONCE, check_accepted};
use super::sessions::session_of;
use super::settling::{Baseline, wait_until_paid};
use super::shop::LoadMerchant;
use super::stock::{Entries, Stock};
use crate::client::{Connection, RequestHead};

/// Calls at once.
const AT_ONCE: usize = 64;

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
}

/// Makes payments, each of which the system captures, which makes one entry, and reads all entries.
pub(super) async fn of_activity(stock: &Stock, count: usize, tell: &dyn Fn(&str)) -> anyhow::Result<Vec<Entries>> {
    if stock.is_made_for_the_run() {
        tell(&format!("making {count} activity entries for each merchant"));
        let shops = stock.shops.len();
        let before = Baseline::read(stock, shops).await?;
        let pay = async |lines: &mut Lines, index: usize| {
            let shop = &stock.shops[index % shops];
            let session = session_of(&shop.select, &mut lines.public).await?;
            initiate_session(shop, &session, &mut lines.public).await
        };
        let paid: Vec<u64> = stock.ends.each(count * shops, AT_ONCE, pay).await?;
        wait_until_paid(stock, &before, paid.iter().sum()).await?;
    }
    read(stock, count, |shop| &shop.list_activity).await
}

/// Makes top-ups, each of which makes one entry, and reads all entries.
pub(super) async fn of_balance(stock: &Stock, count: usize, tell: &dyn Fn(&str)) -> anyhow::Result<Vec<Entries>> {
    if stock.is_made_for_the_run() {
        tell(&format!("making {count} ledger entries for each merchant"));
        let top_up = async |lines: &mut Lines, index: usize| {
            let merchant_id = &stock.shops[index % stock.shops.len()].merchant_id;
            let body = json!({ "merchant_id": merchant_id, "amount": TOPUP_MINOR });
            lines.operator("add a top-up", "add-topup", &body).await.map(drop)
        };
        stock.ends.each(count * stock.shops.len(), OPERATOR_CALLS_AT_ONCE, top_up).await?;
    }
    read(stock, count, |shop| &shop.balance_history).await
}

/// Reads a list of each merchant: all of it when it was made for the run, else the newest `count` entries.
async fn read(
    stock: &Stock,
    count: usize,
    list: impl Fn(&LoadMerchant) -> &RequestHead,
) -> anyhow::Result<Vec<Entries>> {
    let (least, most) = if stock.is_made_for_the_run() { (count, usize::MAX) } else { (1, count) };
    let read = async |lines: &mut Lines, index: usize| {
        let entries = newest(list(&stock.shops[index]), &mut lines.public, most).await?;
        let found = entries.ids.len();
        ensure!(found >= least, "the server lists {found} entries of {least} that were made");
        Ok(entries)
    };
    stock.ends.each(stock.shops.len(), AT_ONCE, read).await
}

/// The newest entries of a list, about `most` of them.
async fn newest(head: &RequestHead, connection: &mut Connection, most: usize) -> anyhow::Result<Entries> {
    let mut entries = Entries::default();
    let mut next = Some(json!({ "per_page": 100 }));
    while let Some(body) = next.filter(|_| entries.ids.len() < most) {
        let answer = check_accepted("read a list", connection.call(&head.with(&body)).await)?;
        let page: PreparedPage =
            serde_json::from_slice(answer.body).context("failed to read a list: it is not a page")?;
        entries.ids.extend(page.page.into_iter().map(|entry| entry.id));
        entries.is_all = page.next.is_none();
        next = page.next;
    }
    ensure!(entries.ids.is_sorted_by(|newer, older| newer > older), "the server lists entries in the wrong order");
    Ok(entries)
}
