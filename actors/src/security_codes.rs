//! Security codes of cards: in this process's memory only, for half an hour at most.
//!
//! They are never written anywhere. A restart forgets them, and the authorization goes out without.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use till_domain::ids::TokenId;
use zeroize::Zeroizing;

/// How long a code is kept at most: as long as a session lives.
pub const SECURITY_CODE_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Codes kept at most. At some 200 bytes each, 20 MB; beyond it the oldest go, and their authorizations go
/// out without.
pub const SECURITY_CODES_MAX: usize = 100_000;

/// How often is looked for codes that are too old. Looking costs next to nothing when there are none.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A security code: three or four digits. Zeroized when dropped, and never shown.
///
/// It lives on the heap, so that moving it leaves no copy behind.
#[derive(Clone, PartialEq, Eq)]
pub struct SecurityCode(Zeroizing<Box<str>>);

/// The text is no security code. The message does not repeat any part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be three or four digits")]
pub struct SecurityCodeError;

impl SecurityCode {
    /// Reads a security code from its digits.
    ///
    /// # Errors
    /// [`SecurityCodeError`] when it is none.
    pub fn parse(text: &str) -> Result<SecurityCode, SecurityCodeError> {
        let is_code = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| SecurityCode(Zeroizing::new(Box::from(text)))).ok_or(SecurityCodeError)
    }

    /// The digits: for the acquirer, and nothing else.
    #[must_use]
    pub fn expose_digits(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecurityCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecurityCode(..)")
    }
}

/// Keeps the security codes of tokens until they are used or too old, by a monotonic clock, so that one set
/// back keeps no code longer.
#[derive(Default)]
pub struct SecurityCodes {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_token: HashMap<TokenId, Entry>,
    /// The tokens in the order in which their codes came, with a number that keeps equal instants apart.
    by_age: BTreeMap<(Instant, u64), TokenId>,
    next_number: u64,
}

struct Entry {
    code: SecurityCode,
    age: (Instant, u64),
}

impl SecurityCodes {
    /// An empty store.
    #[must_use]
    pub fn new() -> SecurityCodes {
        SecurityCodes::default()
    }

    /// Keeps the code of a token from now on, in place of an earlier one.
    pub fn insert(&self, token: TokenId, code: SecurityCode) {
        self.insert_at(token, code, Instant::now());
    }

    /// The code of a token; nothing when it is forgotten, too old, or never was. It stays, so that a call
    /// that timed out can be made again: [`SecurityCodes::remove`] it once the call is answered.
    #[must_use]
    pub fn get(&self, token: TokenId) -> Option<SecurityCode> {
        self.get_at(token, Instant::now())
    }

    /// Forgets the code of a token. After an authorization was answered it must not be kept any longer.
    pub fn remove(&self, token: TokenId) {
        self.lock().remove(token);
    }

    /// Forgets what is too old. Keeping and asking do so too; this is for a timer, so that nothing is kept
    /// longer for want of calls.
    pub fn forget_expired(&self) {
        self.lock().forget_expired(Instant::now());
    }

    /// Forgets what is too old for as long as it is polled.
    pub(crate) async fn forget_expired_from_now_on(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            self.forget_expired();
        }
    }

    /// How many codes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().by_token.len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert_at(&self, token: TokenId, code: SecurityCode, now: Instant) {
        let mut kept = self.lock();
        kept.forget_expired(now);
        kept.remove(token);
        while kept.by_token.len() >= SECURITY_CODES_MAX {
            kept.forget_oldest();
        }
        let age = (now, kept.next_number);
        kept.next_number += 1;
        kept.by_age.insert(age, token);
        kept.by_token.insert(token, Entry { code, age });
    }

    fn get_at(&self, token: TokenId, now: Instant) -> Option<SecurityCode> {
        let mut kept = self.lock();
        kept.forget_expired(now);
        kept.by_token.get(&token).map(|entry| entry.code.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic between the two maps loses a code at worst, which a restart does too.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn forget_expired(&mut self, now: Instant) {
        while let Some((&(since, _), _)) = self.by_age.first_key_value()
            && now.saturating_duration_since(since) >= SECURITY_CODE_LIFETIME
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, token)) = self.by_age.pop_first() {
            self.by_token.remove(&token);
        }
    }

    fn remove(&mut self, token: TokenId) {
        if let Some(entry) = self.by_token.remove(&token) {
            self.by_age.remove(&entry.age);
        }
    }
}

