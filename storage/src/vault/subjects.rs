//! Keys of single persons, and the data sealed under them.
//!
//! Names, e-mails and mobiles in records and rows are always sealed under the key of the person to whom they belong:
//! the customer's, or the session's, payment's or card token's when there is no customer. The key is a row of the
//! vault, wrapped under the purpose key `subject_wrap`; deleting that row erases the person everywhere at once, and
//! breaks no log.
//!
//! Shape of a wrapped subject key: a row of the shape in `sealed.rs`, 73 bytes, whose plaintext is the key
//! (32 bytes) and whose associated data is the row's own [`VaultKey`], which names merchant and subject.
//!
//! Shape of data sealed under it (offsets in bytes, `n` the length of the plaintext):
//! ```text
//!     0 format (1) = 1 | 1 nonce (24) | 25 ciphertext (n) | 25 + n tag (16)
//! ```
//! The nonce is the first 24 bytes of keyed BLAKE3 over `length of the associated data (8, big-endian) |
//! associated data | plaintext`. The keys of digest and cipher are derived from the subject key by BLAKE3
//! with the contexts below. So equal input gives equal bytes, which replay needs, and a nonce repeats only
//! when all other input does; the bytes reveal only that the same text is in the same field twice.

use std::fmt;

use till_domain::ids::MerchantId;
use zeroize::Zeroizing;

use super::keyring::{Keyring, Purpose};
use super::row_owners::SubjectId;
use super::sealed::{NONCE_LEN, NoRandomness, RowParts, SealedError, SecretKey};
use super::vault_key::VaultKey;

/// Names the key of the cipher. Part of the format.
const CIPHER_CONTEXT: &str = "till vault 1: cipher of what is sealed under a subject key";
/// Names the key of the synthetic nonce. Part of the format.
const NONCE_CONTEXT: &str = "till vault 1: nonce of what is sealed under a subject key";

/// The key under which one person's data is sealed. Zeroized when dropped, and never shown.
#[derive(Clone)]
pub struct SubjectKey {
    cipher: SecretKey,
    nonce: SecretKey,
}

impl SubjectKey {
    fn from_secret(secret: &SecretKey) -> SubjectKey {
        SubjectKey { cipher: secret.derive(CIPHER_CONTEXT), nonce: secret.derive(NONCE_CONTEXT) }
    }

    /// Seals a text of this person: equal key, associated data and plaintext give equal bytes, 41 more than
    /// the plaintext has. `associated` names the field (merchant, object, label), so that the bytes open
    /// only there.
    #[must_use]
    pub fn seal(&self, associated: &[u8], plaintext: &[u8]) -> Vec<u8> {
        self.cipher.seal_row_with(&self.synthetic_nonce(associated, plaintext), associated, plaintext)
    }

    /// Opens bytes that [`SubjectKey::seal`] made with the same associated data.
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another person or field;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open(&self, associated: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealedError> {
        let plaintext = self.cipher.open_row(associated, sealed)?;
        // Sealing again must give these bytes, or replay would not: another nonce counts as damage too.
        let derived = self.synthetic_nonce(associated, &plaintext);
        let is_own = RowParts::split(sealed).is_some_and(|parts| *parts.nonce == derived);
        is_own.then_some(plaintext).ok_or(SealedError::Refused)
    }

    fn synthetic_nonce(&self, associated: &[u8], plaintext: &[u8]) -> [u8; NONCE_LEN] {
        let associated_len = u64::try_from(associated.len()).expect("a length in memory fits 64 bits");
        let digest = self.nonce.digest(&[&associated_len.to_be_bytes(), associated, plaintext]);
        *digest.first_chunk().expect("a BLAKE3 digest has 32 bytes")
    }
}

impl fmt::Debug for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectKey(..)")
    }
}

