//! One record of a merchant's log, or the reason that it cannot be used.

use serde_json::{Map, Value, json};
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::{Head, LogRecord, RecordHeader, Sequence, decode_stored, record};
use till_storage::keys::JournalKey;
use till_storage::rows::RowReader;
use till_storage::shapes::{Disclosure, Personal};

use super::{event, parts};

/// The content of a position of a log.
pub(super) type FoundRecord = Result<LogRecord, Box<DamagedRecord>>;

/// A damaged record.
#[derive(Debug, thiserror::Error)]
#[error("record {sequence} cannot be used: {reason}")]
pub(super) struct DamagedRecord {
    pub(super) sequence: Sequence,
    pub(super) reason: String,
    /// The fields in front of its body as they are stored, which may be damaged, too.
    pub(super) header: Option<RecordHeader>,
    pub(super) byte_count: Option<usize>,
}

/// The record at a position.
pub(super) fn read(
    rows: &dyn RowReader,
    merchant_id: MerchantId,
    sequence: Sequence,
    personal: &dyn Personal,
) -> FoundRecord {
    let key = JournalKey { merchant_id, sequence }.encode();
    let missing = |reason| Box::new(DamagedRecord { sequence, reason, header: None, byte_count: None });
    match rows.get(Family::Journal, &key) {
        Ok(Some(value)) => of(merchant_id, sequence, &value, personal),
        Ok(None) => Err(missing("it is missing".to_owned())),
        Err(error) => Err(missing(error.to_string())),
    }
}

/// The record in a stored value.
pub(super) fn of(merchant_id: MerchantId, sequence: Sequence, value: &[u8], personal: &dyn Personal) -> FoundRecord {
    sound(merchant_id, sequence, value, personal).map_err(|error| {
        let (header, byte_count) = (record::glance(value), Some(value.len()));
        Box::new(DamagedRecord { sequence, reason: error.to_string(), header, byte_count })
    })
}

fn sound(
    merchant_id: MerchantId,
    sequence: Sequence,
    value: &[u8],
    personal: &dyn Personal,
) -> anyhow::Result<LogRecord> {
    let key = JournalKey { merchant_id, sequence }.encode();
    let (_, stored) = decode_stored(merchant_id, &key, value)?;
    LogRecord::read(&stored, personal, |record| {
        let RecordHeader { merchant_id: found, sequence: at, .. } = record.header;
        anyhow::ensure!((found, at) == (merchant_id, sequence), "record {at} of {found} is stored there");
        Ok(())
    })
}

/// True when a record names this head as the one before it.
pub(super) fn follows(record: &LogRecord, head: Head) -> bool {
    record.header.sequence == head.sequence.next() && record.header.prev_hash == head.hash
}

/// The members of a record, but for its kind and merchant.
pub(super) fn members(record: &LogRecord, disclosure: Disclosure) -> Map<String, Value> {
    let LogRecord { commit, header, hash, byte_count, mutation } = record;
    let shown = |happened| {
        let (kind, fields) = event::event(happened, disclosure);
        json!({ "event": kind, "fields": fields })
    };
    let mut members = json!({
        "sequence": header.sequence.0,
        "commit": commit.0,
        "at": mutation.at.unix_seconds(),
        "at_ms": header.at_ms,
        "actor": mutation.caller.to_string(),
        "call": mutation.answer.as_ref().map(|(scope, _)| parts::scope(scope)),
        "answer": mutation.answer.as_ref().map(|(_, stored)| event::answer(&stored.answer, disclosure)),
        "events": mutation.events.iter().map(shown).collect::<Vec<_>>(),
        "bytes": byte_count,
        "hash": hex(hash),
        "previous_hash": hex(&header.prev_hash),
    });
    members.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
