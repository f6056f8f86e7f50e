//! The ways in which a text of `terms` is found in the activity log.

use std::ops::Bound;

use till_domain::activity::{Activity, ActivityObject, ActivityType, Actor};
use till_domain::ids::{ActivityId, SUFFIX_LEN};
use till_domain::records::{ActivitiesByActorEmail, Unreadable};
use till_domain::text::Email;
use till_storage::rows::ScanDirection;
use till_storage::shapes::ActivityIndex;

use super::search::Selection;
use crate::protocol::api_error::ApiError;
use crate::protocol::request_thread;
use crate::service::shared::Reader;

/// The beginnings of ids that stand in activities.
const PREFIXES: [&str; 5] = ["pay_", "rfn_", "dsp_", "pyo_", "mer_"];
/// The characters of the rest of an id.
const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of an id.
const ID_LEN: usize = 4 + SUFFIX_LEN;

/// Addresses that are looked for each by itself: each costs a place in two indexes.
const FEW_ADDRESSES: usize = 4;
/// With more of them, if they are one of so many, it is cheaper to look through everything that has an address.
const RARE_ADDRESSES: usize = 10;

/// Addresses of users who acted that are looked for: each costs a place in the index.
const ACTING_MAX: usize = 8;

/// Addresses of a log that are looked at on a thread that reads requests, at most.
const ADDRESSES_AT_ONCE_MAX: usize = 4_096;

/// The distinct addresses of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Addresses {
    /// Those that have a text in them.
    pub(super) matching: Vec<Email>,
    /// The number of all addresses.
    pub(super) all: usize,
}

/// The way in which a text is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityTerms {
    /// By these indexes alone: it is a whole id, or can only be a part of an address.
    Indexes(Vec<ActivityIndex>),
    /// By these indexes as well. Since it is a part of so many addresses, a page of it is found faster on the rows of
    /// other ranges, which have every entry that can have it.
    ManyAddresses {
        /// The ranges whose entries have the text.
        exact: Vec<ActivityIndex>,
        /// The ranges whose entries may have the text.
        among: Vec<ActivityIndex>,
        /// The text, in lower case.
        text: String,
    },
    /// On the rows: it may be a part of an id.
    Rows(String),
}

impl ActivityTerms {
    /// Keeps the entries of a selection that have the text.
    pub fn select(self, selection: &mut Selection<ActivityIndex>) {
        match self {
            ActivityTerms::Indexes(indexes) => selection.any_of(indexes),
            ActivityTerms::ManyAddresses { exact, among, text } => {
                selection.any_of_likely_among(exact, among, move |entry| has_in_address(entry, &text));
            }
            ActivityTerms::Rows(text) => selection.passing(move |entry| has(entry, &text)),
        }
    }

    /// The way in which `text` is found in a merchant's log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the addresses of the log cannot be read; [`ApiError::for_worker_pool`] when there are many of
    /// them and this thread reads requests.
    pub fn find(text: &str, reader: &Reader<'_>) -> Result<ActivityTerms, ApiError> {
        let is_request_thread = request_thread::is_here();
        let addresses_max = if is_request_thread { ADDRESSES_AT_ONCE_MAX } else { usize::MAX };
        let found = reader.activity_emails_with(&text.to_lowercase(), addresses_max)?;
        let (matching, all) = found.ok_or_else(ApiError::for_worker_pool)?;
        if is_request_thread && matching.len() > FEW_ADDRESSES {
            return Err(ApiError::for_worker_pool()); // Each of them is a range to be searched.
        }
        let acting = if matching.len() > FEW_ADDRESSES { acting_emails(reader)? } else { None };
        Ok(ActivityTerms::new(text, &Addresses { matching, all }, acting.as_deref()))
    }

    /// The way in which `text` is found among entries with these addresses. `acting` are those of users who acted, when that is
    /// known.
    #[must_use]
    pub(super) fn new(text: &str, addresses: &Addresses, acting: Option<&[Email]>) -> ActivityTerms {
        let text = text.to_lowercase();
        let object = ActivityObject::from_id_text(&text);
        if object.is_none() && can_be_part_of_id(&text) {
            return ActivityTerms::Rows(text);
        }
        let has = |email: &&Email| email.as_str().contains(&text);
        let Addresses { matching, all } = addresses;
        let is_likely = matching.len() > FEW_ADDRESSES && matching.len().saturating_mul(RARE_ADDRESSES) >= *all;
        let of_user = matching.iter().cloned().map(ActivityIndex::UserEmail);
        let of_actor = acting.unwrap_or(matching).iter().filter(has).cloned().map(ActivityIndex::ActorEmail);
        let of_actor: Vec<ActivityIndex> = of_actor.collect();
        let mut exact: Vec<ActivityIndex> = of_user.chain(of_actor.iter().cloned()).collect();
        match (object, acting) {
            (None, Some(_)) if is_likely => {
                let among = ActivityType::TEAM.map(ActivityIndex::Type).into_iter().chain(of_actor).collect();
                ActivityTerms::ManyAddresses { exact, among, text }
            }
            (object, _) => {
                exact.extend(object.map(ActivityIndex::Object));
                if let Some(ActivityObject::Payment(payment_id)) = object {
                    exact.push(ActivityIndex::Parent(payment_id));
                }
                ActivityTerms::Indexes(exact)
            }
        }
    }
}

/// True when an address of an entry has a text in it.
fn has_in_address(entry: &Activity, text: &str) -> bool {
    let actor = match &entry.actor {
        Actor::User { email } => email.as_ref(),
        Actor::ApiKey(_) | Actor::System => None,
    };
    let emails = [actor, entry.user_email.as_ref()];
    emails.into_iter().flatten().any(|email| email.as_str().contains(text))
}