impl Keyring {
    /// Makes a fresh key for a subject that has none, and the value of its row [`VaultKey::SubjectKey`]. The
    /// row must be stored in the same write as the first text that is sealed under the key.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn create_subject_key(
        &self,
        merchant: MerchantId,
        subject: SubjectId,
    ) -> Result<(SubjectKey, Vec<u8>), NoRandomness> {
        let secret = SecretKey::generate()?;
        let associated = VaultKey::SubjectKey { merchant, subject }.encode();
        let row = self.key(Purpose::SubjectWrap).seal_row(&associated, secret.expose())?;
        Ok((SubjectKey::from_secret(&secret), row))
    }

    /// Opens the value of the row [`VaultKey::SubjectKey`].
    ///
    /// # Errors
    /// [`SealedError::Refused`] when the bytes are damaged, or those of another merchant or subject;
    /// [`SealedError::UnknownFormat`] means "upgrade the program".
    pub fn open_subject_key(
        &self,
        merchant: MerchantId,
        subject: SubjectId,
        row: &[u8],
    ) -> Result<SubjectKey, SealedError> {
        let associated = VaultKey::SubjectKey { merchant, subject }.encode();
        let secret = self.key(Purpose::SubjectWrap).open_row(&associated, row)?;
        let secret = <&[u8; SecretKey::LEN]>::try_from(secret.as_slice()).map_err(|_| SealedError::Content)?;
        Ok(SubjectKey::from_secret(&SecretKey::new(secret)))
    }
}

#[cfg(test)]
mod tests {
    use till_domain::ids::{CustomerId, PaymentId, SessionId};

    use super::super::keyring::fixed_keyring;
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const OTHER: MerchantId = MerchantId::from_bytes([2; 16]);
    const CUSTOMER: SubjectId = SubjectId::customer(CustomerId::from_bytes([3; 16]));

    fn fixed_key() -> SubjectKey {
        SubjectKey::from_secret(&SecretKey::new(&[7; 32]))
    }

    #[test]
    fn a_wrapped_key_opens_for_its_merchant_and_subject() {
        let (made, row) = fixed_keyring().create_subject_key(ONE, CUSTOMER).expect("randomness");
        assert_eq!(row.len(), 73);
        let opened = fixed_keyring().open_subject_key(ONE, CUSTOMER, &row).expect("opens");
        assert_eq!(opened.seal(b"name", b"Somchai"), made.seal(b"name", b"Somchai"));
    }

    #[test]
    fn every_subject_gets_a_key_of_its_own() {
        let (one, _) = fixed_keyring().create_subject_key(ONE, CUSTOMER).expect("randomness");
        let (again, _) = fixed_keyring().create_subject_key(ONE, CUSTOMER).expect("randomness");
        assert_ne!(one.seal(b"name", b"Somchai"), again.seal(b"name", b"Somchai"));
        assert_eq!(again.open(b"name", &one.seal(b"name", b"Somchai")), Err(SealedError::Refused));
    }

    #[test]
    fn a_wrapped_key_moved_to_another_owner_or_kind_does_not_open() {
        let (_, row) = fixed_keyring().create_subject_key(ONE, CUSTOMER).expect("randomness");
        let other_customer = SubjectId::customer(CustomerId::from_bytes([4; 16]));
        let session_of_same_bits = SubjectId::session(SessionId::from_bytes([3; 16]));
        let payment_of_same_bits = SubjectId::payment(PaymentId::from_bytes([3; 16]));
        for (merchant, subject) in
            [(OTHER, CUSTOMER), (ONE, other_customer), (ONE, session_of_same_bits), (ONE, payment_of_same_bits)]
        {
            let found = fixed_keyring().open_subject_key(merchant, subject, &row);
            assert_eq!(found.err(), Some(SealedError::Refused), "{subject:?}");
        }
    }

