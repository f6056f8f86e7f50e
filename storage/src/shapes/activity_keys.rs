//! Keys of the indexes of the activity log: what an entry is found by, then its id, so that the order of keys
//! of one value is the order of the log. See the table in `keys`.

use till_domain::activity::{ActivityObject, ActivityType};
use till_domain::ids::{ActivityId, DisputeId, Id, KeyId, MerchantId, PaymentId, PayoutId, RawId, RefundId};
use till_domain::text::Email;

use crate::family::Family;
use crate::keys::KeyRange;

use super::keys::{TableKind, table_range};

const ID_LEN: usize = 16;

/// What entries of the activity log are found by: one value of one index, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityIndex {
    /// Every entry.
    All,
    /// What happened.
    Type(ActivityType),
    /// The key that acted.
    ActorKey(KeyId),
    /// The address of the user who acted.
    ActorEmail(Email),
    /// The address of the team member that it is about.
    UserEmail(Email),
    /// What it is about.
    Object(ActivityObject),
    /// The payment of what it is about.
    Parent(PaymentId),
}

impl ActivityIndex {
    /// Which table it is a part of.
    #[must_use]
    pub const fn table(&self) -> TableKind {
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

    /// Where its keys stand: all of a merchant's entries with this value, from `oldest` to `newest`, both
    /// included.
    #[must_use]
    pub fn range(&self, merchant: MerchantId, oldest: ActivityId, newest: ActivityId) -> (Family, KeyRange) {
        let (mut prefix, _) = table_range(merchant, self.table());
        self.push_value(&mut prefix);
        let lower = [prefix.as_slice(), &oldest.to_bytes()].concat();
        let mut upper = [prefix.as_slice(), &newest.to_bytes()].concat();
        upper.push(0); // The smallest key that is greater.
        (self.table().family(), (lower, upper))
    }

    fn push_value(&self, bytes: &mut Vec<u8>) {
        match self {
            ActivityIndex::All => {}
            ActivityIndex::Type(activity_type) => bytes.push(type_byte(*activity_type)),
            ActivityIndex::ActorKey(key_id) => bytes.extend_from_slice(&key_id.to_bytes()),
            ActivityIndex::ActorEmail(email) | ActivityIndex::UserEmail(email) => push_email(email, bytes),
            ActivityIndex::Object(object) => push_object(*object, bytes),
            ActivityIndex::Parent(payment_id) => bytes.extend_from_slice(&payment_id.to_bytes()),
        }
    }
}

/// The id of the entry at the end of a key of such a range.
#[must_use]
pub fn activity_of(key: &[u8]) -> Option<ActivityId> {
    key.last_chunk::<ID_LEN>().map(|bytes| ActivityId::from_bytes(*bytes))
}

/// What follows the table in the key of an index.
pub(super) fn push_index(index: &ActivityIndex, id: ActivityId, bytes: &mut Vec<u8>) {
    index.push_value(bytes);
    bytes.extend_from_slice(&id.to_bytes());
}

/// What follows the table in the key of an index: the value and the entry.
pub(super) fn decode_index<V>(rest: &[u8], decode: impl Fn(&[u8]) -> Option<V>) -> Option<(V, ActivityId)> {
    let (value, id) = rest.split_last_chunk::<ID_LEN>()?;
    Some((decode(value)?, ActivityId::from_bytes(*id)))
}

/// The value of an index whose values are ids.
pub(super) fn decode_id<T: Id>(value: &[u8]) -> Option<T> {
    Some(T::from_raw(RawId::from_bytes(value.try_into().ok()?)))
}

const fn type_byte(activity_type: ActivityType) -> u8 {
    match activity_type {
        ActivityType::PaymentCaptured => 0,
        ActivityType::PaymentVoided => 1,
        ActivityType::PaymentReversed => 2,
        ActivityType::RefundCreated => 3,
        ActivityType::PayoutCreated => 4,
        ActivityType::DisputeChallenged => 5,
        ActivityType::DisputeConceded => 6,
        ActivityType::DisputeEscalated => 7,
        ActivityType::PlanSwitched => 8,
        ActivityType::UserInvited => 9,
        ActivityType::InvitationAccepted => 10,
        ActivityType::UserRemoved => 11,
    }
}

pub(super) fn decode_type(value: &[u8]) -> Option<ActivityType> {
    ActivityType::ALL.into_iter().find(|activity_type| value == [type_byte(*activity_type)])
}

/// The length stands in front, so that no address begins another's range.
fn push_email(email: &Email, bytes: &mut Vec<u8>) {
    let text = email.as_str().as_bytes();
    bytes.push(u8::try_from(text.len()).expect("an e-mail address has at most 254 bytes"));
    bytes.extend_from_slice(text);
}

pub(super) fn decode_email(value: &[u8]) -> Option<Email> {
    let (&length, text) = value.split_first()?;
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() == usize::from(length))?;
    Some(Email::from_stored(text.to_owned()))
}

fn push_object(object: ActivityObject, bytes: &mut Vec<u8>) {
    let (kind, id) = match object {
        ActivityObject::Payment(id) => (0, id.to_bytes()),
        ActivityObject::Refund(id) => (1, id.to_bytes()),
        ActivityObject::Dispute(id) => (2, id.to_bytes()),
        ActivityObject::Payout(id) => (3, id.to_bytes()),
        ActivityObject::Merchant(id) => (4, id.to_bytes()),
    };
    bytes.push(kind);
    bytes.extend_from_slice(&id);
}

pub(super) fn decode_object(value: &[u8]) -> Option<ActivityObject> {
    let (&kind, id) = value.split_first()?;
    let id = id.try_into().ok()?;
    match kind {
        0 => Some(ActivityObject::Payment(PaymentId::from_bytes(id))),
        1 => Some(ActivityObject::Refund(RefundId::from_bytes(id))),
        2 => Some(ActivityObject::Dispute(DisputeId::from_bytes(id))),
        3 => Some(ActivityObject::Payout(PayoutId::from_bytes(id))),
        4 => Some(ActivityObject::Merchant(MerchantId::from_bytes(id))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::row_key;
    use till_domain::records::AnyKey;

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
    fn the_byte_of_a_type_is_its_own_and_the_id_is_at_the_end_of_every_key() {
        let bytes: Vec<u8> = ActivityType::ALL.into_iter().map(type_byte).collect();
        assert_eq!(bytes, (0..12).collect::<Vec<u8>>());
        assert_eq!(activity_of(&by_email("a@b.co", 7)), Some(id(7)));
    }
}
