//! Small notes of the server beside the log, each under a name.

use tokio_postgres::{Client, Error};

use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::settings::JournalSettings;

/// The beginning of the names of notes, by which none is a fact about the tables.
const NOTE: &str = "note:";

/// The note of a log that an import fills. It is there until the log is whole.
pub(crate) const IMPORT_UNDER_WAY: &str = "import-under-way";

/// The note of a log of which an embedded store was made: the directory of that store.
const EXPORTED: &str = "exported";

/// The directory of the embedded store that was made of a log; none when none was, or when that was taken back.
///
/// # Errors
/// [`SharedJournalError`].
pub fn exported_to(settings: &JournalSettings) -> Result<Option<String>, SharedJournalError> {
    let note = Connection::open(settings)?.read(async |client| read(client, &settings.schema, EXPORTED).await)?;
    Ok(note.map(|directory| String::from_utf8_lossy(&directory).into_owned()))
}

/// Notes the directory of the embedded store that was made of a log, or takes that back.
///
/// # Errors
/// [`SharedJournalError`].
pub fn note_exported(settings: &JournalSettings, to: Option<&str>) -> Result<(), SharedJournalError> {
    set_note(&mut Connection::open(settings)?, &settings.schema, EXPORTED, to.map(str::as_bytes))
}

/// A note; none when there is none under the name.
pub(crate) async fn read(client: &Client, schema: &str, name: &str) -> Result<Option<Vec<u8>>, Error> {
    let query = format!("select value from {schema}.meta where name = $1");
    Ok(client.query_opt(&query, &[&note_name(name)]).await?.map(|row| row.get(0)))
}

/// Keeps a note, or removes it.
pub(crate) fn set_note(
    connection: &mut Connection,
    schema: &str,
    name: &str,
    value: Option<&[u8]>,
) -> Result<(), SharedJournalError> {
    connection.write(async |client| write(client, schema, name, value).await)
}

/// Keeps a note, or removes it.
pub(crate) async fn write(client: &Client, schema: &str, name: &str, value: Option<&[u8]>) -> Result<(), Error> {
    // Both statements have the same parameters.
    let statement = match value {
        Some(_) => format!(
            "insert into {schema}.meta (name, value) values ($1, $2)
             on conflict (name) do update set value = excluded.value"
        ),
        None => format!("delete from {schema}.meta where name = $1 and $2::bytea is null"),
    };
    client.execute(&statement, &[&note_name(name), &value]).await.map(drop)
}

/// The name of a note in the table.
pub(crate) fn note_name(name: &str) -> String {
    format!("{NOTE}{name}")
}
