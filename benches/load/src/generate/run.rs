//! The generation: opens the data directory, lets merchants trade in it, closes it.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use actix_rt::System;
use anyhow::Context;
use futures_util::{StreamExt, TryStreamExt, stream};
use till_actors::clock::{Clock, SystemClock};
use till_domain::ids::MerchantId;
use till_domain::time::Millis;

use super::market::Market;
use super::plan::GenerationPlan;
use super::progress::{GenerationProgress, Summary};
use super::rounds::{Burst, rounds};
use super::shop::TradingMerchant;
use super::trade::Trade;
use till::{Buffers, Configuration, Secrets, open_with};

const DAY_MILLIS: u64 = 24 * 3_600 * 1_000;

/// Large buffers, so that few tables are written and merged later: most generations write everything only once.
const BUFFERS: Buffers = Buffers { block_cache_bytes: 256 << 20, memtable_bytes: 1 << 30, wal_bytes_max: 1 << 30 };

/// Merchants that trade at once.
const BURSTS_AT_ONCE: usize = 64;

/// Merchants that are opened, or cleaned of expired sessions at the end, at once.
const MERCHANTS_AT_ONCE: usize = 256;

/// Fills a data directory that no server has open.
///
/// # Errors
/// Those of a start of the server; a full disk. All that was written stays and can be served: the server carries out
/// effects and timers that are still open.
pub fn generate(configuration: &Configuration, secrets: &Secrets, plan: &GenerationPlan) -> anyhow::Result<Summary> {
    let before = bytes_below(&configuration.data)?;
    let opened = open_with(configuration, &secrets.vault_keys, &BUFFERS)?;
    let started = Instant::now();
    let first = opened.store().last_commit();
    let until = SystemClock.now();
    let from = Millis(until.0.saturating_sub(plan.days.saturating_mul(DAY_MILLIS)));
    let system = System::new();
    let market = system.block_on(async { Market::open(&opened, from) })?;
    let merchants = system.block_on(fill(&market, plan, from..until));
    market.close();
    let (merchants, records) = (merchants?, opened.store().last_commit().0.saturating_sub(first.0));
    opened.close()?;
    let bytes = bytes_below(&configuration.data)?.saturating_sub(before);
    Ok(Summary::new(merchants, records, started.elapsed(), bytes))
}

/// Lets all merchants trade. Returns each with the number of its payments, in order.
async fn fill(market: &Market, plan: &GenerationPlan, span: Range<Millis>) -> anyhow::Result<Vec<(MerchantId, u64)>> {
    let open = async |number| {
        let shop = TradingMerchant::open(market, number).await;
        let shop = shop.with_context(|| format!("failed to open merchant {number}"))?;
        anyhow::Ok(Trade::new(shop, plan.payments_of(number), *plan))
    };
    let trades = stream::iter(0..plan.merchants).map(open).buffered(MERCHANTS_AT_ONCE);
    let trades: Vec<Trade<'_>> = trades.try_collect().await?;
    let (mut progress, rounds) = (GenerationProgress::start(plan.payments), rounds(plan));
    let count = rounds.len();
    for (number, round) in rounds.into_iter().enumerate() {
        market.set_time(time_of(number, count, &span));
        let make = async |Burst { merchant, payments }: Burst| {
            trades[merchant].make(payments).await.with_context(|| format!("failed to generate merchant {merchant}"))
        };
        let payments: u64 = round.iter().map(|burst| burst.payments.end - burst.payments.start).sum();
        stream::iter(round).map(make).buffer_unordered(BURSTS_AT_ONCE).try_collect::<()>().await?;
        market.wait_for_calls().await;
        progress.count_made(payments);
    }
    market.set_time(SystemClock.now());
    market.wait_until_nothing_is_due().await;
    let remove = stream::iter(&trades).map(Trade::remove_expired).buffer_unordered(MERCHANTS_AT_ONCE);
    remove.try_collect::<()>().await?;
    Ok(trades.iter().map(|trade| (trade.shop.merchant_id, trade.payments)).collect())
}

/// The time at which a round begins.
fn time_of(round: usize, count: usize, span: &Range<Millis>) -> Millis {
    let number = |number: usize| u128::try_from(number).unwrap_or(u128::MAX);
    let passed = u128::from(span.end.0.saturating_sub(span.start.0)) * number(round) / number(count.max(1));
    Millis(span.start.0.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX)))
}

/// The size of all files below a directory; 0 when the directory does not exist.
fn bytes_below(directory: &Path) -> anyhow::Result<u64> {
    if !directory.exists() {
        return Ok(0);
    }
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).with_context(|| format!("failed to read {}", directory.display()))? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
