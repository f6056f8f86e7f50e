//! Metadata: keyed values, and sets in them.

mod add_to_metadata_set;
mod arguments;
mod delete_metadata;
mod functions;
mod list_metadata;
mod paging;
mod remove_from_metadata_set;
mod retrieve_metadata;
mod sync_metadata;
mod value;

pub(super) use functions::functions;
