//! Metadata: contract, section 5.

use super::context::{Context, Decision};
use crate::command::{AddToMetadataSet, DeleteMetadata, RemoveFromMetadataSet, SweepMetadata, SyncMetadata};
use crate::event::{Answer, Event};
use crate::ids::MetadataId;
use crate::metadata::{
    BYTESIZE_MAX, CanonicalJson, DOCUMENT_BYTES_MAX, Document, ITEMS_MAX, ItemHash, MetadataPath, MetadataRecord,
    MetadataSet, PathTarget, SETS_MAX, SetNumber, TTL_DEFAULT_SECONDS,
};
use crate::records::{
    Metadata, MetadataByCreation, MetadataDocuments, MetadataGarbage, MetadataItems, MetadataSets, Records, Unreadable,
};
use crate::refusal::{DecisionError, Refusal};
use crate::text::MetadataKey;
use crate::time::Millis;
use std::collections::BTreeSet;

pub(super) fn add_to_set(
    records: &impl Records,
    command: &AddToMetadataSet,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let mut edit = Edit::open(records, &command.key, command.version, context)?;
    let found = edit.find_item(records, &command.path, &command.item)?;
    let added = !matches!(found, ItemLookup::There { .. });
    match found {
        ItemLookup::There { .. } => {}
        ItemLookup::Missing { number, set } => edit.add(number, set, &command.item),
        ItemLookup::NoSet => {
            edit.create_set(&command.path, format!("[{}]", command.item.as_str()))?;
            edit.value_changed = true;
        }
    }
    let (decision, _) = edit.finish(&command.key, command.ttl_seconds, context)?;
    Ok((decision, Answer::Changed(added)))
}

pub(super) fn remove_from_set(
    records: &impl Records,
    command: &RemoveFromMetadataSet,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let mut edit = Edit::open(records, &command.key, command.version, context)?;
    if edit.was.is_none() {
        return Ok((Decision::nothing(), Answer::Changed(false)));
    }
    let found = edit.find_item(records, &command.path, &command.item)?;
    let removed = matches!(found, ItemLookup::There { .. });
    match found {
        ItemLookup::There { number, set, position } => edit.remove(number, set, position, &command.item),
        ItemLookup::Missing { .. } | ItemLookup::NoSet => {}
    }
    let (decision, _) = edit.finish(&command.key, None, context)?;
    Ok((decision, Answer::Changed(removed)))
}

pub(super) fn sync(
    records: &impl Records,
    command: &SyncMetadata,
    context: &mut Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let mut edit = Edit::open(records, &command.key, command.version, context)?;
    edit.replace(&command.metadata);
    let (decision, record) = edit.finish(&command.key, command.ttl_seconds, context)?;
    let MetadataRecord { version, created_at, updated_at, expires_at, .. } = record;
    Ok((decision, Answer::Metadata { version, created_at, updated_at, expires_at }))
}

pub(super) fn delete(
    records: &impl Records,
    command: &DeleteMetadata,
    context: &Context<'_>,
) -> Result<(Decision, Answer), DecisionError> {
    let record = records.get::<Metadata>(command.key.clone())?.filter(|record| record.is_live(context.now));
    check_version(command.version, record.as_ref())?;
    let deleted = Answer::Changed(record.is_some());
    Ok((record.map_or_else(Decision::nothing, |record| Decision::one(event_of_end(&command.key, &record))), deleted))
}

/// Handles the timer of a record: the record has expired, or lives on and its timer is set again.
pub(super) fn expire(
    records: &impl Records,
    id: MetadataId,
    due: Millis,
    context: &Context<'_>,
) -> Result<Option<Event>, Unreadable> {
    let Some(key) = records.get::<MetadataByCreation>(id)? else { return Ok(None) };
    let record = records.get::<Metadata>(key.clone())?.filter(|record| record.id == id && record.timer_due == due);
    Ok(record.map(|record| {
        if !record.is_live(context.now) {
            return event_of_end(&key, &record);
        }
        let record = MetadataRecord { timer_due: record.expires_at, ..record };
        Event::MetadataTimerMoved { key, record, timer_was: due }
    }))
}

