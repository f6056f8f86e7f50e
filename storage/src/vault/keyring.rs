//! The key ring: one random key for each purpose, wrapped under the root key.
//!
//! Shape (integers big-endian, offsets in bytes):
//! ```text
//!       0 magic (8) = "TILLKEYS" | 8 format (1) = 1 | 9 number of keys (1) = 8 | 10 root key check (16)
//!      26 eight wrapped keys (73 each), in the order of the table:
//!             0 purpose (1) | 1 nonce (24) | 25 ciphertext (32) | 57 tag (16)
//!     610 CRC-32C of everything before (4)
//!     614 end
//! ```
//! A key is wrapped by XChaCha20-Poly1305 under the root key with the purpose's name as associated data. The
//! root key check is the first 16 bytes of a BLAKE3 key derived from the root key: it differs when the root
//! key does, so a wrong key can be told from damage.
//!
//! | purpose | name | use |
//! |---|---|---|
//! | 1 | `api_key_digest` | finds an API key without storing it |
//! | 2 | `idempotency_fingerprint` | detects that a repeated call is the same call |
//! | 3 | `card_fingerprint` | detects that two tokens of one merchant are the same card |
//! | 4 | `card_number` | seals card numbers |
//! | 5 | `subject_wrap` | wraps the keys of single persons |
//! | 6 | `lookup` | finds a customer by e-mail or mobile without storing either in an index |
//! | 7 | `api_key_secret` | seals API keys kept for a replay |
//! | 8 | `address_secret` | makes the secrets of addresses |
//!
//! Changing the root key ([`Keyring::rewrap`]) leaves the purpose keys as they are, so that nothing else on
//! disk changes. A further purpose needs format 2.

use std::fmt;

use till_domain::address_secret::AddressSecret;
use till_domain::ids::{MerchantId, RawId};
use zeroize::Zeroizing;

use super::card_number::CardNumber;
use super::root_key::{RootKey, name_of};
use super::sealed::{NONCE_LEN, NoRandomness, SecretKey, TAG_LEN, random_bytes};

const MAGIC: [u8; 8] = *b"TILLKEYS";
const FORMAT: u8 = 1;
const HEAD_LEN: usize = 8 + 1 + 1 + 16;
const WRAPPED_LEN: usize = 1 + NONCE_LEN + SecretKey::LEN + TAG_LEN;
const CRC_LEN: usize = 4;
const LEN: usize = HEAD_LEN + WRAPPED_LEN * Purpose::ALL.len() + CRC_LEN;

const _: () = assert!(HEAD_LEN == 26 && WRAPPED_LEN == 73 && LEN == 614, "on disk since format 1");

/// The reason for which a key ring does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// The root key is not the one that this store was made with or last rewrapped for.
    #[error("the vault key does not open this store's key ring")]
    WrongRootKey,
    /// A later version of the program wrote the key ring: upgrade the program.
    #[error("the key ring has format {found}, and this program knows up to {FORMAT}")]
    UnknownFormat {
        /// The format byte.
        found: u8,
    },
    /// The bytes are damaged: restore the row from a checkpoint or the archive, since
    /// nothing that is sealed opens without it.
    #[error("the key ring is damaged: {what}")]
    Damaged {
        /// The part that is wrong.
        what: &'static str,
    },
}

till_domain::word_enum! {
    /// The purpose of a key of the ring. The numbers are on disk, and the name is the associated data of the wrapped
    /// key: a key stored for another purpose does not open.
    #[repr(u8)]
    pub(super) enum Purpose: name {
        ApiKeyDigest = 1 => "api_key_digest",
        IdempotencyFingerprint = 2 => "idempotency_fingerprint",
        CardFingerprint = 3 => "card_fingerprint",
        CardNumber = 4 => "card_number",
        SubjectWrap = 5 => "subject_wrap",
        Lookup = 6 => "lookup",
        ApiKeySecret = 7 => "api_key_secret",
        AddressSecret = 8 => "address_secret",
    }
}

/// The kind of a look-up digest, so that the digests of an e-mail and a mobile never collide. The numbers are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum LookupKind {
    /// An e-mail address, normalized.
    Email = 1,
    /// A mobile number, normalized.
    Mobile = 2,
}

/// A kind of address with a secret. The numbers are part of what the secrets are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AddressKind {
    /// The page at which a checkout is paid.
    Checkout = 1,
    /// The page of this server to which the customer of a payment session comes back.
    Return = 2,
    /// The page at which somebody joins a team.
    Invitation = 3,
    /// The page at which a member sets its credentials anew.
    Reset = 4,
}

