//! The log of all merchants in PostgreSQL: records and vault rows go there, durably and replicated, before the local
//! store writes them. Nothing but plain statements is used, so that another database with the same protocol can take its
//! place.
//!
//! A row for each shard holds an epoch and the number of commits. A claim raises the epoch, and every append names the
//! epoch and the number that it rests on: so of two servers only one can append to a shard.

mod append;
mod claim;
mod connection;
mod counts;
mod error;
mod journal;
mod lane;
mod reading;
mod schema;
mod settings;
mod shard;
mod status;
mod tls;

pub use counts::SharedJournalStats;
pub use error::SharedJournalError;
pub use journal::SharedJournal;
pub use reading::{JournalReader, JournalRow, MerchantLog};
pub use schema::{Migrated, SHARDS_DEFAULT, migrate};
pub use settings::{JournalSettings, SettingsError};
pub use status::{JournalStatus, status};
