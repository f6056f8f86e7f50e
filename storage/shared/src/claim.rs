//! Claims of shards. A claim waits for a commit that is still under way, and so sees its outcome; a mere look would
//! not.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::settings::JournalSettings;
use crate::shard::{Hold, Holds, Shard};

/// The number of times that shards are claimed which others claim at the same moment.
const CLAIMS_MAX: usize = 10;

/// A connection for claims. The wait for a lock ends before the patience does, so that no claim stays behind in the
/// database when nobody waits for it any more; that ends no commit.
pub(crate) fn connection(settings: &JournalSettings) -> Result<Connection, SharedJournalError> {
    let mut connection = Connection::open(settings)?;
    let limit = format!("set lock_timeout = {}", (settings.patience.as_millis() * 3 / 4).max(1));
    connection.read(async |client| client.batch_execute(&limit).await)?;
    Ok(connection)
}

/// Claims shards for a process, whoever held them before. Returns what each was: its epoch and commits now, and the
/// process that held it. A statement of an earlier epoch has taken effect before, or never does.
pub(crate) fn claim(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
    shards: &[Shard],
) -> Result<BTreeMap<Shard, (Hold, Option<Uuid>)>, SharedJournalError> {
    // The holder before is that of the row which is changed: one that another claim has changed meanwhile is left out.
    let statement = format!(
        "with before as (select shard, incarnation from {schema}.shard where shard = any($2))
         update {schema}.shard t set epoch = t.epoch + 1, incarnation = $1 from before b
         where t.shard = b.shard and t.incarnation is not distinct from b.incarnation
         returning t.shard, t.epoch, t.commits, b.incarnation"
    );
    let (mut claimed, mut missing) = (BTreeMap::new(), shards.to_vec());
    for _ in 0..CLAIMS_MAX {
        let rows = connection.write(async |client| client.query(&statement, &[&incarnation, &missing]).await)?;
        claimed.extend(rows.iter().map(|row| {
            (row.get::<_, Shard>(0), (Hold { epoch: row.get(1), commits: row.get(2) }, row.get::<_, Option<Uuid>>(3)))
        }));
        missing.retain(|shard| !claimed.contains_key(shard));
        if missing.is_empty() {
            return Ok(claimed);
        }
    }
    Err(SharedJournalError::Refused("other servers claim the log at the same time".to_owned()))
}

/// Claims again those of some shards that a process still holds. The commit waits for the standby. A statement before
/// it that was canceled may not have waited; after this commit what the claim tells is on two machines.
pub(crate) fn claim_again(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
    shards: &[Shard],
) -> Result<Holds, SharedJournalError> {
    let statement = format!(
        "update {schema}.shard set epoch = epoch + 1
         where shard = any($2) and incarnation = $1 returning shard, epoch, commits"
    );
    let rows = connection.write(async |client| client.query(&statement, &[&incarnation, &shards]).await)?;
    Ok(rows.iter().map(|row| (row.get(0), Hold { epoch: row.get(1), commits: row.get(2) })).collect())
}

/// The shards that another process holds, as they are now.
pub(crate) fn foreign(
    connection: &mut Connection,
    schema: &str,
    incarnation: Uuid,
) -> Result<Vec<(Shard, Hold)>, SharedJournalError> {
    let query = format!(
        "select shard, epoch, commits from {schema}.shard where incarnation is distinct from $1 order by shard"
    );
    let rows = connection.read(async |client| client.query(&query, &[&incarnation]).await)?;
    Ok(rows.iter().map(|row| (row.get(0), Hold { epoch: row.get(1), commits: row.get(2) })).collect())
}
