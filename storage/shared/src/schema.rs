//! The tables of the log, and their versions.

use till_storage::engine::FORMAT;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::notes::{IMPORT_UNDER_WAY, note_name};
use crate::settings::JournalSettings;
use crate::shard::OF_BOOK;

/// The number of shards of a new log.
pub const SHARDS_DEFAULT: u16 = 64;

/// The largest number of shards.
const SHARDS_MAX: u16 = 1_024;

/// The version of the tables that this program reads and writes: the format of their records, which is raised for a
/// change of the tables, too.
const VERSION: i64 = (FORMAT & 0xffff) as i64;

/// The statements that make the tables. `{schema}` is the schema.
///
/// - `meta`: version, shards and identity of the log, each under its name, and notes of the server.
/// - `shard`: the fence. `commits` is the number of commits to the shard, `records` that of its records, `incarnation`
///   the process that holds it. Below 0 are the fences of rows that belong to no log: -1 of deliveries, -2 of the
///   sandbox's book.
/// - `record`: the records as the local store has them, whole.
/// - `row`: rows that are not derived from records, by family (6: directory, 7: vault, 9: deliveries, 10: the book) and
///   key.
const TABLES: &str = "
    create schema if not exists {schema};
    create table {schema}.meta (name text primary key, value bytea not null);
    create table {schema}.shard (
        shard smallint primary key, epoch bigint not null, commits bigint not null, records bigint not null,
        incarnation uuid
    );
    create table {schema}.record (
        merchant_id uuid, sequence bigint, bytes bytea not null, primary key (merchant_id, sequence)
    );
    create table {schema}.row (family smallint, key bytea, value bytea not null, primary key (family, key));
";

/// Options of their storage, which a database that lacks them goes without: room for the versions of the fence's rows,
/// which change with each commit, and no attempt to compress records, whose bytes do not get smaller.
const OPTIONS: [&str; 2] = [
    "alter table {schema}.shard set (fillfactor = 10)",
    "alter table {schema}.record alter column bytes set storage external",
];

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
/// [`SharedJournalError`]; then nothing was changed, unless the answer to it was lost.
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
    let tables = TABLES.replace("{schema}", schema);
    let meta = format!("insert into {schema}.meta (name, value) values ($1, $2)");
    let fence = format!(
        "insert into {schema}.shard (shard, epoch, commits, records)
         select n, 0, 0, 0 from generate_series($2::bigint, $1::bigint - 1) n"
    );
    let first = i64::from(OF_BOOK);
    connection.read(async |client| {
        let transaction = client.transaction().await?;
        transaction.batch_execute(&tables).await?;
        for (name, value) in [
            ("version", &VERSION.to_be_bytes()[..]),
            ("shards", &shards.to_be_bytes()),
            ("identity", identity.as_bytes()),
        ] {
            transaction.execute(&meta, &[&name, &value]).await?;
        }
        transaction.execute(&fence, &[&i64::from(shards), &first]).await?;
        transaction.commit().await
    })?;
    for option in OPTIONS {
        let option = option.replace("{schema}", schema);
        if let Err(error) = connection.read(async |client| client.batch_execute(&option).await) {
            tracing::warn!(%error, option, "the database does without an option of a table");
        }
    }
    Ok(())
}

/// The log that the tables hold; none when there are no tables.
pub(crate) fn read_format(connection: &mut Connection, schema: &str) -> Result<Option<Format>, SharedJournalError> {
    let table = format!("{schema}.meta");
    let exists: bool = connection.read(async |client| {
        let row = client.query_one("select to_regclass($1) is not null", &[&table]).await?;
        row.try_get(0)
    })?;
    if !exists {
        return Ok(None);
    }
    let query = format!("select name, value from {table}");
    let rows = connection.read(async |client| client.query(&query, &[]).await)?;
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
    let is_whole = value(&note_name(IMPORT_UNDER_WAY)).is_none();
    Ok(Some(Format { version, shards, identity, is_whole }))
}

/// The format of a log that this program can use.
pub(crate) fn usable_format(connection: &mut Connection, schema: &str) -> Result<Format, SharedJournalError> {
    match read_format(connection, schema)? {
        Some(Format { is_whole: false, .. }) => Err(SharedJournalError::Schema(format!(
            "an import into the schema {schema} is under way or has failed: after a failure, drop the schema and \
                begin again"
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