/// The keys of each purpose, open. Zeroized when dropped, and never shown.
pub struct Keyring {
    /// In the order of [`Purpose::ALL`].
    keys: [SecretKey; Purpose::ALL.len()],
}

impl Keyring {
    /// Makes a key ring of fresh keys, for a store that has none, and the bytes of its row. The caller must
    /// store those bytes before any secret is kept under the key ring.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn create(root: &RootKey) -> Result<(Keyring, Vec<u8>), NoRandomness> {
        let mut keys = Vec::with_capacity(Purpose::ALL.len());
        for _ in Purpose::ALL {
            keys.push(SecretKey::generate()?);
        }
        let keyring = Keyring::from_keys(keys);
        let bytes = keyring.rewrap(root)?;
        Ok((keyring, bytes))
    }

    /// Opens the key ring of a store.
    ///
    /// # Errors
    /// [`KeyringError::WrongRootKey`] when the bytes are whole and the root key is another one;
    /// [`KeyringError::UnknownFormat`] means "upgrade the program"; [`KeyringError::Damaged`] that the bytes
    /// are damaged.
    pub fn open(root: &RootKey, bytes: &[u8]) -> Result<Keyring, KeyringError> {
        let wrapped = check_shape(root, bytes)?;
        let mut keys = Vec::with_capacity(Purpose::ALL.len());
        for (purpose, wrapped) in Purpose::ALL.into_iter().zip(wrapped.chunks_exact(WRAPPED_LEN)) {
            keys.push(unwrap_key(root, purpose, wrapped)?);
        }
        Ok(Keyring::from_keys(keys))
    }

    /// The [`RootKey::name`] of the root key that opens these bytes; none when they are not a key ring.
    #[must_use]
    pub fn root_key_name(bytes: &[u8]) -> Option<String> {
        let check = bytes.get(HEAD_LEN - 16..HEAD_LEN)?;
        bytes.starts_with(&MAGIC).then(|| name_of(check))
    }

    /// The bytes of the same key ring under another root key. Everything sealed so far stays valid.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system provides none.
    pub fn rewrap(&self, root: &RootKey) -> Result<Vec<u8>, NoRandomness> {
        let mut nonces = [[0; NONCE_LEN]; Purpose::ALL.len()];
        for nonce in &mut nonces {
            *nonce = random_bytes()?;
        }
        Ok(self.wrap(root, &nonces))
    }

    /// The stored form of an API key: a keyed digest of its whole text.
    #[must_use]
    pub fn api_key_digest(&self, api_key: &str) -> [u8; 32] {
        self.key(Purpose::ApiKeyDigest).digest(&[api_key.as_bytes()])
    }

    /// A keyed digest of a parsed command in canonical bytes, so that the command cannot be guessed
    /// from the store.
    #[must_use]
    pub fn idempotency_fingerprint(&self, canonical: &[u8]) -> [u8; 32] {
        self.key(Purpose::IdempotencyFingerprint).digest(&[canonical])
    }

    /// A keyed digest that is equal for equal card numbers of one merchant, and different for different
    /// merchants.
    #[must_use]
    pub fn card_fingerprint(&self, merchant: MerchantId, number: &CardNumber) -> [u8; 32] {
        let digits = number.expose_digits().as_bytes();
        self.key(Purpose::CardFingerprint).digest(&[&merchant.to_bytes(), digits])
    }

    /// The index key under which a merchant's customer is found by e-mail or mobile. `normalized` is the
    /// text in the form in which equal ones are byte-equal.
    #[must_use]
    pub fn lookup_digest(&self, merchant: MerchantId, kind: LookupKind, normalized: &str) -> [u8; 32] {
        let kind = [kind as u8];
        self.key(Purpose::Lookup).digest(&[&merchant.to_bytes(), &kind, normalized.as_bytes()])
    }

    /// The secret in the address of a merchant's object. It is the same whenever it is asked for, so it is stored
    /// nowhere; addresses of different kinds, merchants and objects have different ones.
    #[must_use]
    pub fn address_secret(&self, merchant: MerchantId, kind: AddressKind, object: RawId) -> AddressSecret {
        let parts: [&[u8]; 3] = [&[kind as u8], &merchant.to_bytes(), &object.to_bytes()];
        let digest = self.key(Purpose::AddressSecret).digest(&parts);
        AddressSecret::from_bytes(*digest.first_chunk().expect("a digest has 32 bytes"))
    }

    /// The key of one purpose.
    pub(super) fn key(&self, purpose: Purpose) -> &SecretKey {
        &self.keys[usize::from(purpose as u8) - 1]
    }

    fn from_keys(keys: Vec<SecretKey>) -> Keyring {
        let keys = <[SecretKey; Purpose::ALL.len()]>::try_from(keys);
        Keyring { keys: keys.ok().expect("one key was made for each purpose") }
    }

    fn wrap(&self, root: &RootKey, nonces: &[[u8; NONCE_LEN]; Purpose::ALL.len()]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LEN);
        bytes.extend_from_slice(&MAGIC);
        bytes.push(FORMAT);
        bytes.push(u8::try_from(Purpose::ALL.len()).expect("there are eight purposes"));
        bytes.extend_from_slice(&root.check());
        for (purpose, nonce) in Purpose::ALL.into_iter().zip(nonces) {
            let mut key = Zeroizing::new(*self.key(purpose).expose());
            let tag = root.key().encrypt(nonce, purpose.name().as_bytes(), key.as_mut_slice());
            bytes.push(purpose as u8);
            bytes.extend_from_slice(nonce);
            bytes.extend_from_slice(key.as_slice());
            bytes.extend_from_slice(&tag);
        }
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
        bytes
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keyring(..)")
    }
}