/// Rows of sets that are not garbage are never swept, whatever the caller asks.
pub(super) fn sweep(records: &impl Records, command: &SweepMetadata) -> Result<(Decision, Answer), Unreadable> {
    let SweepMetadata { id, items, sets, finished_below } = command;
    let nothing = (Decision::nothing(), Answer::Changed(false));
    let Some(below) = records.get::<MetadataGarbage>(*id)? else { return Ok(nothing) };
    let finished = *finished_below == Some(below);
    let mut named = items.iter().map(|item| item.set).chain(sets.iter().copied());
    if named.any(|number| number >= below) || (items.is_empty() && sets.is_empty() && !finished) {
        return Ok(nothing);
    }
    let event = Event::MetadataSwept { id: *id, items: items.clone(), sets: sets.clone(), finished };
    Ok((Decision::one(event), Answer::Changed(true)))
}

fn check_version(expected: Option<u64>, live: Option<&MetadataRecord>) -> Result<(), Refusal> {
    let current = live.map_or(0, |record| record.version);
    if expected.is_none_or(|expected| expected == current) { Ok(()) } else { Err(Refusal::VersionMismatch { current }) }
}

fn event_of_end(key: &MetadataKey, record: &MetadataRecord) -> Event {
    Event::MetadataEnded {
        key: key.clone(),
        id: record.id,
        timer_due: record.timer_due,
        garbage_below: record.garbage_below(),
    }
}

fn absent(what: &str, id: MetadataId) -> Unreadable {
    Unreadable { reason: format!("the {what} of {id} is not there, though its record is") }
}

/// A change of a record under way.
struct Edit {
    /// The record before; none when there was none, or an expired one.
    was: Option<MetadataRecord>,
    /// An expired record with the same key, which ends now.
    expired: Option<MetadataRecord>,
    record: MetadataRecord,
    document: Document,
    document_changed: bool,
    value_changed: bool,
    garbage_below: Option<SetNumber>,
    /// The events of its sets.
    events: Vec<Event>,
}

/// The position of an item that is looked up.
enum ItemLookup {
    /// In a set.
    There { number: SetNumber, set: MetadataSet, position: u64 },
    /// Not in this set.
    Missing { number: SetNumber, set: MetadataSet },
    /// There is no set, and one can begin.
    NoSet,
}

impl Edit {
    fn open(
        records: &impl Records,
        key: &MetadataKey,
        version: Option<u64>,
        context: &mut Context<'_>,
    ) -> Result<Edit, DecisionError> {
        let stored = records.get::<Metadata>(key.clone())?;
        let was = stored.filter(|record| record.is_live(context.now));
        let expired = stored.filter(|record| !record.is_live(context.now));
        check_version(version, was.as_ref())?;
        let (record, document) = match was {
            Some(record) => {
                let document = records.get::<MetadataDocuments>(record.id)?;
                (record, document.ok_or_else(|| absent("document", record.id))?)
            }
            None => (MetadataRecord::new(context.mint(), context.now), Document::vacant()),
        };
        Ok(Edit {
            was,
            expired,
            record,
            document,
            document_changed: false,
            value_changed: false,
            garbage_below: None,
            events: Vec::new(),
        })
    }

