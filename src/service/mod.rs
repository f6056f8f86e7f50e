//! Services for endpoints: submitting commands, reading rows, identifying callers, converting refusals into errors.

mod callers;
mod lists;
mod operations;
mod submission;
mod usage;

pub(crate) use callers::{
    CheckoutReference, NamedInstallation, OfferedCheckout, PlanTerms, SdkCaller, card_page, given_up_to, plan_terms,
    returned_to,
};
#[cfg(feature = "pages")]
pub(crate) use callers::{framed_at, in_ascii, origin_of, parse_with_secret};
pub(crate) use lists::{
    ActivityTerms, AmountRange, EveryMerchant, FilterText, Filtered, FoundMetadata, IdSpan, ItemPage, ItemRange,
    ListPage, MetadataReader, OwnedPayment, PAGE_ITEMS_MAX, PaymentClue, PaymentFilters, PaymentSearch, Selection,
    entries_of_payment, open_action, prepared_reference, read_index_span, read_list_page, read_list_page_of_index,
    read_list_page_with_ids, read_span, rows_of_index, search,
};
pub use operations::NoteFiles;
pub(crate) use operations::{
    CheckpointSchedule, Checkpoints, NOTES, NewestCheckpoint, Notes, Operations, Reloaded, Reloads, RewrapKeyring,
    error_chain,
};
pub use submission::{OnDisk, SdkRate, Service, ServiceParts, Shared};
pub(crate) use submission::{Reader, TestTurn, refused, reply_of};
pub use usage::{LastUsed, SdkWrites};
