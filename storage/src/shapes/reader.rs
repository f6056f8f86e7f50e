//! Typed reads of one merchant's rows, and of those of all merchants.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use till_domain::ids::{KeyId, MerchantId, UserId};
use till_domain::records::{AnyKey, AnyRow, Rows, Unreadable};
use till_domain::text::{Email, Mobile};
use zeroize::Zeroizing;

use crate::family::Family;
use crate::rows::{RowReader, RowStore};
use crate::vault::{
    AccountSecretOf, CardNumber, CardNumberOf, Credentials, Keyring, LookupKind, SealedError, SubjectId, SubjectKind,
    VaultKey, WebhookSecretBytes, WebhookSecretOf,
};

use super::codec::ShapeError;
use super::keys::row_key;
use super::personal::{OpenedKey, Personal, StaysSealed, SubjectKeys};
use super::rows::decode_row;

/// The row under `key` of a merchant. Tables below a merchant are read below the given one; for tables of
/// all merchants it does not matter. `personal` is the merchant's.
///
/// # Errors
/// [`Unreadable`] when the store does not answer, or when the bytes are damaged.
pub fn read_row(
    rows: &(impl RowReader + ?Sized),
    merchant_id: MerchantId,
    key: &AnyKey,
    personal: &dyn Personal,
) -> Result<Option<AnyRow>, Unreadable> {
    let (family, bytes) = row_key(merchant_id, key, personal);
    let Some(value) = rows.get(family, &bytes)? else { return Ok(None) };
    Ok(Some(decode_row(key, &value, personal)?))
}

/// Reads one merchant's rows and opens the personal data in them.
///
/// It seals under stored keys only, as `till verify` does to compare, and makes none. It keeps one opened key, so a
/// new reader must be made for each answer: then an erased person is absent from the next answer.
pub struct MerchantReader<R> {
    merchant_id: MerchantId,
    pub(super) rows: R,
    /// Without it sealed texts stay sealed.
    keyring: Option<Arc<Keyring>>,
    last: RefCell<Option<FoundKey>>,
    /// More keys, for the reader of a store that no process writes to.
    kept: RefCell<HashMap<SubjectId, Option<Arc<OpenedKey>>>>,
    kept_max: usize,
    is_masked: bool,
}

/// Reads of one moment.
pub type MerchantView<'a> = MerchantReader<Box<dyn RowReader + 'a>>;

/// A subject that was looked up, and its key, unless it was erased or never made.
type FoundKey = (SubjectId, Option<Arc<OpenedKey>>);

impl<R: RowReader> MerchantReader<R> {
    /// Reads the rows of a merchant. Without the key ring sealed texts stay sealed.
    #[must_use]
    pub fn new(merchant_id: MerchantId, keyring: Option<Arc<Keyring>>, rows: R) -> MerchantReader<R> {
        let (last, kept) = (RefCell::new(None), RefCell::default());
        MerchantReader { merchant_id, rows, keyring, last, kept, kept_max: 0, is_masked: false }
    }

    /// The same for people who may not know customers: what is sealed about persons is absent, as that of an erased
    /// person is, and no person is found by an address or a number.
    #[must_use]
    pub fn masked(self) -> MerchantReader<R> {
        MerchantReader { is_masked: true, ..self }
    }

    /// The same for a store that no process writes to: this number of keys is kept, at some 250 bytes each.
    #[must_use]
    pub fn keeping_keys(self, keys: usize) -> MerchantReader<R> {
        MerchantReader { kept_max: keys, ..self }
    }

    /// The merchant whose rows are read.
    #[must_use]
    pub const fn merchant_id(&self) -> MerchantId {
        self.merchant_id
    }

    /// Reads the tables above all merchants. Their keys do not begin with a merchant, so none is given.
    #[must_use]
    pub fn of_all_merchants(rows: R) -> MerchantReader<R> {
        MerchantReader::new(MerchantId::from_bytes([0; 16]), None, rows)
    }

    /// The text of an API key, while the vault keeps it.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be read or opened.
    pub fn api_key_text(&self, key: KeyId) -> Result<Option<Zeroizing<String>>, Unreadable> {
        self.secret_text(VaultKey::ApiKeySecret { merchant: self.merchant_id, key })
    }

    /// The number of a card, while the vault keeps it.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be read or opened.
    pub fn card_number(&self, of: CardNumberOf) -> Result<Option<CardNumber>, Unreadable> {
        let merchant = self.merchant_id;
        let open = |keyring: &Keyring, row: &[u8]| keyring.open_card_number(merchant, of, row);
        self.secret(VaultKey::CardNumber { merchant, of }, open)
    }