/// Checks all bytes except the wrapped keys, and returns these, still wrapped.
fn check_shape<'a>(root: &RootKey, bytes: &'a [u8]) -> Result<&'a [u8], KeyringError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(KeyringError::Damaged { what: "it does not begin as a key ring" });
    }
    match bytes.get(MAGIC.len()) {
        Some(&FORMAT) if bytes.len() == LEN => {}
        Some(&FORMAT) | None => return Err(KeyringError::Damaged { what: "its length is wrong" }),
        Some(&found) => return Err(KeyringError::UnknownFormat { found }),
    }
    let (content, crc) = bytes.split_at(LEN - CRC_LEN);
    if crc != crc32c::crc32c(content).to_be_bytes() {
        return Err(KeyringError::Damaged { what: "its checksum is wrong" });
    }
    if usize::from(content[9]) != Purpose::ALL.len() {
        return Err(KeyringError::Damaged { what: "its number of keys is wrong" });
    }
    let (head, wrapped) = content.split_at(HEAD_LEN);
    if head[10..] == root.check() { Ok(wrapped) } else { Err(KeyringError::WrongRootKey) }
}

fn unwrap_key(root: &RootKey, purpose: Purpose, wrapped: &[u8]) -> Result<SecretKey, KeyringError> {
    let damaged = KeyringError::Damaged { what: "a key does not open under its purpose" };
    let (number, rest) = wrapped.split_first().ok_or(damaged)?;
    let (nonce, rest) = rest.split_first_chunk().ok_or(damaged)?;
    let (ciphertext, tag) = rest.split_first_chunk::<{ SecretKey::LEN }>().ok_or(damaged)?;
    let tag = <&[u8; TAG_LEN]>::try_from(tag).map_err(|_| damaged)?;
    let mut key = Zeroizing::new(*ciphertext);
    let opens = root.key().decrypt(nonce, purpose.name().as_bytes(), key.as_mut_slice(), tag);
    (opens && *number == purpose as u8).then(|| SecretKey::new(&key)).ok_or(damaged)
}

