//! The tables of the log, and their versions.

use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::notes::{IMPORT_UNDER_WAY, named};
use crate::settings::JournalSettings;
use crate::shard::OF_BOOK;

/// The number of shards of a new log.
pub const SHARDS_DEFAULT: u16 = 64;

/// The largest number of shards.
const SHARDS_MAX: u16 = 1_024;

/// The version of the tables that this program reads and writes.
const VERSION: i64 = 1;

/// The statements that lead from one version to the next, the first of them from nothing. `{schema}` is the schema.
///
/// - `meta`: version, shards and identity of the log, each under its name, and notes of the server.
/// - `shard`: the fence. `commits` is the number of commits to the shard, `incarnation` the process that holds it. Below 0
///   are the fences of rows that belong to no log: -1 of deliveries, -2 of the sandbox's book.
/// - `record`: the records as the local store has them, whole. Their bytes do not get smaller by compression.
/// - `row`: rows that are not derived from records, by family (6: directory, 7: vault, 9: deliveries, 10: the book) and key.
const STEPS: [&str; 1] = ["
    create schema if not exists {schema};
    create table {schema}.meta (name text primary key, value bytea not null);
    create table {schema}.shard (
        shard smallint primary key, epoch bigint not null, commits bigint not null, incarnation uuid
    ) with (fillfactor = 10);
    create table {schema}.record (
        merchant_id uuid, sequence bigint, bytes bytea not null, primary key (merchant_id, sequence)
    );
    alter table {schema}.record alter column bytes set storage external;
    create table {schema}.row (family smallint, key bytea, value bytea not null, primary key (family, key));
"];

/// The log as the tables describe it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) version: i64,
    pub(crate) shards: u16,
    /// Drawn at random when the log was made.
    pub(crate) identity: [u8; 16],
    /// False while an import fills it, and after one that failed.
    pub(crate) is_whole: bool,
}

/// A log that has the version of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// True when there was none before.
    pub is_new: bool,
    /// The number of its shards.
    pub shards: u16,
}

/// Makes the tables of the log, or brings them to the version of this program, in one transaction.
///
/// # Errors
/// [`SharedJournalError`]; then nothing was changed, unless it is [`SharedJournalError::Unknown`].
pub fn migrate(settings: &JournalSettings, shards: Option<u16>) -> Result<Migrated, SharedJournalError> {
    let mut connection = Connection::open(settings)?;
    if let Some(Format { shards: present, .. }) = read_format(&mut connection, &settings.schema)? {
        if shards.is_some_and(|asked| asked != present) {
            return Err(SharedJournalError::Schema(format!("the log has {present} shards, which do not change")));
        }
        return Ok(Migrated { is_new: false, shards: present });
    }
    let shards = shards.unwrap_or(SHARDS_DEFAULT);
    if shards == 0 || shards > SHARDS_MAX {
        return Err(SharedJournalError::Schema(format!("a log has 1 to {SHARDS_MAX} shards")));
    }
    create(&mut connection, &settings.schema, shards, Uuid::new_v4())?;
    Ok(Migrated { is_new: true, shards })
}

fn create(connection: &mut Connection, schema: &str, shards: u16, identity: Uuid) -> Result<(), SharedJournalError> {
    let steps = STEPS.map(|step| step.replace("{schema}", schema)).concat();
    let meta = format!("insert into {schema}.meta (name, value) values ($1, $2)");
    let fence = format!(
        "insert into {schema}.shard (shard, epoch, commits) select n, 0, 0 from generate_series($2::bigint, $1::bigint - 1) n"
    );
    let first = i64::from(OF_BOOK);
    connection.run(async |client| {
        let transaction = client.transaction().await?;
        transaction.batch_execute(&steps).await?;
        for (name, value) in [
            ("version", &VERSION.to_be_bytes()[..]),
            ("shards", &shards.to_be_bytes()),
            ("identity", identity.as_bytes()),
        ] {
            transaction.execute(&meta, &[&name, &value]).await?;
        }
        transaction.execute(&fence, &[&i64::from(shards), &first]).await?;
        transaction.commit().await
    })
}

/// The log that the tables hold; none when there are no tables.
pub(crate) fn read_format(connection: &mut Connection, schema: &str) -> Result<Option<Format>, SharedJournalError> {
    let table = format!("{schema}.meta");
    let exists: bool = connection.run(async |client| {
        let row = client.query_one("select to_regclass($1) is not null", &[&table]).await?;
        row.try_get(0)
    })?;
    if !exists {
        return Ok(None);
    }
    let query = format!("select name, value from {table}");
    let rows = connection.run(async |client| client.query(&query, &[]).await)?;
    let value = |name: &str| {
        let row = rows.iter().find(|row| row.get::<_, &str>(0) == name)?;
        Some(row.get::<_, &[u8]>(1).to_vec())
    };
    let number = |name: &str| value(name).and_then(|bytes| bytes.try_into().ok());
    let shards = value("shards").and_then(|bytes| bytes.try_into().ok()).map(u16::from_be_bytes);
    let identity = value("identity").and_then(|bytes| bytes.try_into().ok());
    let (Some(version), Some(shards), Some(identity)) = (number("version").map(i64::from_be_bytes), shards, identity)
    else {
        return Err(SharedJournalError::Schema(format!("{table} is incomplete: it is none of this program's")));
    };
    let is_whole = value(&named(IMPORT_UNDER_WAY)).is_none();
    Ok(Some(Format { version, shards, identity, is_whole }))
}

/// The format of a log that this program can use.
pub(crate) fn usable_format(connection: &mut Connection, schema: &str) -> Result<Format, SharedJournalError> {
    match read_format(connection, schema)? {
        Some(Format { is_whole: false, .. }) => Err(SharedJournalError::Schema(format!(
            "an import into the schema {schema} is under way or has failed: after a failure, drop the schema and begin again"
        ))),
        Some(format) if format.version == VERSION => Ok(format),
        Some(Format { version, .. }) => Err(SharedJournalError::Schema(format!(
            "the log has version {version}, this program reads and writes {VERSION}"
        ))),
        None => {
            Err(SharedJournalError::Schema(format!("there is no log in the schema {schema}: run till journal migrate")))
        }
    }
}