    /// A secret of a webhook.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be read or opened.
    pub fn webhook_secret(&self, of: WebhookSecretOf) -> Result<Option<WebhookSecretBytes>, Unreadable> {
        let merchant = self.merchant_id;
        let open = |keyring: &Keyring, row: &[u8]| keyring.open_webhook_secret(merchant, of, row);
        self.secret(VaultKey::WebhookSecret { merchant, of }, open)
    }

    /// A secret of an account at an acquirer.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be read or opened.
    pub fn account_secret(&self, of: AccountSecretOf) -> Result<Option<Zeroizing<String>>, Unreadable> {
        self.secret_text(VaultKey::AccountSecret { merchant: self.merchant_id, of })
    }

    /// The credentials of a member of the team.
    ///
    /// # Errors
    /// [`Unreadable`] when they cannot be read or opened.
    pub fn credentials(&self, user: UserId) -> Result<Option<Credentials>, Unreadable> {
        let merchant = self.merchant_id;
        let open = |keyring: &Keyring, row: &[u8]| keyring.open_credentials(merchant, user, row);
        self.secret(VaultKey::Credentials { merchant, user }, open)
    }

    fn secret_text(&self, key: VaultKey) -> Result<Option<Zeroizing<String>>, Unreadable> {
        self.secret(key, |keyring, row| keyring.open_secret_text(key, row))
    }

    fn secret<S>(
        &self,
        key: VaultKey,
        open: impl FnOnce(&Keyring, &[u8]) -> Result<S, SealedError>,
    ) -> Result<Option<S>, Unreadable> {
        let Some(row) = self.rows.get(Family::Vault, &key.encode())? else { return Ok(None) };
        let unreadable = |reason: String| Unreadable { reason };
        let keyring = self.keyring.as_deref().ok_or_else(|| unreadable("a secret needs the key ring".to_owned()))?;
        open(keyring, &row).map(Some).map_err(|error| unreadable(error.to_string()))
    }

    fn subject_keys(&self) -> Option<SubjectKeys<'_>> {
        let keyring = self.keyring.as_deref()?;
        Some(SubjectKeys { merchant: self.merchant_id, keyring, rows: &self.rows })
    }

    /// The digest by which a person is found; one of nobody where nobody is to be found.
    fn digest(&self, kind: LookupKind, text: &str) -> [u8; 32] {
        self.subject_keys().filter(|_| !self.is_masked).map_or([0; 32], |keys| keys.digest(kind, text))
    }

    fn key(&self, keys: &SubjectKeys<'_>, subject: SubjectId) -> Result<Option<Arc<OpenedKey>>, ShapeError> {
        if let Some((last, key)) = &*self.last.borrow()
            && *last == subject
        {
            return Ok(key.clone());
        }
        let kept = self.kept.borrow().get(&subject).cloned();
        let found = match kept {
            Some(found) => found,
            None => self.keep(subject, keys.read(subject)?),
        };
        *self.last.borrow_mut() = Some((subject, found.clone()));
        Ok(found)
    }

    /// Keeps a key when the reader keeps several. When there are too many, all are dropped, since the next ones are
    /// unknown.
    fn keep(&self, subject: SubjectId, found: Option<Arc<OpenedKey>>) -> Option<Arc<OpenedKey>> {
        if self.kept_max > 0 {
            let mut kept = self.kept.borrow_mut();
            if kept.len() >= self.kept_max {
                kept.clear();
            }
            kept.insert(subject, found.clone());
        }
        found
    }
}

impl<'a, S: RowStore + ?Sized> MerchantReader<&'a S> {
    /// Reads that all see the present moment.
    #[must_use]
    pub fn view(&self) -> MerchantView<'a> {
        let view = MerchantReader::new(self.merchant_id, self.keyring.clone(), self.rows.view());
        MerchantReader { is_masked: self.is_masked, ..view }
    }
}

impl<R: RowReader> Rows for MerchantReader<R> {
    fn read(&self, key: &AnyKey) -> Result<Option<AnyRow>, Unreadable> {
        read_row(&self.rows, self.merchant_id, key, self)
    }
}