    /// Looks an item up in the set at a path. An array at that path becomes a set first.
    fn find_item(
        &mut self,
        records: &impl Records,
        path: &MetadataPath,
        item: &CanonicalJson,
    ) -> Result<ItemLookup, DecisionError> {
        let hash = ItemHash::of(item.as_str());
        match self.document.place(path) {
            PathTarget::Other => Err(Refusal::NotASet.into()),
            PathTarget::Vacant => Ok(ItemLookup::NoSet),
            PathTarget::Set(number) => {
                let id = self.record.id;
                let set = records.get::<MetadataSets>((id, number))?.ok_or_else(|| absent("set", id))?;
                Ok(match records.get::<MetadataItems>((id, number, hash))? {
                    Some(position) => ItemLookup::There { number, set, position },
                    None => ItemLookup::Missing { number, set },
                })
            }
            PathTarget::Array(array) => {
                let Distinct { items, places, position } = Distinct::of(array, hash);
                let (number, set) = if items == array {
                    self.create_set(path, items)?
                } else {
                    // The array without its repeated items is another value.
                    self.value_changed = true;
                    let array = array.to_owned();
                    self.create_set_of_distinct(path, array, items, places)?
                };
                Ok(match position {
                    Some(position) => ItemLookup::There { number, set, position },
                    None => ItemLookup::Missing { number, set },
                })
            }
        }
    }

    /// Creates a set of these distinct items where the document has nothing or an array.
    fn create_set(&mut self, path: &MetadataPath, items: String) -> Result<(SetNumber, MetadataSet), Refusal> {
        let items = CanonicalJson::from_canonical(items);
        let set = set_of(&items);
        let number = self.place_set(path, set)?;
        self.events.push(Event::MetadataSetFormed { id: self.record.id, number, set, items });
        Ok((number, set))
    }

    /// Creates a set from the distinct items of an array. Each keeps the place of its first occurrence as its position,
    /// so that a caller who pages through the array meanwhile continues after the same item.
    fn create_set_of_distinct(
        &mut self,
        path: &MetadataPath,
        array: String,
        items: String,
        places: u64,
    ) -> Result<(SetNumber, MetadataSet), Refusal> {
        let set = MetadataSet { next_position: places, ..set_of(&CanonicalJson::from_canonical(items)) };
        let number = self.place_set(path, set)?;
        let array = CanonicalJson::from_canonical(array);
        self.events.push(Event::MetadataRepeatsDropped { id: self.record.id, number, set, array });
        Ok((number, set))
    }

    /// Gives a set its number, its place in the document and its share of the record's counters.
    fn place_set(&mut self, path: &MetadataPath, set: MetadataSet) -> Result<SetNumber, Refusal> {
        if self.record.set_count() >= SETS_MAX {
            return Err(Refusal::MetadataSetsExceeded);
        }
        let number = self.record.sets_below;
        self.put_document(self.document.with_set(path, number))?;
        self.record.sets_below = number.next();
        self.record.item_count = self.record.item_count.saturating_add(set.item_count);
        self.record.bytesize = self.record.bytesize.saturating_add(set.array_bytes());
        Ok(number)
    }

    fn put_document(&mut self, document: Document) -> Result<(), Refusal> {
        let plain_bytes = document.plain_bytes();
        if plain_bytes > DOCUMENT_BYTES_MAX {
            return Err(Refusal::MetadataDocumentExceeded);
        }
        let before = if self.was.is_some() { self.document.plain_bytes() } else { 0 };
        self.record.bytesize = self.record.bytesize.saturating_add(plain_bytes).saturating_sub(before);
        self.document = document;
        self.document_changed = true;
        Ok(())
    }

    fn add(&mut self, number: SetNumber, set: MetadataSet, item: &CanonicalJson) {
        let after = set.with_item(item);
        let (id, position) = (self.record.id, set.next_position);
        self.change(set, after);
        self.events.push(Event::MetadataItemAdded { id, number, set: after, position, item: item.clone() });
    }

    fn remove(&mut self, number: SetNumber, set: MetadataSet, position: u64, item: &CanonicalJson) {
        let after = set.without_item(item);
        let (id, hash) = (self.record.id, ItemHash::of(item.as_str()));
        self.change(set, after);
        self.events.push(Event::MetadataItemRemoved { id, number, set: after, position, hash });
    }

