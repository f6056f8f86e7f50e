//! Commits that the database acknowledged and has lost, and the way on without them.

use std::collections::BTreeMap;

use till_domain::ids::MerchantId;
use till_storage::journal::layout::{each_log, read_record};
use till_storage::journal::{Head, JournalError, Sequence};
use till_storage::rows::RowReader;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::notes::set_note;
use crate::reading::JournalReader;
use crate::schema::usable_format;
use crate::settings::JournalSettings;
use crate::shard::{Shard, shard_of};

/// Records of one merchant that a store has and the database does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostRecords {
    /// The merchant.
    pub merchant_id: MerchantId,
    /// The first of them.
    pub first: Sequence,
    /// The last record of the store.
    pub last: Sequence,
}

/// The records that a store has, which repeated the log, and the database does not have or has others in their place.
///
/// # Errors
/// The database or the store cannot be read.
pub fn lost_records(settings: &JournalSettings, store: &impl RowReader) -> Result<Vec<LostRecords>, JournalError> {
    let (reader, mut lost) = (JournalReader::new(settings.clone()), Vec::new());
    each_log(store, &mut |merchant_id, end: Head| {
        let common = common_end(&reader, store, merchant_id, end.sequence)?;
        if common < end.sequence {
            lost.push(LostRecords { merchant_id, first: common.next(), last: end.sequence });
        }
        Ok::<_, JournalError>(())
    })?;
    Ok(lost)
}

/// The last position at which both logs have the same record. As each record names the hash of the one before it, all
/// before are the same, too.
fn common_end(
    reader: &JournalReader,
    store: &impl RowReader,
    merchant_id: MerchantId,
    end: Sequence,
) -> Result<Sequence, JournalError> {
    let is_same = |sequence: Sequence| {
        let there = reader.records(merchant_id, sequence, 1)?.pop();
        let here = read_record(store, merchant_id, sequence)?.map(|record| record.bytes);
        Ok::<bool, JournalError>(here.is_some() && here == there)
    };
    if is_same(end)? {
        return Ok(end);
    }
    let (mut same, mut different) = (0, end.0);
    while different - same > 1 {
        let middle = same + (different - same) / 2;
        if is_same(Sequence(middle))? { same = middle } else { different = middle }
    }
    Ok(Sequence(same))
}

/// Goes on without what was lost: its records are counted anew, the log gets a new identity, so that no store that
/// repeated it is taken for complete, its epochs are raised, and `paused` is noted under this name. In one transaction.
///
/// # Errors
/// [`SharedJournalError`].
pub fn accept_loss(settings: &JournalSettings, paused: &str) -> Result<(), SharedJournalError> {
    let (mut connection, schema) = (Connection::open(settings)?, &settings.schema);
    let format = usable_format(&mut connection, schema)?;
    let mut records: BTreeMap<Shard, i64> =
        (0..format.shards).filter_map(|shard| Some((shard.try_into().ok()?, 0))).collect();
    JournalReader::new(settings.clone()).each_end(&mut |merchant_id, end, _| {
        let count = records.entry(shard_of(merchant_id, format.shards)).or_default();
        *count += i64::try_from(end.0).unwrap_or(i64::MAX);
        Ok::<_, SharedJournalError>(())
    })?;
    let (shards, records): (Vec<Shard>, Vec<i64>) = records.into_iter().unzip();
    let identity = Uuid::new_v4();
    // First: when the transaction does not come about, the server is merely paused.
    set_note(&mut connection, schema, paused, Some(&[]))?;
    let name = format!("update {schema}.meta set value = $1 where name = 'identity'");
    let raise = format!("update {schema}.shard set epoch = epoch + 1, incarnation = null");
    let count = format!(
        "update {schema}.shard t set records = r.records from unnest($1::smallint[], $2::bigint[]) r(shard, records)
         where t.shard = r.shard"
    );
    connection.write(async |client| {
        let transaction = client.transaction().await?;
        transaction.execute(&name, &[&identity.as_bytes().as_slice()]).await?;
        transaction.execute(&raise, &[]).await?;
        transaction.execute(&count, &[&shards, &records]).await?;
        transaction.commit().await
    })
}
