//! Services for endpoints: submitting commands, reading rows, identifying callers, converting refusals into errors.

mod checkpoint_schedule;
mod checkpoints;
mod denial;
mod every_merchant;
mod filtered_page;
mod fingerprint;
mod id_span;
mod installation;
mod last_used;
mod metadata;
mod operations;
mod page;
mod pause_note;
mod payment_search;
mod reloads;
mod search;
mod shared;
mod webhook_tests;

pub use checkpoint_schedule::CheckpointSchedule;
pub use checkpoints::{Checkpoints, NewestCheckpoint};
pub use denial::{RETRY_AFTER_SECONDS, refused};
pub use every_merchant::EveryMerchant;
pub use filtered_page::Filtered;
pub use id_span::IdSpan;
pub use installation::{NamedInstallation, SdkCaller, SdkRate};
pub use last_used::LastUsed;
pub use metadata::{FoundMetadata, ItemPage, ItemRange, MetadataReader, PAGE_ITEMS_MAX};
pub use operations::{Operations, RewrapKeyring};
pub use page::{Page, read_index_page, read_page, read_page_with_ids};
pub use pause_note::PauseNote;
pub use payment_search::{OwnedPayment, PaymentClue, PaymentSearch};
pub use reloads::{Reloaded, Reloads};
pub use search::{ActivityTerms, AmountRange, PaymentFilters, Selection, search};
pub use shared::{Reader, Service, Shared};
pub use webhook_tests::TestTurn;
