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

use std::sync::Arc;

use crate::access::MerchantCaller;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

use add_to_metadata_set::{ADD_TO_METADATA_SET, add_to_metadata_set};
use delete_metadata::{DELETE_METADATA, delete_metadata};
use list_metadata::{LIST_METADATA, list_metadata};
use remove_from_metadata_set::{REMOVE_FROM_METADATA_SET, remove_from_metadata_set};
use retrieve_metadata::{RETRIEVE_METADATA, retrieve_metadata};
use sync_metadata::{SYNC_METADATA, sync_metadata};

/// The functions of this subject.
pub(super) fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
    let of = |service: &Shared| Arc::clone(service);
    vec![
        endpoint(&ADD_TO_METADATA_SET, of(service), add_to_metadata_set),
        endpoint(&REMOVE_FROM_METADATA_SET, of(service), remove_from_metadata_set),
        endpoint(&SYNC_METADATA, of(service), sync_metadata),
        endpoint(&RETRIEVE_METADATA, of(service), retrieve_metadata),
        endpoint(&LIST_METADATA, of(service), list_metadata),
        endpoint(&DELETE_METADATA, of(service), delete_metadata),
    ]
}
