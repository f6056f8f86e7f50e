//! The personal data of one merchant, for replay: a person whose key cannot be opened counts as erased, so that one
//! damaged row of the vault does not stop the replay of a log. The vault's own check reports that row.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use till_domain::ids::MerchantId;
use till_domain::records::{AnyKey, AnyRow, Rows, Unreadable};
use till_domain::text::{Email, Mobile};
use till_storage::rows::RowReader;
use till_storage::shapes::{MerchantReader, Personal, ShapeError, read_row};
use till_storage::vault::{Keyring, SubjectId};

/// Limit of the keys of persons in memory, so that a customer who pays often costs one read: some 120 MB.
const KEPT_KEYS: usize = 500_000;

/// Opens and seals personal data, and remembers the persons whose key could not be opened.
pub(super) struct ReplayPersonal<'a> {
    inner: MerchantReader<&'a dyn RowReader>,
    rows: &'a dyn RowReader,
    lost: RefCell<BTreeSet<SubjectId>>,
}

impl<'a> ReplayPersonal<'a> {
    pub(super) fn new(merchant_id: MerchantId, keyring: &Arc<Keyring>, rows: &'a dyn RowReader) -> Self {
        let inner = MerchantReader::new(merchant_id, Some(Arc::clone(keyring)), rows).keeping_keys(KEPT_KEYS);
        ReplayPersonal { inner, rows, lost: RefCell::default() }
    }

    /// True when the key of any person exists and cannot be opened.
    pub(super) fn has_lost_any(&self) -> bool {
        !self.lost.borrow().is_empty()
    }

    /// True when the key of a person exists and cannot be opened.
    pub(super) fn has_lost(&self, subject: SubjectId) -> bool {
        self.lost.borrow().contains(&subject)
    }
}

impl Rows for ReplayPersonal<'_> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        read_row(self.rows, self.inner.merchant_id(), key, self)
    }
}

impl Personal for ReplayPersonal<'_> {
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable> {
        self.inner.seal(subject, label, plain)
    }

    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError> {
        if self.has_lost(subject) {
            return Ok(None);
        }
        let opened = self.inner.open(subject, label, sealed);
        let key_is_lost = match &opened {
            Err(ShapeError::Unreadable(_)) => true,
            // The field itself has its own label: then the key was opened, and the bytes are not those that were
            // sealed.
            Err(ShapeError::Sealed { label: found, source: _ }) => *found != label,
            Ok(_) | Err(_) => false,
        };
        if key_is_lost {
            self.lost.borrow_mut().insert(subject);
            return Ok(None);
        }
        opened
    }

    fn email_digest(&self, email: &Email) -> [u8; 32] {
        self.inner.email_digest(email)
    }

    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32] {
        self.inner.mobile_digest(mobile)
    }
}
