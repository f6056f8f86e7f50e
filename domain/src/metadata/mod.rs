//! Metadata: keyed JSON values of a merchant, with arrays in them that are used as sets.
//!
//! A record has a small row of its own, a document, and, for every array that was used as a set, counters and
//! rows of its items. So adding to a set costs the same however large the set is.

mod document;
mod json;
mod path;
mod record;

pub use document::{Document, PathTarget, Piece, SetPlace};
pub use json::{CanonicalJson, Items};
pub use path::{DEPTH_MAX, MetadataPath};
pub use record::{
    BYTESIZE_MAX, DOCUMENT_BYTES_MAX, ITEMS_MAX, ItemHash, MetadataRecord, MetadataSet, SETS_MAX, SetNumber, SweptItem,
    TTL_DEFAULT_SECONDS, TTL_MAX_SECONDS, VALUE_BYTES_MAX,
};
