//! Shapes of metadata. A document and an item are texts, whose content `till_domain::metadata` describes.

use till_domain::metadata::{MetadataRecord, MetadataSet, SweptItem};

use super::declared::shape_struct;

shape_struct! {
    /// The data of a record beside its document and items.
    MetadataRecordV1 of MetadataRecord {
        id: [u8; 16],
        version: u64,
        bytesize: u64,
        item_count: u64,
        created_at: u64,
        updated_at: u64,
        expires_at: u64,
        ttl_seconds: Option<u64>,
        timer_due: u64,
        sets_from: u32,
        sets_below: u32,
    }
}

shape_struct! {
    /// The counters of a set.
    MetadataSetV1 of MetadataSet {
        item_count: u64,
        item_bytes: u64,
        next_position: u64,
    }
}

shape_struct! {
    /// A row of an item that was removed.
    SweptItemV1 of SweptItem {
        set: u32,
        hash: [u8; 32],
        position: u64,
    }
}
