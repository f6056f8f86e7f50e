//! What a browser keeps sealed: the session in a cookie, and new credentials in a form until they are confirmed.
//!
//! Shapes (integers big-endian, offsets in bytes), sealed for a kind, a merchant and an owner, in base64url:
//! ```text
//! session: 0 user (16) | 16 number (4) | 20 begun (8) | 28 last used (8) | 36 end
//! draft:   0 begun (8) | 8 time step, 0 for none (8) | 16 credentials (389) | 405 end
//! ```
//! Times are milliseconds since the Unix epoch.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use till_domain::ids::{MerchantId, RawId, UserId};
use till_domain::time::Millis;
use till_storage::vault::{Credentials, Keyring, NoRandomness};
use zeroize::Zeroizing;

/// The longest time from the beginning of a session to its end.
const SESSION_SECONDS_MAX: u64 = 12 * 3_600;

/// The time in which new credentials are confirmed.
const DRAFT_SECONDS_MAX: u64 = 30 * 60;

/// A value that a browser keeps.
trait SealedValue: Sized {
    /// Tells the kinds apart. Part of what is sealed.
    const KIND: u8;

    fn encode(&self) -> Zeroizing<Vec<u8>>;
    fn decode(bytes: &[u8]) -> Option<Self>;
}

/// A session of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) user_id: UserId,
    /// The number of the member's sessions that were ended before it.
    pub(crate) number: u32,
    pub(crate) begun: Millis,
    pub(crate) used: Millis,
}

impl Session {
    /// A session that begins now.
    pub(crate) fn begin(user_id: UserId, number: u32, now: Millis) -> Session {
        Session { user_id, number, begun: now, used: now }
    }

    /// The text of its cookie, by which it is kept for `idle_seconds` from `now` on.
    pub(super) fn seal(self, keyring: &Keyring, merchant_id: MerchantId, now: Millis) -> Result<String, NoRandomness> {
        seal(keyring, merchant_id, [0; 16], &Session { used: now, ..self })
    }

    /// The session in a cookie, unless it is over.
    pub(super) fn open(
        keyring: &Keyring,
        merchant_id: MerchantId,
        cookie: &str,
        idle_seconds: u64,
        now: Millis,
    ) -> Option<Session> {
        let session: Session = open(keyring, merchant_id, [0; 16], cookie)?;
        let is_live =
            now < session.used.plus_seconds(idle_seconds) && now < session.begun.plus_seconds(SESSION_SECONDS_MAX);
        is_live.then_some(session)
    }
}

impl SealedValue for Session {
    const KIND: u8 = 1;

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let times = [self.begun.0.to_be_bytes(), self.used.0.to_be_bytes()];
        Zeroizing::new([&self.user_id.to_bytes()[..], &self.number.to_be_bytes(), times.as_flattened()].concat())
    }

    fn decode(bytes: &[u8]) -> Option<Session> {
        let (user_id, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let [begun, used] = *<&[[u8; 8]; 2]>::try_from(rest.as_chunks().0).ok()?;
        let [begun, used] = [begun, used].map(|time| Millis(u64::from_be_bytes(time)));
        Some(Session { user_id: UserId::from_bytes(*user_id), number: u32::from_be_bytes(*number), begun, used })
    }
}

/// New credentials that are not confirmed yet.
pub(crate) struct Draft {
    pub(crate) begun: Millis,
    pub(crate) credentials: Credentials,
    /// The time step of the code that the new authenticator was confirmed with.
    pub(crate) step: Option<u64>,
}

impl Draft {
    pub(super) fn seal(
        &self,
        keyring: &Keyring,
        merchant_id: MerchantId,
        owner: RawId,
    ) -> Result<String, NoRandomness> {
        seal(keyring, merchant_id, owner.to_bytes(), self)
    }

    /// The draft in a form, unless it is too old.
    pub(super) fn open(
        keyring: &Keyring,
        merchant_id: MerchantId,
        owner: RawId,
        text: &str,
        now: Millis,
    ) -> Option<Draft> {
        let draft: Draft = open(keyring, merchant_id, owner.to_bytes(), text)?;
        (now < draft.begun.plus_seconds(DRAFT_SECONDS_MAX)).then_some(draft)
    }
}

