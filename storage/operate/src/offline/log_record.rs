//! One record of a merchant's log, or the reason that it cannot be used.

use serde_json::{Map, Value, json};
use till_domain::event::Mutation;
use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::{CommitNumber, Head, RecordHeader, Sequence, decode_stored, record};
use till_storage::keys::JournalKey;
use till_storage::rows::RowReader;
use till_storage::shapes::{Disclosure, Personal, decode_mutation};

use super::{event, parts};

/// The content of a position of a log.
pub(super) enum LogRecord {
    Sound(Box<Sound>),
    Damaged(Damaged),
}

/// A valid record.
pub(super) struct Sound {
    pub(super) commit: CommitNumber,
    pub(super) header: RecordHeader,
    pub(super) hash: [u8; 32],
    pub(super) byte_count: usize,
    pub(super) mutation: Mutation,
}

/// A damaged record.
pub(super) struct Damaged {
    pub(super) sequence: Sequence,
    pub(super) reason: String,
    /// The fields in front of its body as they are stored, which may be damaged, too.
    pub(super) header: Option<RecordHeader>,
    pub(super) byte_count: Option<usize>,
}

impl LogRecord {
    /// The record at a position.
    pub(super) fn read(
        rows: &dyn RowReader,
        merchant_id: MerchantId,
        sequence: Sequence,
        personal: &dyn Personal,
    ) -> LogRecord {
        let key = JournalKey { merchant_id, sequence }.encode();
        match rows.get(Family::Journal, &key) {
            Ok(Some(value)) => LogRecord::of(merchant_id, sequence, &value, personal),
            Ok(None) => LogRecord::damaged(sequence, "it is missing".to_owned()),
            Err(error) => LogRecord::damaged(sequence, error.to_string()),
        }
    }

    /// The record in a stored value.
    pub(super) fn of(merchant_id: MerchantId, sequence: Sequence, value: &[u8], personal: &dyn Personal) -> LogRecord {
        match sound(merchant_id, sequence, value, personal) {
            Ok(sound) => LogRecord::Sound(Box::new(sound)),
            Err(reason) => {
                let header = record::glance(value);
                LogRecord::Damaged(Damaged { sequence, reason, header, byte_count: Some(value.len()) })
            }
        }
    }

    fn damaged(sequence: Sequence, reason: String) -> LogRecord {
        LogRecord::Damaged(Damaged { sequence, reason, header: None, byte_count: None })
    }

    /// The end of the log up to here, when its hash is known.
    pub(super) fn head(&self) -> Option<Head> {
        match self {
            LogRecord::Sound(sound) => Some(Head { sequence: sound.header.sequence, hash: sound.hash }),
            LogRecord::Damaged(_) => None,
        }
    }
}

fn sound(merchant_id: MerchantId, sequence: Sequence, value: &[u8], personal: &dyn Personal) -> Result<Sound, String> {
    let key = JournalKey { merchant_id, sequence }.encode();
    let (_, stored) = decode_stored(merchant_id, &key, value).map_err(|error| error.to_string())?;
    let record = record::decode(&stored.bytes).map_err(|error| error.to_string())?;
    if (record.header.merchant_id, record.header.sequence) != (merchant_id, sequence) {
        return Err(format!("record {} of {} is stored there", record.header.sequence, record.header.merchant_id));
    }
    let mutation = decode_mutation(record.body, personal).map_err(|error| error.to_string())?;
    let (commit, header, hash) = (stored.commit, record.header, record.hash);
    Ok(Sound { commit, header, hash, byte_count: stored.bytes.len(), mutation })
}

impl Sound {
    /// True when it names this head as the one before it.
    pub(super) fn follows(&self, head: Head) -> bool {
        self.header.sequence == head.sequence.next() && self.header.prev_hash == head.hash
    }

    /// The members of a record, but for its kind and merchant.
    pub(super) fn members(&self, disclosure: Disclosure) -> Map<String, Value> {
        let Sound { commit, header, hash, byte_count, mutation } = self;
        let shown = |happened| {
            let (kind, fields) = event::event(happened, disclosure);
            json!({ "event": kind, "fields": fields })
        };
        let members = json!({
            "sequence": header.sequence.0,
            "commit": commit.0,
            "at": mutation.at.unix_seconds(),
            "at_ms": header.at_ms,
            "actor": parts::caller(mutation.caller),
            "call": mutation.answer.as_ref().map(|(scope, _)| parts::scope(scope)),
            "answer": mutation.answer.as_ref().map(|(_, stored)| event::answer(&stored.answer, disclosure)),
            "events": mutation.events.iter().map(shown).collect::<Vec<_>>(),
            "bytes": byte_count,
            "hash": hex(hash),
            "previous_hash": hex(&header.prev_hash),
        });
        match members {
            Value::Object(members) => members,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        }
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
