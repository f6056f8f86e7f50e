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

pub(crate) use every_merchant::EveryMerchant;
pub(crate) use filtered_page::{Filtered, read_index_span, read_span, rows_of_index};
pub(crate) use id_span::IdSpan;
pub(crate) use metadata::{FoundMetadata, ItemPage, ItemRange, MetadataReader, PAGE_ITEMS_MAX};
pub(crate) use open_action::{open_action, prepared_reference};
pub(crate) use page::{FilterText, ListPage, read_list_page, read_list_page_of_index, read_list_page_with_ids};
pub(crate) use payment_entries::entries_of_payment;
pub(crate) use payment_search::{OwnedPayment, PaymentClue, PaymentSearch};
pub(crate) use search::{ActivityTerms, AmountRange, PaymentFilters, Selection, search};