    #[test]
    fn a_wrapped_key_with_any_byte_flipped_does_not_open() {
        let (_, row) = fixed_keyring().create_subject_key(ONE, CUSTOMER).expect("randomness");
        for index in 0..row.len() {
            let mut flipped = row.clone();
            flipped[index] ^= 4;
            assert!(fixed_keyring().open_subject_key(ONE, CUSTOMER, &flipped).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_wrapped_key_that_an_older_release_wrote_opens() {
        let associated = VaultKey::SubjectKey { merchant: ONE, subject: CUSTOMER }.encode();
        let row = fixed_keyring().key(Purpose::SubjectWrap).seal_row_with(&[9; 24], &associated, &[7; 32]);
        assert_eq!(row, GOLDEN_WRAPPED);
        let opened = fixed_keyring().open_subject_key(ONE, CUSTOMER, &GOLDEN_WRAPPED).expect("opens");
        assert_eq!(opened.seal(b"name", b"Somchai"), GOLDEN_SEALED);
    }

    #[rustfmt::skip]
    const GOLDEN_WRAPPED: [u8; 73] = [
        0x01, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09,
        0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x09, 0x74, 0x67, 0x9e, 0x76, 0x22, 0x62, 0x8b,
        0x52, 0x70, 0xb8, 0xc7, 0x7d, 0x86, 0xa6, 0x9c, 0x5a, 0xb5, 0x6a, 0x2c, 0xd3, 0x26, 0xc5, 0x20,
        0xd2, 0x25, 0x5f, 0xb1, 0x0c, 0x88, 0x70, 0x97, 0x19, 0xb0, 0x33, 0xf4, 0x2a, 0x60, 0x57, 0xfe,
        0x9a, 0x92, 0x21, 0x13, 0xd6, 0xfe, 0xba, 0x08, 0x6a,
    ];

    #[test]
    fn a_wrapped_key_of_another_length_is_a_fault_of_its_writer() {
        let associated = VaultKey::SubjectKey { merchant: ONE, subject: CUSTOMER }.encode();
        let row = fixed_keyring().key(Purpose::SubjectWrap).seal_row_with(&[9; 24], &associated, &[7; 31]);
        let found = fixed_keyring().open_subject_key(ONE, CUSTOMER, &row);
        assert_eq!(found.err(), Some(SealedError::Content));
    }

    #[test]
    fn sealing_is_deterministic_with_the_bytes_of_format_1() {
        assert_eq!(fixed_key().seal(b"name", b"Somchai"), GOLDEN_SEALED);
        assert_eq!(fixed_key().open(b"name", &GOLDEN_SEALED).expect("opens").as_slice(), b"Somchai");
    }

    #[rustfmt::skip]
    const GOLDEN_SEALED: [u8; 48] = [
        0x01, 0xb7, 0x87, 0xd3, 0xbf, 0x2c, 0x17, 0x55, 0x29, 0x9c, 0x8c, 0x04, 0xcd, 0xfa, 0xac, 0xd3,
        0xc3, 0x26, 0x13, 0xd2, 0x9f, 0x17, 0x3e, 0x3d, 0x9b, 0x8c, 0x7c, 0xe3, 0xa7, 0x07, 0x87, 0x20,
        0x95, 0x15, 0x60, 0xfc, 0x60, 0x5f, 0xfe, 0x3f, 0x60, 0xf3, 0xda, 0x6c, 0x31, 0xf9, 0xae, 0xb8,
    ];

    #[test]
    fn another_place_or_text_gives_another_nonce() {
        let nonce = |associated, plaintext| fixed_key().seal(associated, plaintext)[1..25].to_vec();
        let base = nonce(b"name", b"Somchai");
        assert_ne!(base, nonce(b"name", b"Somchaj"));
        assert_ne!(base, nonce(b"nama", b"Somchai"));
        assert_ne!(base, nonce(b"nameS", b"omchai"), "what is place and what is text must not be confused");
        assert_ne!(nonce(b"", b"nameSomchai"), nonce(b"nameSomchai", b""));
    }

    #[test]
    fn a_field_sealed_elsewhere_or_for_another_does_not_open() {
        let sealed = fixed_key().seal(b"name", b"Somchai");
        assert_eq!(fixed_key().open(b"email", &sealed), Err(SealedError::Refused));
        let somebody_else = SubjectKey::from_secret(&SecretKey::new(&[8; 32]));
        assert_eq!(somebody_else.open(b"name", &sealed), Err(SealedError::Refused));
    }

    #[test]
    fn a_sealed_row_with_a_flipped_byte_does_not_open() {
        let sealed = fixed_key().seal(b"name", b"Somchai");
        for index in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[index] ^= 0x20;
            assert!(fixed_key().open(b"name", &flipped).is_err(), "byte {index}");
        }
    }

    #[test]
    fn a_row_under_a_nonce_that_sealing_would_not_choose_is_refused() {
        let foreign = fixed_key().cipher.seal_row_with(&[9; 24], b"name", b"Somchai");
        assert_eq!(fixed_key().open(b"name", &foreign), Err(SealedError::Refused));
    }

    #[test]
    fn an_empty_and_a_long_text_come_back() {
        for text in [Vec::new(), vec![b'x'; 70_000]] {
            let sealed = fixed_key().seal(b"", &text);
            assert_eq!(fixed_key().open(b"", &sealed).expect("opens").as_slice(), text);
        }
    }

    #[test]
    fn debug_output_shows_no_key() {
        assert_eq!(format!("{:?}", fixed_key()), "SubjectKey(..)");
    }
}
