//! Sealing and opening of personal data, under one key for each person.
//!
//! Shape of a sealed field (offsets in bytes, `n` the length of the text):
//! ```text
//! 0 tag of the subject's key (8) | 8 sealed row as in `vault/subjects.rs` (41 + n)
//! ```
//! Associated data: the [`VaultKey`] of the subject's key (33 bytes: merchant, kind, id), then the label of
//! the field. So a field opens only as that field of that merchant and subject.
//!
//! The tag identifies the key that sealed a field, and reveals nothing of the key: it is a part of a synthetic nonce.
//! A person who was erased and comes back gets a new key. The old fields, which have another tag, then count as
//! erased, not as damaged.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use lru::LruCache;
use till_domain::ids::MerchantId;
use till_domain::records::Unreadable;
use till_domain::text::{Email, Mobile};

use crate::family::Family;
use crate::rows::RowReader;
use crate::vault::{Keyring, LookupKind, SealedError, SubjectId, SubjectKey, SubjectKind, VaultKey};

use super::codec::ShapeError;
use super::shown::SEALED;

/// The maximum number of opened keys that an actor keeps, so that a customer who pays often costs no read: about 50
/// KiB.
const OPENED_KEYS_MAX: usize = 256;

/// The maximum number of fields that an actor remembers sealed and in clear, since the same fields are in an event and
/// its rows, and in a row each time it changes: about 50 KiB.
const FIELDS_MAX: usize = 256;

/// The number of keys handed out for storing that are kept without a check that they are stored by now.
const HANDED_OUT_KEPT: usize = 64;

/// The associated data with which the tag of a key is computed. Part of the format.
const TAG_PLACE: &[u8] = b"till shapes 1: tag of a subject key";

const TAG_LEN: usize = 8;

/// Seals and opens personal texts of one merchant, and computes the digests by which customers are found.
pub trait Personal {
    /// Seals a text of `subject` for the field `label`: equal texts of one subject and label give equal bytes.
    ///
    /// # Errors
    /// [`Unreadable`] when the subject's key cannot be read or made. Nothing may be written then.
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable>;

    /// Opens a sealed text; none when the key that sealed it was erased.
    ///
    /// # Errors
    /// [`ShapeError::Unreadable`] when the vault cannot be read; any other error means that the bytes are
    /// damaged.
    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError>;

    /// The digest by which an e-mail address is found.
    fn email_digest(&self, email: &Email) -> [u8; 32];

    /// The digest by which a mobile number is found.
    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32];
}

/// Reads without any key: sealed texts stay sealed, and are shown as [`SEALED`].
pub struct StaysSealed;

impl Personal for StaysSealed {
    fn seal(&mut self, _: SubjectId, _: &'static str, _: &str) -> Result<Vec<u8>, Unreadable> {
        Err(unreadable("nothing is sealed without the key ring"))
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

/// For shapes that contain nothing personal.
pub(super) struct NoPersonal;

impl NoPersonal {
    const REASON: &'static str = "nothing personal belongs here";
}

impl Personal for NoPersonal {
    fn seal(&mut self, _: SubjectId, _: &'static str, _: &str) -> Result<Vec<u8>, Unreadable> {
        Err(unreadable(Self::REASON))
    }

    fn open(&self, _: SubjectId, _: &'static str, _: &[u8]) -> Result<Option<String>, ShapeError> {
        Err(unreadable(Self::REASON).into())
    }

    fn email_digest(&self, _: &Email) -> [u8; 32] {
        [0; 32]
    }

    fn mobile_digest(&self, _: &Mobile) -> [u8; 32] {
        [0; 32]
    }
}

fn unreadable(reason: impl Into<String>) -> Unreadable {
    Unreadable { reason: reason.into() }
}

/// The wrapped keys of one merchant's subjects, in the vault.
pub(super) struct SubjectKeys<'a> {
    pub(super) merchant: MerchantId,
    pub(super) keyring: &'a Keyring,
    pub(super) rows: &'a dyn RowReader,
}

impl SubjectKeys<'_> {
    fn vault_key(&self, subject: SubjectId) -> [u8; VaultKey::LEN] {
        VaultKey::SubjectKey { merchant: self.merchant, subject }.encode()
    }

    fn is_stored(&self, subject: SubjectId) -> Result<bool, Unreadable> {
        Ok(self.rows.get(Family::Vault, &self.vault_key(subject))?.is_some())
    }

    pub(super) fn read(&self, subject: SubjectId) -> Result<Option<Arc<OpenedKey>>, ShapeError> {
        let row = self.rows.get(Family::Vault, &self.vault_key(subject)).map_err(Unreadable::from)?;
        let Some(row) = row else { return Ok(None) };
        let key = self.keyring.open_subject_key(self.merchant, subject, &row);
        let key = key.map_err(|source| ShapeError::Sealed { label: "subject key", source })?;
        Ok(Some(Arc::new(OpenedKey::new(key))))
    }