/// True when an address or id of an entry has a text in it.
fn has(entry: &Activity, text: &str) -> bool {
    has_in_address(entry, text)
        || entry.object.id_text().contains(text)
        || entry.parent.is_some_and(|parent| parent.to_string().contains(text))
}

/// The distinct addresses of users who acted; nothing when they are more than [`ACTING_MAX`].
fn acting_emails(reader: &Reader<'_>) -> Result<Option<Vec<Email>>, Unreadable> {
    let (view, mut emails) = (reader.view(), Vec::new());
    let mut behind = Bound::Unbounded;
    while emails.len() <= ACTING_MAX {
        let first = view.scan_keys::<ActivitiesByActorEmail>((behind, Bound::Unbounded), ScanDirection::Forward, 1)?;
        let Some((email, _)) = first.into_iter().next() else { return Ok(Some(emails)) };
        behind = Bound::Excluded((email.clone(), ActivityId::from_bytes([u8::MAX; 16])));
        emails.push(email);
    }
    Ok(None)
}

/// True when some id could have this text in it.
fn can_be_part_of_id(text: &str) -> bool {
    let fits = |prefix: &str, place: usize| {
        text.chars().zip(place..).all(|(character, place)| match place {
            0..4 => prefix[place..].starts_with(character),
            4 => ('0'..='7').contains(&character),
            5..ID_LEN => ALPHABET.contains(character),
            _ => false,
        })
    };
    PREFIXES.iter().any(|prefix| (0..ID_LEN).any(|place| fits(prefix, place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYMENT: &str = "pay_01h2e8kqvbfwea724h75qc655w";

    fn email(text: &str) -> Email {
        Email::new(text).expect("an address of a test")
    }

    /// The way in which a text is found in a log with these addresses.
    fn found(text: &str, emails: &[Email], acting: Option<&[Email]>) -> ActivityTerms {
        let has = |email: &&Email| email.as_str().contains(&text.to_lowercase());
        let matching = emails.iter().filter(has).cloned().collect();
        ActivityTerms::new(text, &Addresses { matching, all: emails.len() }, acting)
    }

    #[test]
    fn a_part_of_an_address_is_found_by_the_addresses() {
        let emails = [email("alice@shop.example"), email("bob@shop.example")];
        for (text, count) in [("alice", 1), ("ALICE@", 1), ("@shop.example", 2), ("nobody@", 0)] {
            let ActivityTerms::Indexes(indexes) = found(text, &emails, None) else { panic!("{text}") };
            assert_eq!(indexes.len(), 2 * count, "{text}");
        }
    }

    #[test]
    fn a_part_of_many_addresses_is_searched_in_rows_with_addresses() {
        let many: Vec<Email> = (0..=FEW_ADDRESSES).map(|number| email(&format!("p{number}@shop.example"))).collect();
        let acting = [many[0].clone(), email("help@till.example")];
        let ActivityTerms::ManyAddresses { exact, among, text } = found("@SHOP", &many, Some(&acting)) else {
            panic!("they are many");
        };
        let mut expected: Vec<ActivityIndex> = many.iter().cloned().map(ActivityIndex::UserEmail).collect();
        expected.push(ActivityIndex::ActorEmail(many[0].clone()));
        assert_eq!((exact, text), (expected, "@shop".to_owned()));
        let mut expected = ActivityType::TEAM.map(ActivityIndex::Type).to_vec();
        expected.push(ActivityIndex::ActorEmail(many[0].clone()));
        assert_eq!(among, expected);
        let few = found("@shop", &many[1..], Some(&acting[1..]));
        assert!(matches!(few, ActivityTerms::Indexes(ref indexes) if indexes.len() == FEW_ADDRESSES), "{few:?}");
        let others = (0..100).map(|number| email(&format!("p{number}@other.example")));
        let rare = found("@shop", &many.iter().cloned().chain(others).collect::<Vec<_>>(), Some(&acting));
        assert!(matches!(rare, ActivityTerms::Indexes(ref indexes) if indexes.len() == many.len() + 1), "{rare:?}");
        let unknown = found("@shop", &many, None);
        assert!(
            matches!(unknown, ActivityTerms::Indexes(ref indexes) if indexes.len() == 2 * many.len()),
            "{unknown:?}"
        );
    }

    #[test]
    fn a_whole_id_is_found_as_an_id_and_in_addresses() {
        let object = ActivityObject::from_id_text(PAYMENT).expect("an id");
        let ActivityObject::Payment(payment_id) = object else { panic!("a payment") };
        let holding = email(&format!("{PAYMENT}@shop.example"));
        let expected = [
            ActivityIndex::UserEmail(holding.clone()),
            ActivityIndex::ActorEmail(holding.clone()),
            ActivityIndex::Object(object),
            ActivityIndex::Parent(payment_id),
        ];
        let terms = found(&PAYMENT.to_uppercase(), &[holding, email("bob@shop.example")], None);
        assert_eq!(terms, ActivityTerms::Indexes(expected.to_vec()));
    }

    #[test]
    fn a_part_of_an_id_is_looked_for_on_the_rows() {
        for text in ["pay_", "01h2e8", "y_0", "sam", "w", &PAYMENT[1..], &PAYMENT[..29]] {
            assert_eq!(found(text, &[], None), ActivityTerms::Rows(text.to_owned()), "{text}");
        }
        for text in ["pay_8", "a_z", "_", "__", "lil", "u", "-", "yy_0", &format!("{PAYMENT}0")] {
            let is_part = text == "_";
            assert_eq!(matches!(found(text, &[], None), ActivityTerms::Rows(_)), is_part, "{text}");
        }
    }
}