impl<R: RowReader> Personal for MerchantReader<R> {
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable> {
        let Some(keys) = self.subject_keys() else { return StaysSealed.seal(subject, label, plain) };
        let no_key = || Unreadable { reason: "a reader makes no keys to seal with".to_owned() };
        let key = self.key(&keys, subject)?.ok_or_else(no_key)?;
        Ok(keys.seal(&key, subject, label, plain))
    }

    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError> {
        if self.is_masked && subject.kind != SubjectKind::AcquirerPage {
            return Ok(None);
        }
        let Some(keys) = self.subject_keys() else { return StaysSealed.open(subject, label, sealed) };
        match self.key(&keys, subject)? {
            Some(key) => keys.open(&key, subject, label, sealed),
            None => Ok(None),
        }
    }

    fn email_digest(&self, email: &Email) -> [u8; 32] {
        self.digest(LookupKind::Email, email.as_str())
    }

    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32] {
        self.digest(LookupKind::Mobile, mobile.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use till_domain::records::{Customers, CustomersByEmail, Payments, PaymentsByExternalId};

    use super::super::personal::MerchantPersonal;
    use super::super::rows::encode_row;
    use super::super::samples::{self, MERCHANT, OTHER_MERCHANT};
    use super::*;
    use crate::rows::{RowError, RowRange, Visit};
    use crate::vault::RootKey;

    #[derive(Default)]
    struct Bytes {
        rows: BTreeMap<(Family, Vec<u8>), Vec<u8>>,
        broken: bool,
    }

    impl RowReader for Bytes {
        fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
            if self.broken {
                return Err(RowError::Unreadable { family, reason: "the disk failed".to_owned() });
            }
            Ok(self.rows.get(&(family, key.to_vec())).cloned())
        }

        fn visit(&self, _: RowRange<'_>, _: &mut Visit<'_>) -> Result<(), RowError> {
            Ok(())
        }
    }

    fn filled() -> (Bytes, Arc<Keyring>) {
        let root = RootKey::from_hex(&"a".repeat(64)).expect("64 hexadecimal characters");
        let keyring = Arc::new(Keyring::create(&root).expect("randomness").0);
        let mut personal = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), Bytes::default());
        let mut bytes = Bytes::default();
        for (key, row) in samples::rows() {
            let value = encode_row(&row, &key, &mut personal).expect("samples encode");
            bytes.rows.insert(row_key(MERCHANT, &key, &personal), value);
        }
        let keys = personal.take_pending().into_iter().map(|(key, value)| ((Family::Vault, key), value));
        bytes.rows.extend(keys);
        (bytes, keyring)
    }

    #[test]
    fn rows_are_found_by_typed_keys_of_their_merchant_only() {
        let (bytes, keyring) = filled();
        let rows = MerchantReader::new(MERCHANT, Some(Arc::clone(&keyring)), &bytes);
        let payment = samples::payment();
        assert_eq!(rows.get::<Payments>(payment.id), Ok(Some(payment.clone())));
        let others = MerchantReader::new(OTHER_MERCHANT, Some(keyring), &bytes);
        assert_eq!(others.get::<Payments>(payment.id), Ok(None));
        let external_id = payment.external_id.expect("the sample has one");
        assert_eq!(rows.get::<PaymentsByExternalId>(external_id), Ok(Some(payment.id)));
        let email = samples::customer().email.expect("the sample has one");
        let customer_id = rows.get::<CustomersByEmail>(email).expect("readable").expect("is there");
        assert_eq!(rows.get::<Customers>(customer_id), Ok(Some(samples::customer())));
    }

    #[test]
    fn without_the_key_ring_sealed_fields_stay_sealed() {
        let (bytes, _) = filled();
        let rows = MerchantReader::new(MERCHANT, None, &bytes);
        let customer = rows.get::<Customers>(samples::customer().id).expect("readable").expect("is there");
        assert_eq!(customer.email.map(|email| email.as_str().to_owned()).as_deref(), Some(super::super::SEALED));
        assert_eq!(customer.external_id, samples::customer().external_id);
    }

    #[test]
    fn a_row_that_cannot_be_read_is_an_error_and_never_absent() {
        let (mut bytes, keyring) = filled();
        bytes.rows.values_mut().for_each(|value| value.truncate(3));
        let found = MerchantReader::new(MERCHANT, Some(keyring), &bytes).get::<Payments>(samples::payment().id);
        assert!(found.is_err(), "{found:?}");
        bytes.broken = true;
        let found = MerchantReader::new(MERCHANT, None, &bytes).get::<Payments>(samples::payment().id);
        assert!(found.expect_err("the disk failed").reason.contains("the disk failed"));
    }
}
