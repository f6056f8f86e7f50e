//! The cipher: XChaCha20-Poly1305 with associated data. Only this module calls it.
//!
//! Shape of a sealed row (offsets in bytes, `n` the length of the plaintext):
//! ```text
//!     0 format (1) = 1 | 1 nonce (24) | 25 ciphertext (n) | 25 + n tag (16)
//! ```
//! The associated data is not stored: the code that opens the row knows it, and a row that was moved does not
//! open. Nonces have 24 bytes, so random ones may be drawn without counting them.
//!
//! Source: draft-irtf-cfrg-xchacha-03, whose vector (appendix A.3.1) is a test below.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of a nonce.
pub(super) const NONCE_LEN: usize = 24;
/// Bytes of an authentication tag.
pub(super) const TAG_LEN: usize = 16;
/// The shape documented above.
const FORMAT: u8 = 1;
/// Bytes before the ciphertext.
const HEAD_LEN: usize = 1 + NONCE_LEN;
/// Bytes that sealing adds to a plaintext.
pub(super) const SEALED_OVERHEAD: usize = HEAD_LEN + TAG_LEN;

const _: () = assert!(SEALED_OVERHEAD == 41, "on disk since format 1");

/// The operating system provided no random bytes. Nothing may be sealed or made without them: refuse the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provides no random bytes")]
pub struct NoRandomness;

/// The reason for which a sealed row does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealedError {
    /// The row has fewer bytes than a sealed row can have: it is damaged.
    #[error("the sealed row has {found_len} bytes, which is too few")]
    TooShort {
        /// Bytes of the row.
        found_len: usize,
    },
    /// A later version of the program wrote the row: upgrade the program.
    #[error("the sealed row has format {found}, and this program knows up to {FORMAT}")]
    UnknownFormat {
        /// The format byte.
        found: u8,
    },
    /// The bytes are not those that were sealed, or were sealed under another key or for another record.
    #[error("the sealed row does not open: it is damaged, or was sealed for another record or under another key")]
    Refused,
    /// The row opened, but its content is not of the expected kind: a fault of the writer.
    #[error("the content of the sealed row is not of the expected kind")]
    Content,
}

/// Fills an array from the operating system's source.
pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// A key of 32 bytes. It lives on the heap, so that moving it leaves no copy behind, and is zeroized there.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct SecretKey(Box<[u8; SecretKey::LEN]>);

impl SecretKey {
    /// Bytes of a key.
    pub(super) const LEN: usize = 32;

    /// A key with these bytes; the caller zeroizes its own copy.
    pub(super) fn new(bytes: &[u8; SecretKey::LEN]) -> SecretKey {
        SecretKey(Box::new(*bytes))
    }

    /// A fresh random key.
    pub(super) fn generate() -> Result<SecretKey, NoRandomness> {
        Ok(SecretKey::new(&Zeroizing::new(random_bytes()?)))
    }

    /// The key's bytes.
    pub(super) fn expose(&self) -> &[u8; SecretKey::LEN] {
        &self.0
    }

    /// A key for another use, from which this one cannot be found. `context` names the use and is part of
    /// the format.
    pub(super) fn derive(&self, context: &str) -> SecretKey {
        SecretKey::new(&Zeroizing::new(blake3::derive_key(context, self.expose())))
    }

    /// BLAKE3 of the parts, one after the other, under this key.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        if let [whole] = parts {
            return *blake3::keyed_hash(self.expose(), whole).as_bytes(); // The same digest, without a hasher of 2 kB.
        }
        let mut hasher = blake3::Hasher::new_keyed(self.expose());
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// Seals `plaintext` as a row of the shape above, under a random nonce.
    pub(super) fn seal_row(&self, associated: &[u8], plaintext: &[u8]) -> Result<Vec<u8>, NoRandomness> {
        Ok(self.seal_row_with(&random_bytes()?, associated, plaintext))
    }

    /// Seals under a given nonce. Two plaintexts under one nonce reveal each other, so the nonce must be random, or
    /// a digest of everything that is sealed.
    pub(super) fn seal_row_with(&self, nonce: &[u8; NONCE_LEN], associated: &[u8], plaintext: &[u8]) -> Vec<u8> {
        let mut row = Vec::with_capacity(plaintext.len() + SEALED_OVERHEAD);
        row.push(FORMAT);
        row.extend_from_slice(nonce);
        row.extend_from_slice(plaintext);
        let tag = self.encrypt(nonce, associated, &mut row[HEAD_LEN..]);
        row.extend_from_slice(&tag);
        row
    }

    /// Opens a row that [`SecretKey::seal_row`] made with the same associated data.
    pub(super) fn open_row(&self, associated: &[u8], row: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealedError> {
        let format = *row.first().ok_or(SealedError::TooShort { found_len: 0 })?;
        if format != FORMAT {
            return Err(SealedError::UnknownFormat { found: format });
        }
        let parts = RowParts::split(row).ok_or(SealedError::TooShort { found_len: row.len() })?;
        let mut plaintext = Zeroizing::new(parts.ciphertext.to_vec());
        let opens = self.decrypt(parts.nonce, associated, &mut plaintext, parts.tag);
        opens.then_some(plaintext).ok_or(SealedError::Refused)
    }

    /// Encrypts in place and returns the tag.
    pub(super) fn encrypt(&self, nonce: &[u8; NONCE_LEN], associated: &[u8], buffer: &mut [u8]) -> [u8; TAG_LEN] {
        let cipher = XChaCha20Poly1305::new(self.expose().into());
        let tag = cipher.encrypt_inout_detached(nonce.into(), associated, buffer.into());
        tag.expect("a row is far below the cipher's limit of 256 GiB").into()
    }

    /// Decrypts in place and returns true when the tag is right; otherwise the content of the buffer is useless.
    pub(super) fn decrypt(
        &self,
        nonce: &[u8; NONCE_LEN],
        associated: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> bool {
        let cipher = XChaCha20Poly1305::new(self.expose().into());
        cipher.decrypt_inout_detached(nonce.into(), associated, buffer.into(), tag.into()).is_ok()
    }
}

/// A sealed row without its format byte.
pub(super) struct RowParts<'a> {
    pub(super) nonce: &'a [u8; NONCE_LEN],
    ciphertext: &'a [u8],
    tag: &'a [u8; TAG_LEN],
}

