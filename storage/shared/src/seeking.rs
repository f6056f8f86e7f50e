//! The thread that finds out the outcome of writes for which it is unknown, and when the database answers again. A lane
//! has at most one such thread, which makes one attempt at a time.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use crate::claim;
use crate::connection::Connection;
use crate::error::SharedJournalError;
use crate::settings::JournalSettings;
use crate::shard::{Hold, Holds, Shard};
use crate::standing::Standing;

/// The pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// The parts that a thread which seeks needs.
#[derive(Clone)]
pub(crate) struct Seeker {
    pub(crate) settings: JournalSettings,
    pub(crate) incarnation: Uuid,
    pub(crate) standing: Arc<Standing>,
}

impl Seeker {
    /// Has shards sought by a thread: they are claimed again, and the claim waits for a statement that is under way,
    /// and keeps one that has not arrived yet from taking effect. Without shards the thread ends when the database
    /// answers.
    pub(crate) fn seek(&self, shards: impl Iterator<Item = Shard>, may_have_landed: bool) {
        if !self.standing.seek(shards, may_have_landed) {
            return;
        }
        let seeker = self.clone();
        let started = thread::Builder::new().name("journal-seek".to_owned()).spawn(move || seeker.run());
        if let Err(error) = started {
            tracing::error!(%error, "the system gives no thread for the log: it is waited for here");
            self.run();
        }
    }

    fn run(&self) {
        let mut is_told = false;
        while let Some(shards) = self.standing.sought() {
            match self.look(&shards) {
                Ok((claimed, foreign)) if self.standing.take_found(&shards, &claimed, &foreign) => return,
                Ok(_) => {}
                Err(error) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tracing::error!(%error, "the database of the log does not answer");
                    }
                    thread::sleep(RETRY_PAUSE);
                }
            }
        }
    }

    /// The shards that this process still holds, claimed again, and those of others if one of these is among them.
    fn look(&self, shards: &[Shard]) -> Result<(Holds, Vec<(Shard, Hold)>), SharedJournalError> {
        let Seeker { settings, incarnation, .. } = self;
        let mut connection: Connection = claim::connection(settings)?;
        if shards.is_empty() {
            return Ok((Holds::new(), Vec::new()));
        }
        let claimed = claim::claim_again(&mut connection, &settings.schema, *incarnation, shards)?;
        let is_whole = claimed.len() == shards.len();
        let foreign =
            if is_whole { Ok(Vec::new()) } else { claim::foreign(&mut connection, &settings.schema, *incarnation) };
        Ok((claimed, foreign?))
    }
}
