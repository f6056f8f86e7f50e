//! Claims of shards. A claim waits for a commit that is still under way, and so sees its outcome; a mere look would not.

use std::ops::RangeInclusive;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::shard::{Hold, Holds, Shard};

/// Claims shards for a process, whoever held them before.
pub(crate) fn claim(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
    shards: &RangeInclusive<Shard>,
) -> Result<Holds, SharedJournalError> {
    let statement = format!(
        "update {schema}.shard set epoch = epoch + 1, incarnation = $1 where shard between $2 and $3
         returning shard, epoch, commits"
    );
    let parameters: [&(dyn ToSql + Sync); 3] = [&incarnation, shards.start(), shards.end()];
    let rows = connection.run(async |client| client.query(&statement, &parameters).await)?;
    Ok(rows.iter().map(hold).collect())
}

/// Claims those of the shards once more that the process still holds. A statement of an earlier epoch has taken effect
/// before, or never does.
pub(crate) fn claim_again(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
    shards: &[Shard],
) -> Result<Holds, SharedJournalError> {
    let statement = format!(
        "update {schema}.shard set epoch = epoch + 1 where shard = any($1) and incarnation = $2
         returning shard, epoch, commits"
    );
    let rows = connection.run(async |client| client.query(&statement, &[&shards, &incarnation]).await)?;
    Ok(rows.iter().map(hold).collect())
}

fn hold(row: &Row) -> (Shard, Hold) {
    (row.get(0), Hold { epoch: row.get(1), commits: row.get(2) })
}
