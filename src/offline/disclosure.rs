//! Whether personal data is shown.

use serde_json::Value;
use till_domain::card::CardHolder;
use till_domain::ids::TokenId;
use till_domain::records::Unreadable;
use till_domain::text::{Email, Mobile, PersonName};
use till_storage::shapes::{Personal, ShapeError};
use till_storage::vault::SubjectId;

/// What stands in the place of what is not shown.
pub const SEALED: &str = "[sealed]";

/// Whether personal data is shown: names, addresses, mobile numbers, what merchants keep as metadata, and the ids of
/// tokens, which whoever knows them may pay with. Card numbers are shown never: they are in no log and in no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disclosure {
    /// It is not; no key is needed.
    Sealed,
    /// It is.
    Opened,
}

impl Disclosure {
    /// The name in a list.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Disclosure::Sealed => "sealed",
            Disclosure::Opened => "opened",
        }
    }

    /// A text, or what stands for it.
    pub(super) fn text(self, text: &str) -> Value {
        match self {
            Disclosure::Sealed => Value::from(SEALED),
            Disclosure::Opened => Value::from(text),
        }
    }

    pub(super) fn email(self, email: Option<&Email>) -> Value {
        email.map_or(Value::Null, |email| self.text(email.as_str()))
    }

    pub(super) fn mobile(self, mobile: Option<&Mobile>) -> Value {
        mobile.map_or(Value::Null, |mobile| self.text(mobile.as_str()))
    }

    pub(super) fn person(self, name: Option<&PersonName>) -> Value {
        name.map_or(Value::Null, |name| self.text(name.as_str()))
    }

    pub(super) fn holder(self, holder: &CardHolder) -> Value {
        holder.name().map_or(Value::Null, |name| self.text(name.as_str()))
    }

    pub(super) fn token(self, id: TokenId) -> Value {
        self.text(&id.to_string())
    }
}

/// Reads rows and records without any key: what is sealed stays so.
pub(super) struct StaysSealed;

impl Personal for StaysSealed {
    fn seal(&mut self, _: SubjectId, _: &'static str, _: &str) -> Result<Vec<u8>, Unreadable> {
        Err(Unreadable { reason: "nothing is written here".to_owned() })
    }

    fn open(&self, _: SubjectId, _: &'static str, _: &[u8]) -> Result<Option<String>, ShapeError> {
        Ok(Some(SEALED.to_owned()))
    }

    fn email_digest(&self, _: &Email) -> [u8; 32] {
        [0; 32]
    }

    fn mobile_digest(&self, _: &Mobile) -> [u8; 32] {
        [0; 32]
    }
}