    fn create(&self, subject: SubjectId) -> Result<(Arc<OpenedKey>, Vec<u8>), Unreadable> {
        let made = self.keyring.create_subject_key(self.merchant, subject);
        let (key, row) = made.map_err(|error| unreadable(error.to_string()))?;
        Ok((Arc::new(OpenedKey::new(key)), row))
    }

    pub(super) fn seal(&self, key: &OpenedKey, subject: SubjectId, label: &str, plain: &str) -> Vec<u8> {
        let sealed = key.key.seal(&self.place(subject, label), plain.as_bytes());
        [key.tag.as_slice(), &sealed].concat()
    }

    pub(super) fn open(
        &self,
        key: &OpenedKey,
        subject: SubjectId,
        label: &'static str,
        field: &[u8],
    ) -> Result<Option<String>, ShapeError> {
        let refused = |source| ShapeError::Sealed { label, source };
        let too_short = refused(SealedError::TooShort { found_len: field.len() });
        let (tag, sealed) = field.split_first_chunk::<TAG_LEN>().ok_or(too_short)?;
        if *tag != key.tag {
            return Ok(None);
        }
        let plain = key.key.open(&self.place(subject, label), sealed).map_err(refused)?;
        let text = String::from_utf8(plain.to_vec()).map_err(|_| refused(SealedError::Content))?;
        Ok(Some(text))
    }

    fn place(&self, subject: SubjectId, label: &str) -> Vec<u8> {
        [self.vault_key(subject).as_slice(), label.as_bytes()].concat()
    }

    pub(super) fn digest(&self, kind: LookupKind, text: &str) -> [u8; 32] {
        self.keyring.lookup_digest(self.merchant, kind, text)
    }
}

/// The opened key of a subject.
pub(super) struct OpenedKey {
    key: SubjectKey,
    tag: [u8; TAG_LEN],
}

impl OpenedKey {
    fn new(key: SubjectKey) -> OpenedKey {
        let probe = key.seal(TAG_PLACE, b"");
        let tag = probe.get(1..).and_then(|nonce| nonce.first_chunk()).copied();
        OpenedKey { key, tag: tag.expect("a sealed row begins with a format byte and 24 bytes of nonce") }
    }
}

/// The last fields, in clear and sealed under the present key.
struct Fields {
    last: LruCache<(SubjectId, &'static str), (String, Vec<u8>)>,
}

impl Fields {
    fn sealed(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Option<Vec<u8>> {
        let (known, sealed) = self.last.get(&(subject, label))?;
        (known == plain).then(|| sealed.clone())
    }

    fn plain(&mut self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Option<String> {
        let (plain, known) = self.last.get(&(subject, label))?;
        (known == sealed).then(|| plain.clone())
    }

    fn remember(&mut self, subject: SubjectId, label: &'static str, plain: &str, sealed: &[u8]) {
        self.last.put((subject, label), (plain.to_owned(), sealed.to_vec()));
        if self.last.len() > FIELDS_MAX {
            self.last.pop_lru();
        }
    }
}

/// The personal data of one merchant, used by its actor: opens, seals, and makes a key for a subject
/// that has none yet.
///
/// A key made here is in use at once, and is lost unless it is stored: [`MerchantPersonal::take_pending`]
/// returns its vault row, and that row belongs in the same batch as the texts sealed under it. When none of these
/// texts is written (encoding failed, the command was refused after all), call
/// [`MerchantPersonal::forget_pending`]. When a batch fails or its outcome is unknown, drop the object
/// with the rest of the actor's state: keys of the failed batch exist only here, and texts sealed
/// under them later could not be opened after a restart. A later batch that used one would fail anyway,
/// since it was decided on a head that never became durable.
pub struct MerchantPersonal<R> {
    merchant: MerchantId,
    keyring: Arc<Keyring>,
    rows: R,
    /// The last fields that were sealed or opened.
    fields: RefCell<Fields>,
    /// Customers whose keys were deleted: the rows of these keys may exist until the deletion is durable. An actor that
    /// is started anew has none; removing customers is rare enough for 16 bytes each until then.
    erased: HashSet<SubjectId>,
    /// Keys that are stored.
    opened: RefCell<LruCache<SubjectId, Arc<OpenedKey>>>,
    /// Keys made here that may not be stored yet: never dropped before they are.
    fresh: HashMap<SubjectId, Arc<OpenedKey>>,
    /// Those of `fresh` that were not handed out, with their vault rows, in the order in which they were made.
    pending: Vec<(SubjectId, Vec<u8>)>,
    /// Those of `fresh` that were handed out, in order.
    handed_out: VecDeque<SubjectId>,
}

impl<R: RowReader> MerchantPersonal<R> {
    /// An object without opened keys. `rows` may or may not include rows of the vault that are staged and not yet
    /// durable.
    #[must_use]
    pub fn new(merchant: MerchantId, keyring: Arc<Keyring>, rows: R) -> MerchantPersonal<R> {
        MerchantPersonal {
            merchant,
            keyring,
            rows,
            fields: RefCell::new(Fields { last: LruCache::unbounded() }),
            erased: HashSet::new(),
            opened: RefCell::new(LruCache::unbounded()),
            fresh: HashMap::new(),
            pending: Vec::new(),
            handed_out: VecDeque::new(),
        }
    }

    fn keys(&self) -> SubjectKeys<'_> {
        SubjectKeys { merchant: self.merchant, keyring: &self.keyring, rows: &self.rows }
    }

    /// Keys and values of the vault rows of the keys made since the last call, for the batch that contains the texts
    /// sealed under them.
    #[must_use = "what was sealed cannot be opened again unless these rows are stored with it"]
    pub fn take_pending(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let pending = std::mem::take(&mut self.pending);
        self.handed_out.extend(pending.iter().map(|(subject, _)| *subject));
        let row = |(subject, value)| (self.keys().vault_key(subject).to_vec(), value);
        pending.into_iter().map(row).collect()
    }

    /// Forgets the keys made since the last [`MerchantPersonal::take_pending`]. Texts sealed under them
    /// must not be written.
    pub fn forget_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.fields.get_mut().last.clear();
        for (subject, _) in self.pending.drain(..) {
            self.fresh.remove(&subject);
        }
    }