impl RowParts<'_> {
    /// The parts of a row, or none when it is too short.
    pub(super) fn split(row: &[u8]) -> Option<RowParts<'_>> {
        let (nonce, rest) = row.get(1..)?.split_first_chunk()?;
        let (ciphertext, tag) = rest.split_last_chunk()?;
        Some(RowParts { nonce, ciphertext, tag })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().filter_map(|character| character.to_digit(16)).collect();
        digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("two hexadecimal digits")).collect()
    }

    fn key() -> SecretKey {
        SecretKey::new(&std::array::from_fn(|index| 0x80 + u8::try_from(index).expect("below 32")))
    }

    /// Appendix A.3.1 of draft-irtf-cfrg-xchacha-03.
    #[test]
    fn the_cipher_answers_the_vector_of_its_specification() {
        let plaintext = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
            future, sunscreen would be it.";
        let nonce: [u8; NONCE_LEN] = std::array::from_fn(|index| 0x40 + u8::try_from(index).expect("below 24"));
        let row = key().seal_row_with(&nonce, &bytes("50515253c0c1c2c3c4c5c6c7"), plaintext);
        let expected = bytes(
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
             731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
             2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
             21f9664c97637da9768812f615c68b13b52e
             c0875924c1c7987947deafd8780acf49",
        );
        assert_eq!(row[0], 1);
        assert_eq!(row[1..25], nonce);
        assert_eq!(row[25..], expected);
    }

    #[test]
    fn a_row_opens_to_its_plaintext_and_random_nonces_differ() {
        let row = key().seal_row(b"record", b"plain").expect("randomness");
        assert_eq!(row.len(), 5 + SEALED_OVERHEAD);
        assert_eq!(key().open_row(b"record", &row).expect("opens").as_slice(), b"plain");
        assert_ne!(row, key().seal_row(b"record", b"plain").expect("randomness"));
        let empty = key().seal_row(b"", b"").expect("randomness");
        assert_eq!(key().open_row(b"", &empty).expect("opens").as_slice(), b"");
    }

    #[test]
    fn a_row_with_any_bit_flipped_does_not_open() {
        let row = key().seal_row(b"record", b"plain").expect("randomness");
        for bit in 0..row.len() * 8 {
            let mut flipped = row.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let found = key().open_row(b"record", &flipped).expect_err("a flipped bit must not open");
            let expected =
                if bit < 8 { SealedError::UnknownFormat { found: flipped[0] } } else { SealedError::Refused };
            assert_eq!(found, expected, "bit {bit}");
        }
    }

    #[test]
    fn a_row_cut_short_or_made_longer_does_not_open() {
        let row = key().seal_row(b"record", b"plain").expect("randomness");
        for len in 0..SEALED_OVERHEAD {
            let found = key().open_row(b"record", &row[..len]);
            assert_eq!(found, Err(SealedError::TooShort { found_len: len }), "{len} bytes");
        }
        assert_eq!(key().open_row(b"record", &row[..row.len() - 1]), Err(SealedError::Refused));
        assert_eq!(key().open_row(b"record", &[row.as_slice(), &[0]].concat()), Err(SealedError::Refused));
    }

    #[test]
    fn another_key_or_other_associated_data_does_not_open_a_row() {
        let row = key().seal_row(b"record", b"plain").expect("randomness");
        assert_eq!(key().open_row(b"recorD", &row), Err(SealedError::Refused));
        assert_eq!(key().open_row(b"", &row), Err(SealedError::Refused));
        assert_eq!(SecretKey::new(&[1; 32]).open_row(b"record", &row), Err(SealedError::Refused));
    }
}
