//! What a text of `terms` can be found by.

use till_domain::activity::ActivityObject;
use till_domain::ids::SUFFIX_LEN;
use till_domain::text::Email;
use till_storage::shapes::ActivityIndex;

/// The beginnings of ids that stand in activities.
const PREFIXES: [&str; 5] = ["pay_", "rfn_", "dsp_", "pyo_", "mer_"];
/// What the rest of an id consists of.
const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of an id.
const ID_LEN: usize = 4 + SUFFIX_LEN;

/// How a text is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Terms {
    /// By these indexes alone: it is a whole id, or can only be a part of an address.
    Indexes(Vec<ActivityIndex>),
    /// It may be a part of an id: on the rows.
    Rows(String),
}

impl Terms {
    /// How `text` is found among entries whose distinct addresses are `emails`.
    #[must_use]
    pub fn new(text: &str, emails: &[Email]) -> Terms {
        let text = text.to_lowercase();
        let object = ActivityObject::from_id_text(&text);
        if object.is_none() && can_be_part_of_id(&text) {
            return Terms::Rows(text);
        }
        let mut indexes: Vec<ActivityIndex> = object.map(ActivityIndex::Object).into_iter().collect();
        if let Some(ActivityObject::Payment(payment_id)) = object {
            indexes.push(ActivityIndex::Parent(payment_id));
        }
        for email in emails.iter().filter(|email| email.as_str().contains(&text)) {
            indexes.push(ActivityIndex::ActorEmail(email.clone()));
            indexes.push(ActivityIndex::UserEmail(email.clone()));
        }
        Terms::Indexes(indexes)
    }
}

/// Whether some id could have this text in it.
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

    #[test]
    fn a_part_of_an_address_that_no_id_can_have_is_found_by_the_addresses() {
        let emails = [email("alice@shop.example"), email("bob@shop.example")];
        for (text, count) in [("alice", 1), ("ALICE@", 1), ("@shop.example", 2), ("nobody@", 0)] {
            let Terms::Indexes(indexes) = Terms::new(text, &emails) else { panic!("{text}") };
            assert_eq!(indexes.len(), 2 * count, "{text}");
        }
    }

    #[test]
    fn a_whole_id_is_found_by_what_it_is_and_by_addresses_that_hold_it() {
        let object = ActivityObject::from_id_text(PAYMENT).expect("an id");
        let ActivityObject::Payment(payment_id) = object else { panic!("a payment") };
        let holding = email(&format!("{PAYMENT}@shop.example"));
        let expected = [
            ActivityIndex::Object(object),
            ActivityIndex::Parent(payment_id),
            ActivityIndex::ActorEmail(holding.clone()),
            ActivityIndex::UserEmail(holding.clone()),
        ];
        let found = Terms::new(&PAYMENT.to_uppercase(), &[holding, email("bob@shop.example")]);
        assert_eq!(found, Terms::Indexes(expected.to_vec()));
    }

    #[test]
    fn a_part_of_an_id_is_looked_for_on_the_rows() {
        for text in ["pay_", "01h2e8", "y_0", "sam", "w", &PAYMENT[1..], &PAYMENT[..29]] {
            assert_eq!(Terms::new(text, &[]), Terms::Rows(text.to_owned()), "{text}");
        }
        for text in ["pay_8", "a_z", "_", "__", "lil", "u", "-", "yy_0", &format!("{PAYMENT}0")] {
            let is_part = text == "_";
            assert_eq!(matches!(Terms::new(text, &[]), Terms::Rows(_)), is_part, "{text}");
        }
    }
}
