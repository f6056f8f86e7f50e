//! The place of a store's logs, and the stages that follow from it: checks and places that a commit passes before it is
//! written here, rows that are written along with it, and the place that is told of it afterwards.

use std::sync::Arc;

use crate::archive_queue::queue_value;
use crate::family::Family;
use crate::journal::claims::WritePlan;
use crate::journal::first_commit::{FirstCommit, RemoteLog};
use crate::journal::layout::WriteSink;
use crate::journal::{Append, LaggingRows};
use crate::keys::{MetaKey, UnarchivedKey};
use crate::positions::CommitNumber;

/// The place of the logs.
pub enum Deployment {
    /// The data directory, and an archive where one is kept.
    Embedded(Archiving),
    /// A journal elsewhere, of which the data directory is a replica: it fetches what it lacks from there, and commits
    /// are written there first.
    Journal(Arc<dyn RemoteLog>),
}

/// The way in which commits get into the archive.
pub enum Archiving {
    /// There is no archive.
    Off,
    /// Each commit writes a row for the archive, which is kept until the commit is archived.
    Queued,
    /// The archive has a commit before it is written here, and so before it is acknowledged.
    First(Arc<dyn FirstCommit>),
}

/// The stages around the local bytes of a store.
pub(super) struct Stages {
    /// Merchants whose rows lag behind their logs.
    pub(super) lagging: LaggingRows,
    deployment: Deployment,
}

impl Stages {
    pub(super) fn of(deployment: Deployment) -> Stages {
        Stages { lagging: LaggingRows::default(), deployment }
    }

    /// The log elsewhere of which the store is a replica, if there is one.
    pub(super) fn remote_log(&self) -> Option<&dyn RemoteLog> {
        match &self.deployment {
            Deployment::Embedded(_) => None,
            Deployment::Journal(log) => Some(log.as_ref()),
        }
    }

    /// Those who judge the batches of a group before it is written, in their order.
    pub(super) fn judges(&self) -> impl Iterator<Item = &dyn FirstCommit> {
        self.lagging.judge().into_iter().chain(self.first_place())
    }

    fn first_place(&self) -> Option<&dyn FirstCommit> {
        match &self.deployment {
            Deployment::Embedded(Archiving::Off | Archiving::Queued) => None,
            Deployment::Embedded(Archiving::First(archive)) => Some(archive.as_ref()),
            Deployment::Journal(log) => Some(log.as_ref()),
        }
    }

    /// True when an archive has a part of the commits, or a queue of them.
    pub(super) const fn is_archived(&self) -> bool {
        matches!(self.deployment, Deployment::Embedded(Archiving::Queued | Archiving::First(_)))
    }

    /// Adds what the deployment writes with a plan that follows the commit `stored`.
    pub(super) fn write_along(
        &self,
        group: &[Append],
        plan: &WritePlan,
        stored: CommitNumber,
        sink: &mut impl WriteSink,
    ) {
        match &self.deployment {
            Deployment::Embedded(Archiving::Queued) => {
                let mut before = stored;
                for (commit, append) in plan.writes(group) {
                    sink.put(Family::Meta, &UnarchivedKey(commit).encode(), &queue_value(append, before));
                    before = commit;
                }
            }
            Deployment::Embedded(Archiving::Off | Archiving::First(_)) => {}
            Deployment::Journal(log) => sink.put(Family::Meta, &MetaKey::RemoteLog.encode(), &log.position()),
        }
    }

    /// Notes that the commits up to `last` are written here.
    pub(super) fn confirm(&self, last: CommitNumber) {
        if let Some(place) = self.first_place() {
            place.confirm(last);
        }
    }
}
