//! Metadata: keyed values, and sets in them.

mod add_to_metadata_set;
mod arguments;
mod delete_metadata;
mod list_metadata;
mod paging;
mod remove_from_metadata_set;
mod retrieve_metadata;
mod sync_metadata;
mod value;

use crate::endpoints::prelude::*;

/// The endpoints of these files.
pub(super) const ENDPOINTS: [MerchantEndpoints; 6] = [
    add_to_metadata_set::ENDPOINTS,
    remove_from_metadata_set::ENDPOINTS,
    sync_metadata::ENDPOINTS,
    retrieve_metadata::ENDPOINTS,
    list_metadata::ENDPOINTS,
    delete_metadata::ENDPOINTS,
];
