//! The databases beside the store: the sandbox's book and the deliveries of webhooks.

use std::path::Path;
use std::sync::mpsc;
use std::thread;

use anyhow::{anyhow, bail};
use till_actors::StartError;
use till_sandbox::book::RocksBook;
use till_shared::RowsOf;
use till_storage::deliveries::RocksDeliveries;
use till_storage::engine::check_synced_logs;

use super::log_place::{AuxiliaryKind, LogPlace};
use super::shared_log::Filling;
use crate::configuration::Configuration;

/// The directory of the sandbox's book, below the data directory.
pub(crate) const SANDBOX_DIRECTORY: &str = "sandbox";

/// The directory of the store of deliveries, below the data directory.
pub(crate) const WEBHOOKS_DIRECTORY: &str = "webhooks";

pub(super) fn open_deliveries(configuration: &Configuration, log: &LogPlace) -> anyhow::Result<RocksDeliveries> {
    let directory = configuration.data.join(WEBHOOKS_DIRECTORY);
    let (reserve, limit) = (configuration.disk_reserve_bytes, configuration.open_time_max);
    let open = |_: AuxiliaryKind| Ok(RocksDeliveries::open(&directory, reserve, limit)?);
    let (deliveries, filling) = log.open_rows(RowsOf::Deliveries, &directory, open)?;
    filling.fill(&deliveries)?;
    Ok(deliveries)
}

/// Damaged deliveries can be moved away.
pub(super) fn with_remedy(error: StartError, configuration: &Configuration) -> anyhow::Error {
    match error {
        StartError::Deliveries(error) => anyhow!(error.advice(&configuration.data.join(WEBHOOKS_DIRECTORY))),
        StartError::Thread(_) | StartError::Unreadable(_) => error.into(),
    }
}

/// The book, and what fills it where it is a replica of rows elsewhere. Its thread does that: the server need not wait
/// for a book of millions of lines.
pub(super) fn open_book(configuration: &Configuration, log: &LogPlace) -> anyhow::Result<(RocksBook, Filling)> {
    let directory = configuration.data.join(SANDBOX_DIRECTORY);
    log.open_rows(RowsOf::Book, &directory, |kind| {
        // A replica gets the rows again that its log has lost.
        if kind == AuxiliaryKind::Own {
            check_synced_logs(&directory).map_err(|error| anyhow!("{error}; {}", book_remedy(&directory)))?;
        }
        open_book_within(&directory, configuration)
    })
}

/// Opens the book on a thread of its own, since RocksDB never returns from some damaged logs.
fn open_book_within(directory: &Path, configuration: &Configuration) -> anyhow::Result<RocksBook> {
    let (limit, reserve_bytes) = (configuration.open_time_max, configuration.disk_reserve_bytes);
    let place = directory.display().to_string();
    let (sender, receiver) = mpsc::channel();
    let book = directory.to_owned();
    let open = move || drop(sender.send(RocksBook::open_with_reserve(&book, reserve_bytes)));
    thread::Builder::new().name("open-book".to_owned()).spawn(open)?;
    match receiver.recv_timeout(limit) {
        Ok(Ok(book)) => Ok(book),
        Ok(Err(error)) => bail!("{:#}; {}", anyhow::Error::new(error).context(place), book_remedy(directory)),
        Err(_) => bail!("opening {place} did not end within {} s; {}", limit.as_secs(), book_remedy(directory)),
    }
}

/// The book contains only the sandbox's side, which is play money: without it no payment is lost.
fn book_remedy(directory: &Path) -> String {
    let directory = directory.display();
    format!(
        "if it is damaged, it can be moved away, and the server starts with a new one: mv {directory} \
         {directory}.damaged (docs/refused-starts.md, \"The sandbox's book\")"
    )
}
