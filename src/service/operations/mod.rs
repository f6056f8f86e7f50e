//! Operations of the operator on the running process and its store: checkpoints, reloads, the rotation of the vault
//! key, the pause of effects.

mod checkpoints;
mod notes;
mod process;
mod reloads;
mod schedule;

pub(crate) use checkpoints::{Checkpoints, NewestCheckpoint, error_chain};
pub(super) use notes::LAST_USED_NOTE;
pub use notes::NoteFiles;
pub(crate) use notes::{NOTES, Notes};
pub(crate) use process::{Operations, RewrapKeyring};
pub(crate) use reloads::{Reloaded, Reloads};
pub(crate) use schedule::CheckpointSchedule;
