//! The indexes of the activity log.

use std::ops::ControlFlow;

use memchr::memmem::Finder;
use till_domain::activity::{ActivityObject, ActivityType};
use till_domain::ids::{KeyId, PaymentId};
use till_domain::records::{Activities, ActivityEmails, Unreadable};
use till_domain::text::Email;

use crate::rows::{RowRange, RowReader};

use super::key_bytes::KeyBytes;
use super::keys::table_range;
use super::list_index::ListIndex;
use super::reader::MerchantReader;
use super::scan::decode_key;
use super::tables::TableKind;

/// One value of one index of the activity log, or the whole log.
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
    /// An address of the entry: that of the user who acted, or of the team member that it is about.
    Email(Email),
    /// Any address.
    WithEmail,
    /// The object that it is about.
    Object(ActivityObject),
    /// The payment of that object.
    Parent(PaymentId),
}

impl ListIndex for ActivityIndex {
    type List = Activities;

    const ALL: ActivityIndex = ActivityIndex::All;

    fn table(&self) -> TableKind {
        match self {
            ActivityIndex::All => TableKind::Activities,
            ActivityIndex::Type(_) => TableKind::ActivitiesByType,
            ActivityIndex::ActorKey(_) => TableKind::ActivitiesByActorKey,
            ActivityIndex::ActorEmail(_) => TableKind::ActivitiesByActorEmail,
            ActivityIndex::Email(_) => TableKind::ActivitiesByEmail,
            ActivityIndex::WithEmail => TableKind::ActivitiesWithEmail,
            ActivityIndex::Object(_) => TableKind::ActivitiesByObject,
            ActivityIndex::Parent(_) => TableKind::ActivitiesByParent,
        }
    }

    fn push_value(&self, bytes: &mut Vec<u8>) {
        match self {
            ActivityIndex::All | ActivityIndex::WithEmail => {}
            ActivityIndex::Type(activity_type) => activity_type.push(bytes),
            ActivityIndex::ActorKey(key_id) => key_id.push(bytes),
            ActivityIndex::ActorEmail(email) | ActivityIndex::Email(email) => email.push(bytes),
            ActivityIndex::Object(object) => object.push(bytes),
            ActivityIndex::Parent(payment_id) => payment_id.push(bytes),
        }
    }
}

impl<R: RowReader> MerchantReader<R> {
    /// The distinct addresses of the activity log that have a text, in lower case, in them; and the number of addresses
    /// in all. Nothing when there are more than `addresses_max`.
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
        let finder = Finder::new(text);
        self.rows.visit(RowRange::forward(table.family(), &lower, &upper), &mut |key, _| {
            all += 1;
            if all > addresses_max {
                return ControlFlow::Break(());
            }
            // The key ends with the address: most keys are skipped without decoding.
            if finder.find(key).is_some() {
                emails.push(decode_key::<ActivityEmails>(key));
            }
            ControlFlow::Continue(())
        })?;
        let mut emails = emails.into_iter().collect::<Result<Vec<Email>, Unreadable>>()?;
        emails.retain(|email| email.as_str().contains(text));
        Ok((all <= addresses_max).then_some((emails, all)))
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{ActivityId, MerchantId};
    use till_domain::records::AnyKey;

    use super::super::keys::row_key;
    use super::super::list_index::id_range;
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
        let (_, (lower, upper)) = id_range(index, merchant, id(2), id(4));
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
    fn the_byte_of_a_type_is_its_own() {
        let mut bytes = Vec::new();
        ActivityType::ALL.iter().for_each(|activity_type| activity_type.push(&mut bytes));
        assert_eq!(bytes, (0..).take(ActivityType::ALL.len()).collect::<Vec<u8>>());
    }
}
