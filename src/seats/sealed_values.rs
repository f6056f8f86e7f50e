//! What a browser keeps sealed: the session in a cookie, and new credentials in a form until they are confirmed. Each
//! is JSON, sealed for its kind, its merchant and its owner, in base64url. The operator's session is of no merchant.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use till_domain::ids::{MerchantId, RawId, UserId};
use till_domain::time::Millis;
use till_storage::vault::{Credentials, Keyring, NoRandomness};
use zeroize::Zeroizing;

/// The longest time from the beginning of a session to its end.
const SESSION_SECONDS_MAX: u64 = 12 * 3_600;

/// The time from the beginning of a session of the operator to its end.
const OPERATOR_SESSION_SECONDS: u64 = 8 * 3_600;

/// The time in which new credentials are confirmed.
const DRAFT_SECONDS_MAX: u64 = 30 * 60;

/// The kinds of values, as they are sealed.
const SESSION: u8 = 1;
const DRAFT: u8 = 2;
const OPERATOR_SESSION: u8 = 3;

/// The owner of a session, which itself says whose it is.
const NOBODY: RawId = RawId::from_bytes([0; 16]);

/// The merchant of what belongs to none.
const NO_MERCHANT: MerchantId = MerchantId::from_bytes([0; 16]);

/// A session of a member. Times are milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Session {
    user_id: [u8; 16],
    /// The number of the member's sessions that were ended before it.
    pub(crate) number: u32,
    begun: u64,
    used: u64,
}

impl Session {
    /// A session that begins now.
    pub(crate) fn begin(user_id: UserId, number: u32, now: Millis) -> Session {
        Session { user_id: user_id.to_bytes(), number, begun: now.0, used: now.0 }
    }

    /// The member.
    pub(crate) fn user_id(&self) -> UserId {
        UserId::from_bytes(self.user_id)
    }

    /// The text of the cookie of the session, which is used now.
    pub(super) fn seal(self, keyring: &Keyring, merchant_id: MerchantId, now: Millis) -> Result<String, NoRandomness> {
        seal(keyring, SESSION, merchant_id, NOBODY, &Session { used: now.0, ..self })
    }

    /// The session in a cookie, unless it is over.
    pub(super) fn open(
        keyring: &Keyring,
        merchant_id: MerchantId,
        cookie: &str,
        idle_seconds: u64,
        now: Millis,
    ) -> Option<Session> {
        let session: Session = open(keyring, SESSION, merchant_id, NOBODY, cookie)?;
        let ends = [(session.used, idle_seconds), (session.begun, SESSION_SECONDS_MAX)];
        ends.iter().all(|(since, seconds)| now < Millis(*since).plus_seconds(*seconds)).then_some(session)
    }
}

/// A session of the operator, which ends with the admin token that it began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperatorSession {
    begun: u64,
    /// The digest of the token.
    pub(crate) token: [u8; 32],
}

impl OperatorSession {
    /// A session that begins now.
    pub(crate) fn begin(token: [u8; 32], now: Millis) -> OperatorSession {
        OperatorSession { begun: now.0, token }
    }

    pub(super) fn seal(&self, keyring: &Keyring) -> Result<String, NoRandomness> {
        seal(keyring, OPERATOR_SESSION, NO_MERCHANT, NOBODY, self)
    }

    /// The session in a cookie, unless it is over by time.
    pub(super) fn open(keyring: &Keyring, cookie: &str, now: Millis) -> Option<OperatorSession> {
        let session: OperatorSession = open(keyring, OPERATOR_SESSION, NO_MERCHANT, NOBODY, cookie)?;
        (now < Millis(session.begun).plus_seconds(OPERATOR_SESSION_SECONDS)).then_some(session)
    }
}

/// New credentials that are not confirmed yet.
#[derive(Serialize, Deserialize)]
pub(crate) struct Draft {
    begun: u64,
    credentials: Vec<u8>,
    /// The time step of the code that the new authenticator was confirmed with.
    pub(crate) step: Option<u64>,
}

impl Draft {
    /// A draft that begins now.
    pub(crate) fn of(credentials: &Credentials, step: Option<u64>, now: Millis) -> Draft {
        Draft { begun: now.0, credentials: credentials.encode().to_vec(), step }
    }

