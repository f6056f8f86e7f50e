//! Merchants' logs: records, appends and their verdicts.

mod append;
mod by_merchant;
pub(crate) mod claims;
mod contract;
pub mod first_commit;
mod lagging;
pub mod layout;
mod log_reader;
pub mod record;
pub mod snapshot;
mod snapshot_schedule;

pub use crate::positions::{BatchId, CommitNumber, Epoch, Head, Sequence};
pub use append::{Append, AppendVerdict, SnapshotWrite};
pub use contract::{Claim, Journal, JournalError, READ_BYTES_MAX, StoredRecord};
pub(crate) use lagging::LaggingRows;
pub use layout::{decode_stored, read_record_time};
pub use log_reader::{LogError, LogReader, LogRecord, LogRecordError, chained_records};
pub use record::{DecodedRecord, EncodedRecord, RecordError, RecordHeader, RecordType};
pub use snapshot::StoredSnapshot;
pub use snapshot_schedule::SnapshotSchedule;
