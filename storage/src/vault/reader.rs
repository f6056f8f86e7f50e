//! Opening what stands in the vault, over whatever holds its rows.

use till_domain::ids::{KeyId, MerchantId};
use zeroize::Zeroizing;

use super::card_numbers::{CardNumber, CardNumberOf};
use super::keyring::Keyring;
use super::sealed::SealedError;
use super::subjects::{SubjectId, SubjectKey};
use super::vault_key::VaultKey;

/// Where the rows of the vault are read: the `vault` column family, with what is staged for it in front.
pub trait VaultRows {
    /// Why a row could not be read.
    type Error;

    /// The value under a key, or nothing when there is none.
    ///
    /// # Errors
    /// Whatever keeps the store from answering; a missing row is no error.
    fn vault_row(&self, key: VaultKey) -> Result<Option<Vec<u8>>, Self::Error>;
}

/// Why something in the vault cannot be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VaultReadError<E> {
    /// The store did not answer.
    #[error("the vault cannot be read")]
    Rows(#[source] E),
    /// The store answered with a row that does not open.
    #[error("a row of the vault is not what was sealed")]
    Sealed(#[source] SealedError),
}

impl Keyring {
    /// The number of a token or saved card; nothing when it was swept, used up or forgotten.
    ///
    /// # Errors
    /// [`VaultReadError`] when the store does not answer or the row does not open.
    pub fn card_number<R: VaultRows>(
        &self,
        rows: &R,
        merchant: MerchantId,
        of: CardNumberOf,
    ) -> Result<Option<CardNumber>, VaultReadError<R::Error>> {
        read(rows, VaultKey::CardNumber { merchant, of }, |row| self.open_card_number(merchant, of, row))
    }

    /// The key of a subject; nothing when it was erased, and everything sealed under it with it.
    ///
    /// # Errors
    /// [`VaultReadError`] when the store does not answer or the row does not open.
    pub fn subject_key<R: VaultRows>(
        &self,
        rows: &R,
        merchant: MerchantId,
        subject: SubjectId,
    ) -> Result<Option<SubjectKey>, VaultReadError<R::Error>> {
        read(rows, VaultKey::SubjectKey { merchant, subject }, |row| self.open_subject_key(merchant, subject, row))
    }

    /// The text of an API key that may still be shown again; nothing when it no longer may.
    ///
    /// # Errors
    /// [`VaultReadError`] when the store does not answer or the row does not open.
    pub fn api_key_secret<R: VaultRows>(
        &self,
        rows: &R,
        merchant: MerchantId,
        key: KeyId,
    ) -> Result<Option<Zeroizing<String>>, VaultReadError<R::Error>> {
        read(rows, VaultKey::ApiKeySecret { merchant, key }, |row| self.open_api_key_secret(merchant, key, row))
    }
}

fn read<R: VaultRows, T>(
    rows: &R,
    key: VaultKey,
    open: impl FnOnce(&[u8]) -> Result<T, SealedError>,
) -> Result<Option<T>, VaultReadError<R::Error>> {
    let row = rows.vault_row(key).map_err(VaultReadError::Rows)?;
    row.map(|row| open(&row)).transpose().map_err(VaultReadError::Sealed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use till_domain::ids::{CustomerId, TokenId};

    use super::super::keyring::fixed_keyring;
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const TOKEN: CardNumberOf = CardNumberOf::Token(TokenId::from_bytes([3; 16]));
    const CUSTOMER: SubjectId = SubjectId::customer(CustomerId::from_bytes([3; 16]));
    const KEY: KeyId = KeyId::from_bytes([3; 16]);

    #[derive(Default)]
    struct Rows {
        rows: BTreeMap<[u8; VaultKey::LEN], Vec<u8>>,
        broken: bool,
    }

    impl VaultRows for Rows {
        type Error = &'static str;

        fn vault_row(&self, key: VaultKey) -> Result<Option<Vec<u8>>, &'static str> {
            if self.broken { Err("broken") } else { Ok(self.rows.get(&key.encode()).cloned()) }
        }
    }

    fn filled() -> Rows {
        let keyring = fixed_keyring();
        let number = CardNumber::parse("4242424242424242").expect("a card number");
        let mut rows = Rows::default();
        let mut put = |key: VaultKey, value| rows.rows.insert(key.encode(), value);
        let number = keyring.seal_card_number(ONE, TOKEN, &number).expect("randomness");
        put(VaultKey::CardNumber { merchant: ONE, of: TOKEN }, number);
        let (_, key) = keyring.create_subject_key(ONE, CUSTOMER).expect("randomness");
        put(VaultKey::SubjectKey { merchant: ONE, subject: CUSTOMER }, key);
        let secret = keyring.seal_api_key_secret(ONE, KEY, "sk_x").expect("randomness");
        put(VaultKey::ApiKeySecret { merchant: ONE, key: KEY }, secret);
        rows
    }

    #[test]
    fn each_kind_is_found_under_its_key_and_opens() {
        let (keyring, rows) = (fixed_keyring(), filled());
        let number = keyring.card_number(&rows, ONE, TOKEN).expect("opens").expect("is there");
        assert_eq!(number.expose_digits(), "4242424242424242");
        assert!(keyring.subject_key(&rows, ONE, CUSTOMER).expect("opens").is_some());
        let secret = keyring.api_key_secret(&rows, ONE, KEY).expect("opens").expect("is there");
        assert_eq!(secret.as_str(), "sk_x");
    }

    #[test]
    fn a_deleted_row_is_nothing_and_no_error() {
        let (keyring, rows) = (fixed_keyring(), Rows::default());
        assert_eq!(keyring.card_number(&rows, ONE, TOKEN), Ok(None));
        assert!(keyring.subject_key(&rows, ONE, CUSTOMER).expect("no error").is_none());
        assert_eq!(keyring.api_key_secret(&rows, ONE, KEY), Ok(None));
    }

    #[test]
    fn a_store_that_does_not_answer_and_a_damaged_row_are_told_apart() {
        let keyring = fixed_keyring();
        let broken = Rows { broken: true, ..Rows::default() };
        assert_eq!(keyring.card_number(&broken, ONE, TOKEN), Err(VaultReadError::Rows("broken")));
        let mut damaged = filled();
        damaged.rows.values_mut().for_each(|row| row[30] ^= 1);
        let found = keyring.card_number(&damaged, ONE, TOKEN);
        assert_eq!(found, Err(VaultReadError::Sealed(SealedError::Refused)));
    }
}
