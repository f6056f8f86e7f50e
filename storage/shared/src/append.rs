//! A group of batches as one statement: the fence of each shard is compared and moved, and what its batches write is
//! inserted, or nothing of the shard.

use std::collections::BTreeMap;

use till_domain::ids::MerchantId;
use till_storage::family::Family;
use till_storage::journal::Append;
use till_storage::rows::RowWrite;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::shard::{Holds, Shard, shard_of};

/// The statements that append. Most groups delete no row, and theirs changes no table twice.
pub(crate) struct Statements {
    putting: Statement,
    deleting: Statement,
}

impl Statements {
    pub(crate) fn prepare(connection: &mut Connection, schema: &str) -> Result<Statements, SharedJournalError> {
        let texts = [false, true].map(|deletes| text(schema, deletes));
        connection.read(async |client| {
            Ok(Statements { putting: client.prepare(&texts[0]).await?, deleting: client.prepare(&texts[1]).await? })
        })
    }
}

/// The text of a statement. The shards that took part are its answer: one that is missing wrote nothing.
fn text(schema: &str, deletes: bool) -> String {
    let delete = format!(
        ",
              del as (delete from {schema}.row x
                      using unnest($13::smallint[], $14::smallint[], $15::bytea[]) w(sh, f, k)
                      where w.sh in (select shard from won) and x.family = w.f and x.key = w.k)"
    );
    format!(
        "with req as (select * from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[])
                             r(shard, epoch, commits, records)),
              won as (update {schema}.shard t set commits = r.commits + 1, records = t.records + r.records from req r
                      where t.shard = r.shard and t.epoch = r.epoch and t.commits = r.commits returning t.shard),
              rec as (insert into {schema}.record (merchant_id, sequence, bytes)
                      select w.m, w.s, w.b
                      from unnest($5::smallint[], $6::uuid[], $7::bigint[], $8::bytea[]) w(sh, m, s, b)
                      where w.sh in (select shard from won)),
              put as (insert into {schema}.row (family, key, value)
                      select w.f, w.k, w.v
                      from unnest($9::smallint[], $10::smallint[], $11::bytea[], $12::bytea[]) w(sh, f, k, v)
                      where w.sh in (select shard from won)
                      on conflict (family, key) do update set value = excluded.value){}
         select shard from won",
        if deletes { &delete } else { "" }
    )
}

/// The parameters of one statement, column by column.
#[derive(Default)]
pub(crate) struct Group<'g> {
    shards: Vec<Shard>,
    epochs: Vec<i64>,
    commits: Vec<i64>,
    records: Records<'g>,
    /// The number of records of each shard.
    record_counts: Vec<i64>,
    put: Rows<'g>,
    deleted: Rows<'g>,
}

#[derive(Default)]
struct Records<'g> {
    shards: Vec<Shard>,
    merchants: Vec<Uuid>,
    sequences: Vec<i64>,
    bytes: Vec<&'g [u8]>,
}

#[derive(Default)]
struct Rows<'g> {
    shards: Vec<Shard>,
    families: Vec<i16>,
    keys: Vec<&'g [u8]>,
    values: Vec<&'g [u8]>,
}

/// The last write of each key of a group, by family and key: the shard, and the value unless it deletes the row.
type LastWrites<'g> = BTreeMap<(i16, &'g [u8]), (Shard, Option<&'g [u8]>)>;

impl<'g> Group<'g> {
    /// The batches of those shards whose holds are given. Shards are sorted, so that two statements lock them in one
    /// order.
    pub(crate) fn of(batches: &[&'g Append], holds: &Holds, shards: u16) -> Group<'g> {
        let mut group = Group::in_shards(holds);
        let mut rows = LastWrites::new();
        for append in batches {
            let shard = shard_of(append.merchant_id, shards);
            if !holds.contains_key(&shard) {
                continue;
            }
            group.add_records(shard, append);
            for row in sent_rows(append) {
                // A key that several batches write is sent once, with its last value, as the local store writes it.
                rows.insert((number_of(row.family), row.key), (shard, row.value));
            }
        }
        for ((family, key), (shard, value)) in rows {
            group.add_row(shard, family, key, value);
        }
        group
    }

    /// A group of these shards that writes nothing yet.
    pub(crate) fn in_shards(holds: &Holds) -> Group<'g> {
        let mut group = Group::default();
        for (shard, hold) in holds {
            group.shards.push(*shard);
            group.epochs.push(hold.epoch);
            group.commits.push(hold.commits);
            group.record_counts.push(0);
        }
        group
    }

    /// Adds a row, or its removal. No two have the same family and key.
    pub(crate) fn add_row(&mut self, shard: Shard, family: i16, key: &'g [u8], value: Option<&'g [u8]>) {
        let rows = if value.is_some() { &mut self.put } else { &mut self.deleted };
        rows.shards.push(shard);
        rows.families.push(family);
        rows.keys.push(key);
        rows.values.extend(value);
    }

    fn add_records(&mut self, shard: Shard, append: &'g Append) {
        let place = self.shards.iter().position(|other| *other == shard);
        if let Some(count) = place.and_then(|place| self.record_counts.get_mut(place)) {
            *count += i64::try_from(append.records.len()).unwrap_or(i64::MAX);
        }
        for record in &append.records {
            self.records.shards.push(shard);
            self.records.merchants.push(merchant_uuid(append.merchant_id));
            self.records.sequences.push(i64::try_from(record.sequence.0).unwrap_or(i64::MAX));
            self.records.bytes.push(&record.bytes);
        }
    }

    /// Sends the group, and returns the shards that took part.
    pub(crate) fn send(
        &self,
        connection: &mut Connection,
        statements: &Statements,
    ) -> Result<Vec<Shard>, SharedJournalError> {
        let Group { shards, epochs, commits, records, record_counts, put, deleted } = self;
        let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![
            shards,
            epochs,
            commits,
            record_counts,
            &records.shards,
            &records.merchants,
            &records.sequences,
            &records.bytes,
            &put.shards,
            &put.families,
            &put.keys,
            &put.values,
        ];
        let statement = if deleted.keys.is_empty() {
            &statements.putting
        } else {
            parameters.extend([&deleted.shards as &(dyn ToSql + Sync), &deleted.families, &deleted.keys]);
            &statements.deleting
        };
        let rows = connection.write(async |client| client.query(statement, &parameters).await)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

/// The rows of a batch that are not derived anew by every store: those of the vault, and those by which merchants are
/// found.
pub(crate) fn sent_rows(append: &Append) -> impl Iterator<Item = RowWrite<'_>> {
    append.vault.iter().chain(append.derived.iter().filter(|row| row.family == Family::Directory))
}

/// The number of a family in the table, which is part of the format.
pub(crate) fn number_of(family: Family) -> i16 {
    i16::try_from(family.index()).expect("there are nine")
}

/// The id of a merchant as the tables have it.
pub(crate) fn merchant_uuid(merchant_id: MerchantId) -> Uuid {
    Uuid::from_bytes(merchant_id.to_bytes())
}