    fn replace(&mut self, metadata: &CanonicalJson) {
        self.garbage_below = self.record.garbage_below();
        self.record.sets_from = self.record.sets_below;
        self.record.item_count = 0;
        self.record.bytesize = metadata.byte_count();
        self.document = Document::of(metadata);
        self.document_changed = true;
        self.value_changed = true;
    }

    /// Replaces a set's share of the record's counters.
    fn change(&mut self, before: MetadataSet, after: MetadataSet) {
        let record = &mut self.record;
        record.item_count = record.item_count.saturating_add(after.item_count).saturating_sub(before.item_count);
        let (before, after) = (before.array_bytes(), after.array_bytes());
        record.bytesize = record.bytesize.saturating_add(after).saturating_sub(before);
        self.value_changed = true;
    }

    /// The record after the change, and the events that lead to it. Every accepted call moves the expiry.
    fn finish(
        mut self,
        key: &MetadataKey,
        ttl_seconds: Option<u64>,
        context: &Context<'_>,
    ) -> Result<(Decision, MetadataRecord), DecisionError> {
        if self.value_changed {
            self.record.version = self.record.version.saturating_add(1);
            self.record.updated_at = context.now;
        }
        self.live_on(ttl_seconds, context.now);
        self.check_limits()?;
        if self.was == Some(self.record) && self.events.is_empty() {
            return Ok((Decision::nothing(), self.record));
        }
        let mut decision = Decision::nothing();
        decision.events.extend(self.expired.map(|expired| event_of_end(key, &expired)));
        decision.events.push(Event::MetadataSaved {
            key: key.clone(),
            record: self.record,
            timer_was: self.was.map(|was| was.timer_due),
            document: self.document_changed.then_some(self.document),
            garbage_below: self.garbage_below,
        });
        decision.events.extend(self.events);
        Ok((decision, self.record))
    }

    /// Moves the expiry, and moves the timer only when it would be late.
    fn live_on(&mut self, ttl_seconds: Option<u64>, now: Millis) {
        let record = &mut self.record;
        record.ttl_seconds = ttl_seconds.or(record.ttl_seconds);
        record.expires_at = now.plus_seconds(record.ttl_seconds.unwrap_or(TTL_DEFAULT_SECONDS));
        record.timer_due = record.timer_due.min(record.expires_at);
    }

    fn check_limits(&self) -> Result<(), Refusal> {
        if self.record.item_count > ITEMS_MAX {
            Err(Refusal::MetadataItemsExceeded)
        } else if self.record.bytesize > BYTESIZE_MAX {
            Err(Refusal::MetadataBytesExceeded)
        } else {
            Ok(())
        }
    }
}

/// The counters of a set of these distinct items, at positions from 0.
fn set_of(items: &CanonicalJson) -> MetadataSet {
    let of = |item: &str| CanonicalJson::from_canonical(item);
    items.items().fold(MetadataSet::default(), |set, item| set.with_item(&of(item)))
}

/// An array without repeated items.
struct Distinct {
    items: String,
    /// The number of items in the array, repeated ones counted.
    places: u64,
    /// The place in the array where the item that was looked up occurs first.
    position: Option<u64>,
}

impl Distinct {
    /// Keeps the first occurrence of each item, and looks one up by its hash.
    fn of(array: &str, hash: ItemHash) -> Distinct {
        let array = CanonicalJson::from_canonical(array);
        let mut seen = BTreeSet::new();
        let mut distinct = Distinct { items: String::with_capacity(array.as_str().len()), places: 0, position: None };
        distinct.items.push('[');
        for item in array.items() {
            let (place, found) = (distinct.places, ItemHash::of(item));
            distinct.places = place.saturating_add(1);
            if !seen.insert(found) {
                continue;
            }
            if place > 0 {
                distinct.items.push(',');
            }
            distinct.items.push_str(item);
            if found == hash {
                distinct.position = Some(place);
            }
        }
        distinct.items.push(']');
        distinct
    }
}
