//! The fold of metadata into rows. Events carry all of it, so that no row is read.

use crate::effect::{Timer, TimerKind};
use crate::event::Event;
use crate::ids::MetadataId;
use crate::metadata::{CanonicalJson, Document, ItemHash, MetadataRecord, SetNumber, SweptItem};
use crate::records::{
    Metadata, MetadataByCreation, MetadataDocuments, MetadataGarbage, MetadataItems, MetadataPositions, MetadataSets,
    Present, RowsMut, Timers,
};
use crate::text::MetadataKey;
use crate::time::Millis;
use std::collections::BTreeSet;

/// Folds an event of metadata in; any other changes nothing here.
pub(super) fn apply(event: &Event, rows: &mut impl RowsMut) {
    if let Event::MetadataSaved { key, record, timer_was, document, garbage_below } = event {
        save(key, record, *timer_was, rows);
        put_document(record.id, document.as_ref(), rows);
        leave_garbage(record.id, *garbage_below, rows);
    } else if let Event::MetadataSetFormed { id, number, set, items } = event {
        rows.put::<MetadataSets>((*id, *number), *set);
        for (position, item) in (0..).zip(items.items()) {
            put_item(*id, *number, position, &CanonicalJson::from_canonical(item), rows);
        }
    } else if let Event::MetadataRepeatsDropped { id, number, set, array } = event {
        rows.put::<MetadataSets>((*id, *number), *set);
        put_first_of_each(*id, *number, array, rows);
    } else if let Event::MetadataItemAdded { id, number, set, position, item } = event {
        rows.put::<MetadataSets>((*id, *number), *set);
        put_item(*id, *number, *position, item, rows);
    } else if let Event::MetadataItemRemoved { id, number, set, position, hash } = event {
        rows.put::<MetadataSets>((*id, *number), *set);
        remove_item(*id, SweptItem { set: *number, hash: *hash, position: *position }, rows);
    } else if let Event::MetadataEnded { key, id, timer_due, garbage_below } = event {
        end(key, *id, *timer_due, rows);
        leave_garbage(*id, *garbage_below, rows);
    } else if let Event::MetadataTimerMoved { key, record, timer_was } = event {
        save(key, record, Some(*timer_was), rows);
    } else if let Event::MetadataSwept { id, items, sets, finished } = event {
        sweep(*id, items, sets, rows);
        if *finished {
            rows.remove::<MetadataGarbage>(*id);
        }
    }
}

fn timer(id: MetadataId, due: Millis) -> Timer {
    Timer { due, kind: TimerKind::ExpireMetadata(id) }
}

fn save(key: &MetadataKey, record: &MetadataRecord, timer_was: Option<Millis>, rows: &mut impl RowsMut) {
    match timer_was {
        None => rows.put::<MetadataByCreation>(record.id, key.clone()),
        Some(was) if was != record.timer_due => rows.remove::<Timers>(timer(record.id, was)),
        Some(_) => {}
    }
    if timer_was != Some(record.timer_due) {
        rows.put::<Timers>(timer(record.id, record.timer_due), Present);
    }
    rows.put::<Metadata>(key.clone(), *record);
}

fn put_document(id: MetadataId, document: Option<&Document>, rows: &mut impl RowsMut) {
    if let Some(document) = document {
        rows.put::<MetadataDocuments>(id, document.clone());
    }
}

fn leave_garbage(id: MetadataId, below: Option<SetNumber>, rows: &mut impl RowsMut) {
    if let Some(below) = below {
        rows.put::<MetadataGarbage>(id, below);
    }
}

fn put_item(id: MetadataId, number: SetNumber, position: u64, item: &CanonicalJson, rows: &mut impl RowsMut) {
    rows.put::<MetadataItems>((id, number, ItemHash::of(item.as_str())), position);
    rows.put::<MetadataPositions>((id, number, position), item.clone());
}

/// Writes each distinct item at the position of its first occurrence.
fn put_first_of_each(id: MetadataId, number: SetNumber, array: &CanonicalJson, rows: &mut impl RowsMut) {
    let mut seen = BTreeSet::new();
    for (place, item) in (0..).zip(array.items()) {
        if seen.insert(item) {
            put_item(id, number, place, &CanonicalJson::from_canonical(item), rows);
        }
    }
}

fn remove_item(id: MetadataId, item: SweptItem, rows: &mut impl RowsMut) {
    rows.remove::<MetadataItems>((id, item.set, item.hash));
    rows.remove::<MetadataPositions>((id, item.set, item.position));
}

fn end(key: &MetadataKey, id: MetadataId, timer_due: Millis, rows: &mut impl RowsMut) {
    rows.remove::<Metadata>(key.clone());
    rows.remove::<MetadataByCreation>(id);
    rows.remove::<MetadataDocuments>(id);
    rows.remove::<Timers>(timer(id, timer_due));
}

fn sweep(id: MetadataId, items: &[SweptItem], sets: &[SetNumber], rows: &mut impl RowsMut) {
    for item in items {
        remove_item(id, *item, rows);
    }
    for number in sets {
        rows.remove::<MetadataSets>((id, *number));
    }
}
