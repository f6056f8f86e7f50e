//! Generates: opens the data directory, fills it, closes it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow};
use till_actors::clock::{Clock, SystemClock};
use till_actors::{BulkLoader, BulkMode};
use till_domain::ids::MerchantId;
use till_domain::time::Millis;
use till_storage::vault::Keyring;

use super::plan::Plan;
use super::progress::{Summary, Teller};
use super::shop::Shop;
use super::trade::Trade;
use till::bootstrap;
use till::configuration::{Configuration, Secrets};

const DAY_MILLIS: u64 = 24 * 3_600 * 1_000;

/// Fills a data directory that no server has open: a new one at bulk speed.
///
/// # Errors
/// As a start of the server; when the disk is full. A directory that was new is refused from then on. In another one
/// what was written stays, and can be served: effects and timers that are open then are what the server takes up.
pub fn generate(configuration: &Configuration, secrets: &Secrets, plan: &Plan) -> anyhow::Result<Summary> {
    let before = bytes_below(&configuration.data)?;
    let opened = bootstrap::open_to_fill(configuration, &secrets.vault_keys)?;
    let started = Instant::now();
    let first = opened.store().last_commit();
    let mode = if opened.is_all_or_nothing() { BulkMode::AllOrNothing } else { BulkMode::Durable };
    let (keyring, acquirers) = (Arc::clone(&opened.keyring), opened.acquirers.clone());
    let loader = BulkLoader::start(opened.store(), keyring, acquirers, mode)?;
    let teller = Teller::start(plan.payments)?;
    let filling =
        Filling { loader, keyring: Arc::clone(&opened.keyring), plan: *plan, teller, next: AtomicU64::new(0) };
    let merchants = filling.run()?;
    drop(filling);
    let records = opened.store().last_commit().0.saturating_sub(first.0);
    opened.close()?;
    let bytes = bytes_below(&configuration.data)?.saturating_sub(before);
    Ok(Summary::new(merchants, records, started.elapsed(), bytes))
}

/// What those share who fill, each one merchant at a time.
struct Filling {
    loader: BulkLoader,
    keyring: Arc<Keyring>,
    plan: Plan,
    teller: Teller,
    /// The number of the next merchant.
    next: AtomicU64,
}

impl Filling {
    /// Fills every merchant, on a thread for each processor and one for when another waits. Gives each with the number
    /// of its payments, in order.
    fn run(&self) -> anyhow::Result<Vec<(MerchantId, u64)>> {
        let threads = thread::available_parallelism().map_or(1, usize::from) + 1;
        let filled: anyhow::Result<Vec<Vec<_>>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| self.work())).collect();
            let results = workers.into_iter().map(|worker| worker.join());
            results.map(|result| result.unwrap_or_else(|_| Err(anyhow!("a thread that fills panicked")))).collect()
        });
        let mut merchants: Vec<_> = filled?.into_iter().flatten().collect();
        merchants.sort_unstable_by_key(|(number, _, _)| *number);
        Ok(merchants.into_iter().map(|(_, merchant_id, payments)| (merchant_id, payments)).collect())
    }

    /// Fills one merchant after the other, until none is left.
    fn work(&self) -> anyhow::Result<Vec<(u64, MerchantId, u64)>> {
        let mut filled = Vec::new();
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.plan.merchants {
                return Ok(filled);
            }
            let payments = self.plan.payments_of(number);
            let merchant_id = self.fill(number, payments);
            let merchant_id = merchant_id.with_context(|| format!("failed to generate merchant {number}"))?;
            filled.push((number, merchant_id, payments));
        }
    }

    fn fill(&self, number: u64, payments: u64) -> anyhow::Result<MerchantId> {
        let until = SystemClock.now();
        let from = Millis(until.0.saturating_sub(self.plan.days.saturating_mul(DAY_MILLIS)));
        let mut shop = Shop::open(&self.loader, &self.keyring, number, from)?;
        let team_share = self.plan.team_share;
        Trade { payments, team_share, from, until, done: self.teller.done() }.run(&mut shop)?;
        Ok(shop.merchant_id)
    }
}

/// What the files below a directory take; nothing when there is none.
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
