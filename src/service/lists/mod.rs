//! Reads of rows for answers: pages of lists, filters and searches, and the items of metadata.

mod every_merchant;
mod filtered_page;
mod id_span;
mod metadata;
mod open_action;
mod page;
mod payment_entries;
mod payment_search;
mod search;

pub use every_merchant::EveryMerchant;
pub use filtered_page::{Filtered, read_index_span, read_span, rows_of_index};
pub use id_span::IdSpan;
pub use metadata::{FoundMetadata, ItemPage, ItemRange, MetadataReader, PAGE_ITEMS_MAX};
pub use open_action::open_action;
pub use page::{FilterText, Page, read_index_page, read_page, read_page_with_ids};
pub use payment_entries::entries_of_payment;
pub use payment_search::{OwnedPayment, PaymentClue, PaymentSearch};
pub use search::{ActivityTerms, AmountRange, PaymentFilters, Selection, search};