/// A key ring whose keys are 01 01 .., 02 02 .. and so on, for tests with golden bytes.
#[cfg(test)]
pub(super) fn fixed_keyring() -> Keyring {
    Keyring::from_keys(Purpose::ALL.into_iter().map(|purpose| SecretKey::new(&[purpose as u8; 32])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: MerchantId = MerchantId::from_bytes([1; 16]);
    const OTHER: MerchantId = MerchantId::from_bytes([2; 16]);

    fn root(digit: &str) -> RootKey {
        RootKey::from_hex(&digit.repeat(64)).expect("64 hexadecimal characters")
    }

    fn with_crc(mut bytes: Vec<u8>) -> Vec<u8> {
        let crc = crc32c::crc32c(&bytes[..LEN - CRC_LEN]).to_be_bytes();
        bytes[LEN - CRC_LEN..].copy_from_slice(&crc);
        bytes
    }

    fn same_keys(one: &Keyring, other: &Keyring) -> bool {
        Purpose::ALL.iter().all(|&purpose| one.key(purpose).expose() == other.key(purpose).expose())
    }

    fn number(digits: &str) -> CardNumber {
        CardNumber::parse(digits).expect("a card number")
    }

    #[test]
    fn a_key_ring_opens_under_the_root_key_it_was_made_with() {
        let (made, bytes) = Keyring::create(&root("a")).expect("randomness");
        let opened = Keyring::open(&root("a"), &bytes).expect("opens");
        assert!(same_keys(&made, &opened));
        for (index, purpose) in Purpose::ALL.into_iter().enumerate() {
            for other in &Purpose::ALL[..index] {
                assert_ne!(made.key(purpose).expose(), made.key(*other).expose());
            }
        }
    }

    #[test]
    fn another_root_key_is_named_as_the_fault() {
        let (_, bytes) = Keyring::create(&root("a")).expect("randomness");
        let error = Keyring::open(&root("b"), &bytes).expect_err("another key");
        assert_eq!(error, KeyringError::WrongRootKey);
        assert_eq!(error.to_string(), "the vault key does not open this store's key ring");
    }

    #[test]
    fn a_rewrapped_key_ring_has_the_same_keys_under_the_new_root() {
        let (made, _) = Keyring::create(&root("a")).expect("randomness");
        let rewrapped = made.rewrap(&root("b")).expect("randomness");
        assert!(same_keys(&made, &Keyring::open(&root("b"), &rewrapped).expect("opens")));
        assert_eq!(Keyring::open(&root("a"), &rewrapped).err(), Some(KeyringError::WrongRootKey));
        assert_eq!(Keyring::root_key_name(&rewrapped), Some(root("b").name()));
        assert_ne!(root("a").name(), root("b").name());
        assert_eq!((root("a").name().len(), Keyring::root_key_name(b"TILLKEY")), (8, None));
    }

    #[test]
    fn the_bytes_are_those_on_disk_since_format_1() {
        let nonces = std::array::from_fn(|index| [u8::try_from(index).expect("below 8"); NONCE_LEN]);
        let bytes = fixed_keyring().wrap(&root("a"), &nonces);
        assert_eq!(bytes.len(), 614);
        assert_eq!(bytes[..10], *b"TILLKEYS\x01\x08");
        assert_eq!(bytes[10..26], root("a").check());
        assert_eq!((bytes[26 + 73], &bytes[26 + 74..26 + 98]), (2, [1; NONCE_LEN].as_slice()));
        let digest = blake3::hash(&bytes).to_hex();
        assert_eq!(digest.as_str(), "b2f6194ca474b48a8b120417bf0ba87486c36a5347e094c5451a28c917f76cbe");
        assert!(same_keys(&fixed_keyring(), &Keyring::open(&root("a"), &bytes).expect("opens")));
    }

    #[test]
    fn every_flipped_byte_is_found_by_the_checksum_or_the_head() {
        let (_, bytes) = Keyring::create(&root("a")).expect("randomness");
        for index in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[index] ^= 0x10;
            let error = Keyring::open(&root("a"), &flipped).expect_err("a flipped byte must not open");
            if index == 8 {
                assert_eq!(error, KeyringError::UnknownFormat { found: 0x11 });
            } else {
                assert!(matches!(error, KeyringError::Damaged { .. }), "byte {index}: {error}");
            }
        }
    }

    #[test]
    fn every_forged_byte_is_found_even_under_a_right_checksum() {
        let (_, bytes) = Keyring::create(&root("a")).expect("randomness");
        for index in 9..LEN - CRC_LEN {
            let mut forged = bytes.clone();
            forged[index] ^= 0x10;
            let error = Keyring::open(&root("a"), &with_crc(forged)).expect_err("a forged byte must not open");
            if (10..HEAD_LEN).contains(&index) {
                assert_eq!(error, KeyringError::WrongRootKey, "byte {index}");
            } else {
                assert!(matches!(error, KeyringError::Damaged { .. }), "byte {index}: {error}");
            }
        }
    }

    #[test]
    fn a_key_filed_under_another_purpose_does_not_open() {
        let (_, bytes) = Keyring::create(&root("a")).expect("randomness");
        let mut swapped = bytes.clone();
        let (first, second) =
            (HEAD_LEN + 1..HEAD_LEN + WRAPPED_LEN, HEAD_LEN + WRAPPED_LEN + 1..HEAD_LEN + 2 * WRAPPED_LEN);
        swapped[first.clone()].copy_from_slice(&bytes[second.clone()]);
        swapped[second].copy_from_slice(&bytes[first]);
        let error = Keyring::open(&root("a"), &with_crc(swapped)).expect_err("swapped keys must not open");
        assert_eq!(error, KeyringError::Damaged { what: "a key does not open under its purpose" });
    }

    #[test]
    fn bytes_of_another_length_are_damaged() {
        let (_, bytes) = Keyring::create(&root("a")).expect("randomness");
        for cut in [&bytes[..0], &bytes[..7], &bytes[..8], &bytes[..LEN - 1], &[bytes.as_slice(), &[0]].concat()] {
            let error = Keyring::open(&root("a"), cut).expect_err("another length");
            assert!(matches!(error, KeyringError::Damaged { .. }), "{} bytes: {error}", cut.len());
        }
    }

    #[test]
    fn digests_are_those_on_disk_since_format_1() {
        let keyring = fixed_keyring();
        let hex = |digest: [u8; 32]| blake3::Hash::from_bytes(digest).to_hex().to_string();
        let visa = number("4242424242424242");
        assert_eq!(
            hex(keyring.api_key_digest("sk_example")),
            "1eecaf9806bbe4385ebc3389624f9a939adacd8768cce361c6b0dee2dac75f21"
        );
        assert_eq!(
            hex(keyring.idempotency_fingerprint(b"command")),
            "bc4c1be653b47f580023dec437120f5471283c53f949ef93b9af2653cfb584ff"
        );
        assert_eq!(
            hex(keyring.card_fingerprint(ONE, &visa)),
            "0fe25ef2facd2d64975f3986691af8bc2668b6fe9a56a94c2f96b1683ce81b77"
        );
        let email = keyring.lookup_digest(ONE, LookupKind::Email, "a@example.com");
        assert_eq!(hex(email), "f08cc82dadea88440fea7816100f4809c145a369fbc1fbd45cb48450478ea071");
        let mobile = keyring.lookup_digest(ONE, LookupKind::Mobile, "+66812345678");
        assert_eq!(hex(mobile), "e2a8c2530547e3d48825215cf9cffdb7640f4c2e500895cb9bf60199863ba820");
    }

    #[test]
    fn the_secret_of_an_address_is_always_the_same_and_no_other_addresses() {
        let keyring = fixed_keyring();
        let object = |byte| RawId::from_bytes([byte; 16]);
        let secret = |merchant, kind, byte| keyring.address_secret(merchant, kind, object(byte)).to_string();
        let first = secret(ONE, AddressKind::Checkout, 1);
        assert_eq!(first, "5k87241kx8wqwqefa17wp1xbxs");
        let others = [
            secret(OTHER, AddressKind::Checkout, 1),
            secret(ONE, AddressKind::Return, 1),
            secret(ONE, AddressKind::Checkout, 2),
        ];
        assert!(others.iter().all(|other| *other != first), "{others:?}");
    }

    #[test]
    fn digests_differ_by_purpose_merchant_and_kind() {
        let keyring = fixed_keyring();
        let visa = number("4242424242424242");
        assert_ne!(keyring.api_key_digest("text"), keyring.idempotency_fingerprint(b"text"));
        assert_ne!(keyring.card_fingerprint(ONE, &visa), keyring.card_fingerprint(OTHER, &visa));
        assert_ne!(keyring.card_fingerprint(ONE, &visa), keyring.card_fingerprint(ONE, &number("4000000000000002")));
        let email = keyring.lookup_digest(ONE, LookupKind::Email, "text");
        assert_ne!(email, keyring.lookup_digest(OTHER, LookupKind::Email, "text"));
        assert_ne!(email, keyring.lookup_digest(ONE, LookupKind::Mobile, "text"));
        assert_ne!(email, keyring.lookup_digest(ONE, LookupKind::Email, "texT"));
    }

    #[test]
    fn digests_depend_on_the_keys_of_the_store() {
        let (random, _) = Keyring::create(&root("a")).expect("randomness");
        assert_ne!(random.api_key_digest("sk_example"), fixed_keyring().api_key_digest("sk_example"));
    }

    #[test]
    fn debug_output_shows_no_key() {
        assert_eq!(format!("{:?}", fixed_keyring()), "Keyring(..)");
    }
}
