//! The indexes of the activity log. Their keys are what an entry is found by, then its id, so that the order of keys
//! of one value is the order of the log. See `tables`.

use std::ops::ControlFlow;

use till_domain::activity::{Activity, ActivityObject, ActivityType};
use till_domain::ids::{ActivityId, KeyId, MerchantId, PaymentId};
use till_domain::records::{Activities, ActivityEmails, AnyKey, Table, Unreadable};
use till_domain::text::Email;

use crate::family::Family;
use crate::keys::KeyRange;
use crate::rows::{RowPair, RowReader, ScanDirection};

use super::codec::ShapeError;
use super::key_bytes::{ID_LEN, KeyBytes};
use super::keys::table_range;
use super::reader::MerchantReader;
use super::rows::decode_row;
use super::scan::decode_key;
use super::tables::TableKind;

/// A condition on entries of the activity log: one value of one index, or none for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityIndex {
    /// Every entry.
    All,
    /// The type of the activity.
    Type(ActivityType),
    /// The key that acted.
    ActorKey(KeyId),
    /// The address of the user who acted.
    ActorEmail(Email),
    /// The address of the team member that it is about.
    UserEmail(Email),
    /// The object that it is about.
    Object(ActivityObject),
    /// The payment of that object.
    Parent(PaymentId),
}

impl ActivityIndex {
    /// The table that it is a part of.
    const fn table(&self) -> TableKind {
        match self {
            ActivityIndex::All => TableKind::Activities,
            ActivityIndex::Type(_) => TableKind::ActivitiesByType,
            ActivityIndex::ActorKey(_) => TableKind::ActivitiesByActorKey,
            ActivityIndex::ActorEmail(_) => TableKind::ActivitiesByActorEmail,
            ActivityIndex::UserEmail(_) => TableKind::ActivitiesByUserEmail,
            ActivityIndex::Object(_) => TableKind::ActivitiesByObject,
            ActivityIndex::Parent(_) => TableKind::ActivitiesByParent,
        }
    }

    /// The range of its keys: all of a merchant's entries with this value, from `oldest` to `newest`, both
    /// included.
    fn range(&self, merchant: MerchantId, oldest: ActivityId, newest: ActivityId) -> (Family, KeyRange) {
        let (mut prefix, _) = table_range(merchant, self.table());
        self.push_value(&mut prefix);
        let lower = [prefix.as_slice(), &oldest.to_bytes()].concat();
        let mut upper = [prefix.as_slice(), &newest.to_bytes()].concat();
        upper.push(0); // The smallest greater key.
        (self.table().family(), (lower, upper))
    }

    fn push_value(&self, bytes: &mut Vec<u8>) {
        match self {
            ActivityIndex::All => {}
            ActivityIndex::Type(activity_type) => activity_type.push(bytes),
            ActivityIndex::ActorKey(key_id) => key_id.push(bytes),
            ActivityIndex::ActorEmail(email) | ActivityIndex::UserEmail(email) => email.push(bytes),
            ActivityIndex::Object(object) => object.push(bytes),
            ActivityIndex::Parent(payment_id) => payment_id.push(bytes),
        }
    }
}

/// An entry of an index, with its stored row where the index is the log itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEntry {
    /// The entry's id.
    pub id: ActivityId,
    row: Option<Vec<u8>>,
}

impl<R: RowReader> MerchantReader<R> {
    /// At most `limit` entries that an index has from `oldest` to `newest`, both included.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be read.
    pub fn index_entries(
        &self,
        index: &ActivityIndex,
        (oldest, newest): (ActivityId, ActivityId),
        direction: ScanDirection,
        limit: usize,
    ) -> Result<Vec<ActivityEntry>, Unreadable> {
        let (family, (lower, upper)) = index.range(self.merchant_id(), oldest, newest);
        let pairs = self.rows.scan(family, &lower, &upper, direction, limit)?;
        let is_log = *index == ActivityIndex::All;
        let entry = |(key, row): RowPair| Some(ActivityEntry { id: activity_of(&key)?, row: is_log.then_some(row) });
        Ok(pairs.into_iter().filter_map(entry).collect())
    }

