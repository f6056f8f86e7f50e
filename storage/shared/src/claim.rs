//! Claims of shards. A claim waits for a commit that is still under way, and so sees its outcome; a mere look would not.

use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::shard::{Hold, Holds, Shard};

/// Claims shards for a process: whoever held them before, or only those that it `still_holds`. A statement of an earlier
/// epoch has taken effect before, or never does.
pub(crate) fn claim(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
    shards: &[Shard],
    still_holds: bool,
) -> Result<Holds, SharedJournalError> {
    let statement = format!(
        "update {schema}.shard set epoch = epoch + 1, incarnation = $1
         where shard = any($2) and (incarnation = $1 or not $3) returning shard, epoch, commits"
    );
    let rows = connection.run(async |client| client.query(&statement, &[&incarnation, &shards, &still_holds]).await)?;
    Ok(rows.iter().map(|row| (row.get(0), Hold { epoch: row.get(1), commits: row.get(2) })).collect())
}
