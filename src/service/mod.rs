//! Services for endpoints: submitting commands, reading rows, identifying callers, converting refusals into errors.

mod activity_log;
mod checkpoint_schedule;
mod checkpoints;
mod denial;
mod filtered_page;
mod fingerprint;
mod installation;
mod last_used;
mod metadata;
mod operations;
mod page;
mod pause_note;
mod reloads;
mod shared;

pub use activity_log::{Selection, Terms, search};
pub use checkpoint_schedule::CheckpointSchedule;
pub use checkpoints::Checkpoints;
pub use denial::RETRY_AFTER_SECONDS;
pub use filtered_page::{Filtered, IdSpan};
pub use installation::{NamedInstallation, SdkCaller, SdkRate};
pub use last_used::LastUsed;
pub use metadata::{FoundMetadata, ItemPage, ItemRange, MetadataReader, PAGE_ITEMS_MAX};
pub use operations::{Operations, RewrapKeyring};
pub use page::{Page, read_index_page, read_page, read_page_with_ids};
pub use pause_note::PauseNote;
pub use reloads::{Reloaded, Reloads};
pub use shared::{Reader, Service, Shared};
