//! A record's value, or a part of it, as JSON with the items of its sets.
//!
//! A set that is too large for one answer is answered with its first items, and its path is reported in the answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use till_domain::metadata::{Document, MetadataPath, Piece, SetNumber, SetPlace};

use crate::endpoints::prelude::*;
use crate::service::{FoundMetadata, ItemRange, MetadataReader, PAGE_ITEMS_MAX};

/// The approximate limit of bytes of items in one answer: sets after that are cut.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The remaining bytes of an answer.
#[derive(Debug)]
pub(super) struct AnswerBudget(u64);

impl AnswerBudget {
    /// The limit of an answer.
    pub(super) fn of_an_answer() -> AnswerBudget {
        AnswerBudget(ANSWER_BYTES_MAX)
    }

    /// Subtracts the bytes of a text.
    pub(super) fn take(&mut self, text: &str) {
        self.0 = self.0.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
    }

    /// True when no byte is left.
    pub(super) fn is_full(&self) -> bool {
        self.0 == 0
    }
}

/// A set of which an answer has the first items only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CutSet {
    pub(super) path: String,
    /// The position of the last item in the answer.
    after: Option<u64>,
}

impl CutSet {
    /// The body of the call for the missing items.
    pub(super) fn rest(&self, found: &FoundMetadata) -> Value {
        let mut body = json!({ "key": found.key.as_str(), "path": self.path, "per_page": PAGE_ITEMS_MAX });
        if let Some(after) = self.after {
            body["after"] = after.into();
        }
        body
    }
}

/// The value at a path, and the sets in it that are cut; None when there is no value.
pub(super) fn value_at(
    reader: &MetadataReader<'_>,
    found: &FoundMetadata,
    path: &MetadataPath,
    room: &mut AnswerBudget,
) -> Result<Option<(String, Vec<CutSet>)>, ApiError> {
    let Some(value) = found.document.value_at(path) else { return Ok(None) };
    let places = found.document.sets_at(path);
    let mut sets = Sets { reader, found, room, known: None, cut: Vec::new() };
    sets.read_all_at_once(places.len())?;
    let mut places = places.into_iter();
    let mut json = String::with_capacity(value.len());
    for piece in Document::pieces_of(value) {
        match piece {
            Piece::Text(text) => {
                sets.room.take(text);
                json.push_str(text);
            }
            Piece::Set(number) => {
                let place = places.next().filter(|place| place.number == number);
                sets.write(place.ok_or_else(ApiError::unhandled)?, &mut json)?;
            }
        }
    }
    Ok(Some((json, sets.cut)))
}

struct Sets<'a, 'r> {
    reader: &'a MetadataReader<'r>,
    found: &'a FoundMetadata,
    room: &'a mut AnswerBudget,
    /// All items, when they are few: one scan reads all sets.
    known: Option<BTreeMap<SetNumber, Vec<String>>>,
    cut: Vec<CutSet>,
}

impl Sets<'_, '_> {
    fn read_all_at_once(&mut self, set_count: usize) -> Result<(), ApiError> {
        let record = &self.found.record;
        let few = u64::try_from(PAGE_ITEMS_MAX).unwrap_or(u64::MAX);
        if set_count > 1 && record.item_count <= few && record.bytesize <= self.room.0 {
            self.known = Some(self.reader.all_items(record)?);
        }
        Ok(())
    }

    fn write(&mut self, place: SetPlace, json: &mut String) -> Result<(), ApiError> {
        if let Some(known) = &mut self.known {
            let items = known.remove(&place.number).unwrap_or_default().join(",");
            self.room.take(&items);
            json.push_str(&format!("[{items}]"));
            return Ok(());
        }
        if self.room.is_full() {
            json.push_str("[]");
            self.cut.push(CutSet { path: place.path, after: None });
            return Ok(());
        }
        let page = self.reader.items(self.found.record.id, place.number, ItemRange::First, PAGE_ITEMS_MAX)?;
        let after = page.items.last().map(|(position, _)| *position);
        let items = joined(page.items);
        self.room.take(&items);
        json.push_str(&items);
        if page.later {
            self.cut.push(CutSet { path: place.path, after });
        }
        Ok(())
    }
}

/// Items as a JSON array.
pub(super) fn joined(items: Vec<(u64, String)>) -> String {
    let items: Vec<String> = items.into_iter().map(|(_, item)| item).collect();
    format!("[{}]", items.join(","))
}