    /// The activities of entries, in their order.
    ///
    /// # Errors
    /// [`Unreadable`] when one cannot be read, or does not exist.
    pub fn activities(&self, entries: Vec<ActivityEntry>) -> Result<Vec<Activity>, Unreadable> {
        let row_key = |id| ActivityIndex::All.range(self.merchant_id(), id, id).1.0;
        let missing = entries.iter().filter(|entry| entry.row.is_none());
        let keys: Vec<Vec<u8>> = missing.map(|entry| row_key(entry.id)).collect();
        let mut rows = self.rows.get_many(TableKind::Activities.family(), &keys)?.into_iter();
        let activity = |entry: ActivityEntry| {
            let row = entry.row.or_else(|| rows.next().flatten());
            let row = row.ok_or(ShapeError::Empty { what: "row of an indexed activity" })?;
            let row = decode_row(&AnyKey::Activities(entry.id), &row, self)?;
            Activities::unwrap(row).ok_or_else(|| ShapeError::OtherKey { table: "Activities" }.into())
        };
        entries.into_iter().map(activity).collect()
    }

    /// The distinct addresses of the activity log that contain a text, in lower case; and the number of addresses
    /// in all. None when there are more than `addresses_max`.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be read.
    pub fn activity_emails_with(
        &self,
        text: &str,
        addresses_max: usize,
    ) -> Result<Option<(Vec<Email>, usize)>, Unreadable> {
        let (table, mut emails, mut all) = (TableKind::ActivityEmails, Vec::new(), 0);
        let (lower, upper) = table_range(self.merchant_id(), table);
        self.rows.visit(table.family(), &lower, &upper, ScanDirection::Forward, &mut |key, _| {
            all += 1;
            if all > addresses_max {
                return ControlFlow::Break(());
            }
            // The key ends with the address: most keys are skipped without decoding.
            if contains(key, text.as_bytes()) {
                emails.push(decode_key::<ActivityEmails>(key));
            }
            ControlFlow::Continue(())
        })?;
        let mut emails = emails.into_iter().collect::<Result<Vec<Email>, Unreadable>>()?;
        emails.retain(|email| email.as_str().contains(text));
        Ok((all <= addresses_max).then_some((emails, all)))
    }
}

/// The id of the entry at the end of a key of an index's range.
fn activity_of(key: &[u8]) -> Option<ActivityId> {
    key.last_chunk::<ID_LEN>().map(|bytes| ActivityId::from_bytes(*bytes))
}

/// Returns true when bytes contain others.
fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::super::keys::row_key;
    use super::super::samples::{MERCHANT, OTHER_MERCHANT, TestPersonal};
    use super::*;

    fn id(number: u8) -> ActivityId {
        ActivityId::from_bytes([number; 16])
    }

    fn by_email(text: &str, number: u8) -> Vec<u8> {
        let email = Email::from_stored(text.to_owned());
        row_key(MERCHANT, &AnyKey::ActivitiesByActorEmail((email, id(number))), &TestPersonal::default()).1
    }

    fn is_inside(index: &ActivityIndex, merchant: MerchantId, key: &[u8]) -> bool {
        let (_, (lower, upper)) = index.range(merchant, id(2), id(4));
        lower.as_slice() <= key && key < upper.as_slice()
    }

    #[test]
    fn a_range_holds_the_entries_of_one_value_between_two_ids() {
        let index = ActivityIndex::ActorEmail(Email::from_stored("a@b.co".to_owned()));
        let inside: Vec<u8> =
            (0..=9).filter(|number| is_inside(&index, MERCHANT, &by_email("a@b.co", *number))).collect();
        assert_eq!(inside, [2, 3, 4]);
        assert!(!is_inside(&index, OTHER_MERCHANT, &by_email("a@b.co", 3)));
        for other in ["a@b.c", "a@b.com", "b@b.co", "a@b.co\u{3}"] {
            assert!(!is_inside(&index, MERCHANT, &by_email(other, 3)), "{other}");
        }
    }

    #[test]
    fn a_types_byte_is_unique_and_every_key_ends_with_the_id() {
        let mut bytes = Vec::new();
        ActivityType::ALL.iter().for_each(|activity_type| activity_type.push(&mut bytes));
        assert_eq!(bytes, (0..).take(ActivityType::ALL.len()).collect::<Vec<u8>>());
        assert_eq!(activity_of(&by_email("a@b.co", 7)), Some(id(7)));
    }
}