    /// Forgets the opened key of a subject. It must be called when the row of the key is deleted, which erases
    /// the person.
    pub fn forget_subject(&mut self, subject: SubjectId) {
        if subject.kind == SubjectKind::Customer {
            self.erased.insert(subject);
        }
        self.fields.get_mut().last.clear();
        self.opened.get_mut().pop(&subject);
        self.fresh.remove(&subject);
        self.pending.retain(|(pending, _)| *pending != subject);
        self.handed_out.retain(|handed_out| *handed_out != subject);
    }

    fn key(&self, subject: SubjectId) -> Result<Option<Arc<OpenedKey>>, ShapeError> {
        if self.erased.contains(&subject) {
            return Ok(None);
        }
        if let Some(key) = self.fresh.get(&subject) {
            return Ok(Some(Arc::clone(key)));
        }
        if let Some(key) = self.opened.borrow_mut().get(&subject) {
            return Ok(Some(Arc::clone(key)));
        }
        let found = self.keys().read(subject)?;
        if let Some(key) = &found {
            self.keep_opened(subject, Arc::clone(key));
        }
        Ok(found)
    }

    fn keep_opened(&self, subject: SubjectId, key: Arc<OpenedKey>) {
        let mut opened = self.opened.borrow_mut();
        opened.put(subject, key);
        if opened.len() > OPENED_KEYS_MAX {
            opened.pop_lru();
        }
    }

    fn make_key(&mut self, subject: SubjectId) -> Result<Arc<OpenedKey>, Unreadable> {
        if self.erased.contains(&subject) {
            return Err(unreadable("the key of this customer was deleted, and is not made again"));
        }
        self.release_stored()?;
        let (key, row) = self.keys().create(subject)?;
        self.fresh.insert(subject, Arc::clone(&key));
        self.pending.push((subject, row));
        Ok(key)
    }

    /// Removes the oldest keys handed out, once they are found to be stored: at most two for each key
    /// made, so that the keys that are kept are about those being written.
    fn release_stored(&mut self) -> Result<(), Unreadable> {
        for _ in 0..2 {
            let oldest = self.handed_out.front().copied().filter(|_| self.handed_out.len() > HANDED_OUT_KEPT);
            let Some(subject) = oldest else { break };
            if !self.keys().is_stored(subject)? {
                break;
            }
            self.handed_out.pop_front();
            if let Some(key) = self.fresh.remove(&subject) {
                self.keep_opened(subject, key);
            }
        }
        Ok(())
    }
}

impl<R: RowReader> Personal for MerchantPersonal<R> {
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable> {
        if let Some(sealed) = self.fields.get_mut().sealed(subject, label, plain) {
            return Ok(sealed);
        }
        let key = match self.key(subject)? {
            Some(key) => key,
            None => self.make_key(subject)?,
        };
        let sealed = self.keys().seal(&key, subject, label, plain);
        self.fields.get_mut().remember(subject, label, plain, &sealed);
        Ok(sealed)
    }

    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError> {
        if let Some(plain) = self.fields.borrow_mut().plain(subject, label, sealed) {
            return Ok(Some(plain));
        }
        let Some(key) = self.key(subject)? else { return Ok(None) };
        let plain = self.keys().open(&key, subject, label, sealed)?;
        if let Some(plain) = &plain {
            self.fields.borrow_mut().remember(subject, label, plain, sealed);
        }
        Ok(plain)
    }

    fn email_digest(&self, email: &Email) -> [u8; 32] {
        self.keys().digest(LookupKind::Email, email.as_str())
    }

    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32] {
        self.keys().digest(LookupKind::Mobile, mobile.as_str())
    }
}

#[cfg(test)]
#[path = "personal_tests.rs"]
mod tests;
