//! The ways in which a text of `terms` is found in the activity log.

use till_domain::activity::{Activity, ActivityObject, Actor};
use till_domain::ids::SUFFIX_LEN;
use till_domain::text::Email;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;
use till_storage::shapes::ActivityIndex;

use super::merge::EntrySource;
use super::search::Selection;
use crate::service::submission::Reader;

/// The beginnings of ids that stand in activities.
const PREFIXES: [&str; 5] = ["pay_", "rfn_", "dsp_", "pyo_", "mer_"];
/// The characters that may follow the prefix of an id.
const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of an id.
const ID_LEN: usize = 4 + SUFFIX_LEN;

/// Ranges that are few enough for a thread that reads requests: those of an id and of some addresses.
const FEW_RANGES: usize = 6;
/// More addresses are looked for on the rows at first, when they are one in so many of all, or more.
const FREQUENT_ONE_IN: usize = 4;

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
pub(crate) enum ActivityTerms {
    /// By these indexes alone: it is a whole id, or can only be a part of an address.
    Indexes(Vec<ActivityIndex>),
    /// By these indexes as well, as a part of so many addresses that a page of it is found faster on the rows that have
    /// any.
    ManyAddresses {
        /// The ranges whose entries have the text.
        indexes: Vec<ActivityIndex>,
        /// The text, in lower case.
        text: String,
    },
    /// On the rows: it may be a part of an id.
    Rows(String),
}

impl ActivityTerms {
    /// Keeps the entries of a selection that have the text.
    pub(crate) fn select(self, selection: &mut Selection<ActivityIndex>) {
        match self {
            ActivityTerms::Indexes(indexes) => selection.any_of(indexes),
            ActivityTerms::ManyAddresses { indexes, text } => {
                let sources: Vec<_> = indexes.into_iter().map(EntrySource::Index).collect();
                let has_text = move |entry: &Activity| has_in_address(entry, &text);
                selection.frequent(has_text, ActivityIndex::WithEmail, move |_| {
                    // Each of so many addresses is a range to be searched.
                    if request_thread::is_here() { Err(ApiError::for_worker_pool()) } else { Ok(Some(sources.clone())) }
                });
            }
            ActivityTerms::Rows(text) => selection.passing(move |entry| has(entry, &text)),
        }
    }

    /// The way in which `text` is found in a merchant's log.
    ///
    /// # Errors
    /// `UNAVAILABLE` when the addresses of the log cannot be read; [`ApiError::for_worker_pool`] when there are many of
    /// them and this thread reads requests.
    pub(crate) fn find(text: &str, reader: &Reader<'_>) -> Result<ActivityTerms, ApiError> {
        let is_request_thread = request_thread::is_here();
        let addresses_max = if is_request_thread { ADDRESSES_AT_ONCE_MAX } else { usize::MAX };
        let found = reader.activity_emails_with(&text.to_lowercase(), addresses_max)?;
        let (matching, all) = found.ok_or_else(ApiError::for_worker_pool)?;
        let terms = ActivityTerms::new(text, Addresses { matching, all });
        match &terms {
            ActivityTerms::Indexes(indexes) if is_request_thread && indexes.len() > FEW_RANGES => {
                Err(ApiError::for_worker_pool())
            }
            _ => Ok(terms),
        }
    }

    /// The way in which `text` is found among entries with these addresses.
    #[must_use]
    pub(super) fn new(text: &str, addresses: Addresses) -> ActivityTerms {
        let text = text.to_lowercase();
        let object = ActivityObject::from_id_text(&text);
        if object.is_none() && can_be_part_of_id(&text) {
            return ActivityTerms::Rows(text);
        }
        let Addresses { matching, all } = addresses;
        let are_many = matching.len() > FEW_RANGES && matching.len().saturating_mul(FREQUENT_ONE_IN) >= all;
        let mut indexes: Vec<ActivityIndex> = matching.into_iter().map(ActivityIndex::Email).collect();
        let Some(object) = object else {
            return if are_many {
                ActivityTerms::ManyAddresses { indexes, text }
            } else {
                ActivityTerms::Indexes(indexes)
            };
        };
        indexes.push(ActivityIndex::Object(object));
        if let ActivityObject::Payment(payment_id) = object {
            indexes.push(ActivityIndex::Parent(payment_id));
        }
        ActivityTerms::Indexes(indexes)
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
    fn terms_of(text: &str, emails: &[Email]) -> ActivityTerms {
        let has = |email: &&Email| email.as_str().contains(&text.to_lowercase());
        let matching = emails.iter().filter(has).cloned().collect();
        ActivityTerms::new(text, Addresses { matching, all: emails.len() })
    }

    #[test]
    fn a_part_of_an_address_is_found_by_the_addresses() {
        let emails = [email("alice@shop.example"), email("bob@shop.example")];
        for (text, count) in [("alice", 1), ("ALICE@", 1), ("@shop.example", 2), ("nobody@", 0)] {
            let ActivityTerms::Indexes(indexes) = terms_of(text, &emails) else { panic!("{text}") };
            assert_eq!(indexes.len(), count, "{text}");
        }
    }

    #[test]
    fn a_part_of_many_addresses_is_searched_in_rows_with_addresses() {
        let many: Vec<Email> = (0..=FEW_RANGES).map(|number| email(&format!("p{number}@shop.example"))).collect();
        let expected: Vec<ActivityIndex> = many.iter().cloned().map(ActivityIndex::Email).collect();
        let of_many = ActivityTerms::ManyAddresses { indexes: expected.clone(), text: "@shop".to_owned() };
        assert_eq!(terms_of("@SHOP", &many), of_many);
        assert_eq!(terms_of("@shop", &many[1..]), ActivityTerms::Indexes(expected[1..].to_vec()), "few");
        let others = (0..100).map(|number| email(&format!("p{number}@other.example")));
        let rare = terms_of("@shop", &many.iter().cloned().chain(others).collect::<Vec<_>>());
        assert_eq!(rare, ActivityTerms::Indexes(expected), "rare");
    }

    #[test]
    fn a_whole_id_is_found_as_an_id_and_in_addresses() {
        let object = ActivityObject::from_id_text(PAYMENT).expect("an id");
        let ActivityObject::Payment(payment_id) = object else { panic!("a payment") };
        let holding = email(&format!("{PAYMENT}@shop.example"));
        let expected =
            [ActivityIndex::Email(holding.clone()), ActivityIndex::Object(object), ActivityIndex::Parent(payment_id)];
        let terms = terms_of(&PAYMENT.to_uppercase(), &[holding, email("bob@shop.example")]);
        assert_eq!(terms, ActivityTerms::Indexes(expected.to_vec()));
    }

    #[test]
    fn a_part_of_an_id_is_looked_for_on_the_rows() {
        for text in ["pay_", "01h2e8", "y_0", "sam", "w", &PAYMENT[1..], &PAYMENT[..29]] {
            assert_eq!(terms_of(text, &[]), ActivityTerms::Rows(text.to_owned()), "{text}");
        }
        for text in ["pay_8", "a_z", "_", "__", "lil", "u", "-", "yy_0", &format!("{PAYMENT}0")] {
            let is_part = text == "_";
            assert_eq!(matches!(terms_of(text, &[]), ActivityTerms::Rows(_)), is_part, "{text}");
        }
    }
}
