//! The functions on metadata.

use std::sync::Arc;

use super::add_to_metadata_set::{ADD_TO_METADATA_SET, add_to_metadata_set};
use super::delete_metadata::{DELETE_METADATA, delete_metadata};
use super::list_metadata::{LIST_METADATA, list_metadata};
use super::remove_from_metadata_set::{REMOVE_FROM_METADATA_SET, remove_from_metadata_set};
use super::retrieve_metadata::{RETRIEVE_METADATA, retrieve_metadata};
use super::sync_metadata::{SYNC_METADATA, sync_metadata};
use crate::access::MerchantCaller;
use crate::protocol::dispatch::{Function, endpoint};
use crate::service::Shared;

pub(in crate::endpoints::merchants) fn functions(service: &Shared) -> Vec<Arc<dyn Function<MerchantCaller>>> {
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