impl fmt::Debug for SecurityCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecurityCodes({} kept)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: usize) -> TokenId {
        let number = u128::try_from(number).expect("fits");
        TokenId::from_bytes(number.to_be_bytes())
    }

    fn code(text: &str) -> SecurityCode {
        SecurityCode::parse(text).expect("a security code")
    }

    fn assert_maps_agree(codes: &SecurityCodes) {
        let kept = codes.lock();
        assert_eq!(kept.by_token.len(), kept.by_age.len());
        assert!(kept.by_age.iter().all(|(age, token)| kept.by_token[token].age == *age));
    }

    #[test]
    fn a_security_code_is_three_or_four_digits() {
        assert_eq!(code("123").expose_digits(), "123");
        assert_eq!(code("0000").expose_digits(), "0000");
        for text in ["", "12", "12345", "12a", " 123", "१२३", "1"] {
            assert_eq!(SecurityCode::parse(text), Err(SecurityCodeError), "{text:?}");
        }
    }

    #[test]
    fn debug_output_shows_no_code_and_no_token() {
        let codes = SecurityCodes::new();
        codes.insert_at(token(1), code("987"), Instant::now());
        assert_eq!(format!("{:?} {codes:?}", code("987")), "SecurityCode(..) SecurityCodes(1 kept)");
    }

    #[test]
    fn a_code_can_be_had_again_until_it_is_removed() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.insert_at(token(1), code("123"), now);
        assert_eq!(codes.get_at(token(1), now), Some(code("123")));
        assert_eq!(codes.get_at(token(1), now), Some(code("123")));
        codes.remove(token(1));
        assert_eq!(codes.get_at(token(1), now), None);
        assert_eq!(codes.get_at(token(2), now), None);
        assert_maps_agree(&codes);
    }

    #[test]
    fn the_callers_clock_is_the_machines() {
        let codes = SecurityCodes::new();
        codes.insert(token(1), code("123"));
        codes.forget_expired();
        assert_eq!(codes.get(token(1)), Some(code("123")));
        let long_ago = Instant::now().checked_sub(SECURITY_CODE_LIFETIME).expect("the machine runs for long enough");
        codes.insert_at(token(2), code("456"), long_ago);
        codes.forget_expired();
        assert_eq!((codes.len(), codes.get(token(2))), (1, None));
    }

    #[test]
    fn a_code_is_gone_after_half_an_hour_and_not_before() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.insert_at(token(1), code("123"), now);
        codes.insert_at(token(2), code("456"), now + Duration::from_secs(1));
        let last_moment = now + SECURITY_CODE_LIFETIME - Duration::from_millis(1);
        assert_eq!(codes.get_at(token(1), last_moment), Some(code("123")));
        assert_eq!(codes.get_at(token(1), now + SECURITY_CODE_LIFETIME), None);
        assert_eq!(codes.len(), 1, "the younger one stays");
        assert_maps_agree(&codes);
    }

    #[test]
    fn a_timer_or_any_other_call_forgets_what_is_too_old() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        let later = now + SECURITY_CODE_LIFETIME;
        codes.insert_at(token(1), code("123"), now);
        codes.lock().forget_expired(later);
        assert!(codes.is_empty());
        codes.insert_at(token(1), code("123"), now);
        codes.insert_at(token(2), code("456"), later);
        assert_eq!(codes.len(), 1);
        assert_maps_agree(&codes);
    }

    #[tokio::test]
    async fn the_timer_forgets_what_is_too_old_without_any_call() {
        let codes = Arc::new(SecurityCodes::new());
        let long_ago = Instant::now().checked_sub(SECURITY_CODE_LIFETIME).expect("the machine runs for long enough");
        codes.insert_at(token(1), code("123"), long_ago);
        codes.insert(token(2), code("456"));
        let looking = Arc::clone(&codes).forget_expired_from_now_on();
        assert!(tokio::time::timeout(Duration::from_millis(20), looking).await.is_err());
        assert_eq!((codes.len(), codes.get(token(2))), (1, Some(code("456"))));
    }

    #[test]
    fn a_code_given_again_replaces_the_first_and_lives_from_then_on() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.insert_at(token(1), code("123"), now);
        codes.insert_at(token(1), code("456"), now + Duration::from_secs(60));
        assert_eq!(codes.get_at(token(1), now + SECURITY_CODE_LIFETIME), Some(code("456")));
        assert_eq!(codes.len(), 1);
        assert_maps_agree(&codes);
    }

    #[test]
    fn beyond_the_limit_the_oldest_codes_go() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        for number in 0..SECURITY_CODES_MAX + 2 {
            codes.insert_at(token(number), code("123"), now);
        }
        assert_eq!(codes.len(), SECURITY_CODES_MAX);
        assert_eq!(codes.get_at(token(1), now), None);
        assert_eq!(codes.get_at(token(2), now), Some(code("123")));
        assert_eq!(codes.get_at(token(SECURITY_CODES_MAX + 1), now), Some(code("123")));
        assert_maps_agree(&codes);
    }
}
