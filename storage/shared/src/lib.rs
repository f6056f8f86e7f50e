//! The log of all merchants in PostgreSQL: records and vault rows go there, durably and replicated, before the local
//! store writes them. Nothing but plain statements is used, so that another database with the same protocol can take
//! its place.
//!
//! A row for each shard holds an epoch and the number of commits. A claim raises the epoch, and every append names the
//! epoch and the number that it rests on: so of two servers only one can append to a shard.

mod append;
mod claim;
mod connection;
mod copying;
mod counts;
mod error;
mod local_replica;
mod import;
mod journal;
mod lane;
mod loss;
mod notes;
mod reading;
mod schema;
mod seeking;
mod settings;
mod shard;
mod shared_rows;
mod standing;
mod status;
mod tls;

pub use copying::JournalCopy;
pub use counts::SharedJournalStats;
pub use error::SharedJournalError;
pub use import::{ImportError, import};
pub use journal::SharedJournal;
pub use lane::OnRefusing;
pub use loss::{LostRecords, accept_loss, lost_records};
pub use notes::{exported_to, note_exported};
pub use reading::JournalReader;
pub use schema::{Migrated, SHARDS_DEFAULT, migrate};
pub use settings::{JournalSettings, SettingsError};
pub use shared_rows::{RowsOf, SharedRows};
pub use standing::OnFenced;
pub use status::{JournalStatus, status};