    /// The credentials.
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        Credentials::decode(&self.credentials)
    }

    pub(super) fn seal(
        &self,
        keyring: &Keyring,
        merchant_id: MerchantId,
        owner: RawId,
    ) -> Result<String, NoRandomness> {
        seal(keyring, DRAFT, merchant_id, owner, self)
    }

    /// The draft in a form, unless it is too old.
    pub(super) fn open(
        keyring: &Keyring,
        merchant_id: MerchantId,
        owner: RawId,
        text: &str,
        now: Millis,
    ) -> Option<Draft> {
        let draft: Draft = open(keyring, DRAFT, merchant_id, owner, text)?;
        (now < Millis(draft.begun).plus_seconds(DRAFT_SECONDS_MAX)).then_some(draft)
    }
}

fn associated(kind: u8, merchant_id: MerchantId, owner: RawId) -> Vec<u8> {
    [&[kind][..], &merchant_id.to_bytes(), &owner.to_bytes()].concat()
}

fn seal(
    keyring: &Keyring,
    kind: u8,
    merchant_id: MerchantId,
    owner: RawId,
    value: &impl Serialize,
) -> Result<String, NoRandomness> {
    let value = Zeroizing::new(serde_json::to_vec(value).expect("numbers have a JSON form"));
    Ok(URL_SAFE_NO_PAD.encode(keyring.seal_for_browser(&associated(kind, merchant_id, owner), &value)?))
}

fn open<V: DeserializeOwned>(
    keyring: &Keyring,
    kind: u8,
    merchant_id: MerchantId,
    owner: RawId,
    text: &str,
) -> Option<V> {
    let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
    let value = keyring.open_from_browser(&associated(kind, merchant_id, owner), &sealed)?;
    serde_json::from_slice(&value).ok()
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
        assert_eq!((found.begun, found.used), (BEGUN.0, late.0));
        assert_eq!(Session::open(&keyring, SHOP, &renewed, 60, BEGUN.plus_seconds(SESSION_SECONDS_MAX)), None);
    }

    #[test]
    fn a_session_of_the_operator_opens_for_eight_hours_and_is_none_of_a_member() {
        let (keyring, session) = (keyring(), OperatorSession::begin([7; 32], BEGUN));
        let cookie = session.seal(&keyring).expect("randomness");
        let at = |seconds| OperatorSession::open(&keyring, &cookie, BEGUN.plus_seconds(seconds));
        let end = OPERATOR_SESSION_SECONDS;
        assert_eq!((at(0), at(end - 1), at(end)), (Some(session), Some(session), None));
        assert_eq!(Session::open(&keyring, NO_MERCHANT, &cookie, 60, BEGUN), None);
        let of_member = Session::begin(MEMBER, 7, BEGUN).seal(&keyring, NO_MERCHANT, BEGUN).expect("randomness");
        assert_eq!(OperatorSession::open(&keyring, &of_member, BEGUN), None);
    }

    #[test]
    fn a_draft_opens_for_its_owner_for_half_an_hour_and_is_no_session() {
        let keyring = keyring();
        let credentials =
            Credentials { salt: [1; 16], password: [2; 32], authenticator: [3; 20], recovery: [[4; 32]; 10] };
        let draft = Draft::of(&credentials, Some(9), BEGUN);
        let (owner, other) = (RawId::from_bytes([5; 16]), RawId::from_bytes([6; 16]));
        let text = draft.seal(&keyring, SHOP, owner).expect("randomness");
        let open =
            |merchant, owner, seconds| Draft::open(&keyring, merchant, owner, &text, BEGUN.plus_seconds(seconds));
        let opened = open(SHOP, owner, DRAFT_SECONDS_MAX - 1).expect("its own");
        assert!(opened.credentials() == Some(credentials) && opened.step == Some(9));
        assert!(open(SHOP, other, 0).is_none() && open(OTHER, owner, 0).is_none());
        assert!(open(SHOP, owner, DRAFT_SECONDS_MAX).is_none());
        assert_eq!(Session::open(&keyring, SHOP, &text, 60, BEGUN), None);
    }
}
