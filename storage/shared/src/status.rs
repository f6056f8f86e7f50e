//! The state of the database of the log, for operators.

use serde::Serialize;

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::schema::usable_format;
use crate::settings::JournalSettings;

/// The state of the database of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalStatus {
    /// The version of the server, such as `15.18`.
    pub server: String,
    /// The identity of the log in hexadecimal.
    pub log: String,
    /// The number of shards.
    pub shards: u16,
    /// Commits of all shards.
    pub commits: i64,
    /// True when the server is configured to wait for a synchronous standby.
    pub waits_for_standby: bool,
    /// Synchronous standbys that are connected now. None when the role may not see it: it needs `pg_monitor`.
    pub synchronous_standbys: Option<i64>,
    /// Settings of the server that give commits up in a crash, such as `fsync = off`.
    pub unsafe_settings: Vec<String>,
    /// Seconds for which the oldest snapshot is held. It keeps old versions of the fence's rows. A vacuum keeps none.
    pub oldest_snapshot_seconds: f64,
}

const QUERY: &str = "
    select current_setting('server_version'),
           (select sum(commits)::bigint from {schema}.shard),
           case when pg_has_role(current_user, 'pg_monitor', 'member')
                then (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')) end,
           current_setting('synchronous_standby_names') <> '',
           array(select name || ' = ' || setting from pg_settings
                 where name in ('fsync', 'full_page_writes') and setting = 'off'),
           coalesce((select extract(epoch from max(now() - xact_start))::float8 from pg_stat_activity
                     where backend_xmin is not null and pid <> pg_backend_pid()
                       and pid not in (select pid from pg_stat_progress_vacuum)), 0)";

/// Asks the database for the state of the log.
///
/// # Errors
/// [`SharedJournalError`].
pub fn status(settings: &JournalSettings) -> Result<JournalStatus, SharedJournalError> {
    let mut connection = Connection::open(settings)?;
    let format = usable_format(&mut connection, &settings.schema)?;
    let query = QUERY.replace("{schema}", &settings.schema);
    let row = connection.read(async |client| client.query_one(&query, &[]).await)?;
    Ok(JournalStatus {
        server: row.get(0),
        log: format!("{:032x}", u128::from_be_bytes(format.identity)),
        shards: format.shards,
        commits: row.get(1),
        synchronous_standbys: row.get(2),
        waits_for_standby: row.get(3),
        unsafe_settings: row.get(4),
        oldest_snapshot_seconds: row.get(5),
    })
}