impl SealedValue for Draft {
    const KIND: u8 = 2;

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let numbers = [self.begun.0, self.step.unwrap_or(0)].map(u64::to_be_bytes);
        let credentials = Zeroizing::new(self.credentials.encode());
        Zeroizing::new([numbers.as_flattened(), credentials.as_slice()].concat())
    }

    fn decode(bytes: &[u8]) -> Option<Draft> {
        let (begun, rest) = bytes.split_first_chunk()?;
        let (step, rest) = rest.split_first_chunk()?;
        let step = Some(u64::from_be_bytes(*step)).filter(|step| *step != 0);
        Some(Draft { begun: Millis(u64::from_be_bytes(*begun)), credentials: Credentials::decode(rest)?, step })
    }
}

fn associated<V: SealedValue>(merchant_id: MerchantId, owner: [u8; 16]) -> Vec<u8> {
    [&[V::KIND][..], &merchant_id.to_bytes(), &owner].concat()
}

fn seal<V: SealedValue>(
    keyring: &Keyring,
    merchant_id: MerchantId,
    owner: [u8; 16],
    value: &V,
) -> Result<String, NoRandomness> {
    let sealed = keyring.seal_for_browser(&associated::<V>(merchant_id, owner), &value.encode())?;
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

fn open<V: SealedValue>(keyring: &Keyring, merchant_id: MerchantId, owner: [u8; 16], text: &str) -> Option<V> {
    let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
    V::decode(&keyring.open_from_browser(&associated::<V>(merchant_id, owner), &sealed)?)
}

#[cfg(test)]
mod tests {
    use till_storage::vault::RootKey;

    use super::*;

    const SHOP: MerchantId = MerchantId::from_bytes([1; 16]);
    const OTHER: MerchantId = MerchantId::from_bytes([2; 16]);
    const MEMBER: UserId = UserId::from_bytes([3; 16]);
    const BEGUN: Millis = Millis(1_800_000_000_000);

    fn keyring() -> Keyring {
        let root = RootKey::from_hex(&"a".repeat(64)).expect("64 hexadecimal characters");
        Keyring::create(&root).expect("randomness").0
    }

    #[test]
    fn a_session_opens_for_its_merchant_until_it_is_idle_or_old() {
        let (keyring, session) = (keyring(), Session::begin(MEMBER, 7, BEGUN));
        let cookie = session.seal(&keyring, SHOP, BEGUN).expect("randomness");
        let at = |seconds| Session::open(&keyring, SHOP, &cookie, 60, BEGUN.plus_seconds(seconds));
        assert_eq!((at(0), at(59), at(60)), (Some(session), Some(session), None));
        assert_eq!(Session::open(&keyring, OTHER, &cookie, 60, BEGUN), None);
        assert_eq!(Session::open(&keyring, SHOP, &cookie[1..], 60, BEGUN), None);
        let late = BEGUN.plus_seconds(SESSION_SECONDS_MAX - 1);
        let renewed = session.seal(&keyring, SHOP, late).expect("randomness");
        let found = Session::open(&keyring, SHOP, &renewed, 60, late).expect("it was used");
        assert_eq!((found.begun, found.used), (BEGUN, late));
        assert_eq!(Session::open(&keyring, SHOP, &renewed, 60, BEGUN.plus_seconds(SESSION_SECONDS_MAX)), None);
    }

    #[test]
    fn a_draft_opens_for_its_owner_for_half_an_hour_and_is_no_session() {
        let keyring = keyring();
        let credentials =
            Credentials { salt: [1; 16], password: [2; 32], authenticator: [3; 20], recovery: [[4; 32]; 10] };
        let draft = Draft { begun: BEGUN, credentials: credentials.clone(), step: Some(9) };
        let (owner, other) = (RawId::from_bytes([5; 16]), RawId::from_bytes([6; 16]));
        let text = draft.seal(&keyring, SHOP, owner).expect("randomness");
        let open =
            |merchant, owner, seconds| Draft::open(&keyring, merchant, owner, &text, BEGUN.plus_seconds(seconds));
        let opened = open(SHOP, owner, DRAFT_SECONDS_MAX - 1).expect("its own");
        assert!(opened.credentials == credentials && opened.step == Some(9));
        assert!(open(SHOP, other, 0).is_none() && open(OTHER, owner, 0).is_none());
        assert!(open(SHOP, owner, DRAFT_SECONDS_MAX).is_none());
        assert_eq!(Session::open(&keyring, SHOP, &text, 60, BEGUN), None);
    }
}
