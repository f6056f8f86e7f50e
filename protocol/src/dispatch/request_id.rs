//! The id that ties a request's answer to its log lines.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use till_domain::card_number::has_digits_of_card_number;

/// The limit of characters of an id that the caller chooses.
const LENGTH_MAX: usize = 128;

/// Random bytes of a generated id: enough to make two equal ones practically impossible.
const FRESH_BYTES: usize = 16;

/// The prefix of a generated id.
const PREFIX: &str = "req_";

/// The number of ids for which a thread draws random bytes at once.
const DRAWN_IDS: usize = 32;

thread_local! {
    static DRAWN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A request's id: the caller's own, or a generated one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The caller's own id when it is acceptable (1 to 128 of letters, digits, `.`, `_` and `-`, and no card number
    /// anywhere in it, since it appears in the log), else a generated one.
    #[must_use]
    pub fn from_header(header: Option<&str>) -> RequestId {
        match header.filter(|text| is_sane(text)) {
            Some(text) => RequestId(text.into()),
            None => RequestId::fresh(),
        }
    }

    fn fresh() -> RequestId {
        RequestId(format!("{PREFIX}{:032x}", u128::from_be_bytes(random())).into())
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Random bytes, drawn from the operating system in advance.
fn random() -> [u8; FRESH_BYTES] {
    DRAWN.with_borrow_mut(|drawn| {
        if drawn.is_empty() {
            drawn.resize(DRAWN_IDS * FRESH_BYTES, 0);
            getrandom::fill(drawn).expect("the operating system gives randomness once it is up");
        }
        let bytes = *drawn.last_chunk().expect("whole ids are drawn, and at least one is left");
        drawn.truncate(drawn.len() - FRESH_BYTES);
        bytes
    })
}

fn is_sane(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_plain = (1..=LENGTH_MAX).contains(&text.len()) && text.bytes().all(is_allowed);
    is_plain && !has_digits_of_card_number(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_sane_id_is_kept() {
        for own in ["a", "order-17_retry.2", &"x".repeat(128)] {
            assert_eq!(RequestId::from_header(Some(own)).as_str(), own);
        }
    }

    #[test]
    fn an_id_with_a_card_number_anywhere_is_replaced() {
        for own in [
            "4242424242424242",
            "4242-4242-4242-4242",
            "x4539578763621486",
            "trace_4242.4242.4242.4242_retry",
            "4242__4242--4242..4242",
            "order-17-4242424242424242-2",
        ] {
            let id = RequestId::from_header(Some(own));
            assert!(id.as_str().starts_with("req_") && id.as_str() != own, "{own}");
        }
        for own in [
            "4242424242424243",
            "12342424242424242424",
            "trace-424242424242424",
            "0af7651916cd43dd8448eb211c80319c",
            "4242a4242b4242c4242",
        ] {
            assert_eq!(RequestId::from_header(Some(own)).as_str(), own);
        }
    }

    #[test]
    fn any_other_is_replaced_by_a_fresh_one_that_is_sane_itself() {
        for own in [None, Some(""), Some("a b"), Some("a\"b"), Some("é"), Some(&*"x".repeat(129))] {
            let id = RequestId::from_header(own);
            assert!(id.as_str().starts_with("req_") && is_sane(id.as_str()), "{id}");
        }
        let fresh: BTreeSet<String> =
            (0..3 * DRAWN_IDS).map(|_| RequestId::from_header(None).as_str().to_owned()).collect();
        assert_eq!(fresh.len(), 3 * DRAWN_IDS);
    }
}
