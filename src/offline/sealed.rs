//! Reading without a key.

use till_domain::records::Unreadable;
use till_domain::text::{Email, Mobile};
use till_storage::shapes::{Personal, SEALED, ShapeError};
use till_storage::vault::SubjectId;

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
