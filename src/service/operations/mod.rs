//! Operations of the operator on the running process and its store: checkpoints, reloads, the rotation of the vault key,
//! the pause of effects.

mod checkpoints;
mod pause_note;
mod process;
mod reloads;
mod schedule;

pub use checkpoints::{Checkpoints, NewestCheckpoint, error_chain};
pub use pause_note::PauseNote;
pub use process::{Operations, RewrapKeyring};
pub use reloads::{Reloaded, Reloads};
pub use schedule::CheckpointSchedule;
