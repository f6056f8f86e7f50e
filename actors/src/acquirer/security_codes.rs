//! Security codes of cards: in this process's memory only, for half an hour at most.
//!
//! They are never written anywhere. A restart forgets them, and the authorization goes out without.

use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use till_domain::ids::{MerchantId, TokenId};
use zeroize::Zeroizing;

/// Limit of the time that a code is kept: the lifetime of a session.
pub const SECURITY_CODE_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// Limit of the codes that are kept. At some 300 bytes each, 30 MB; beyond it the oldest codes of the merchant with the
/// most are dropped, and their authorizations go out without. So a caller that fills the store in a merchant's name
/// displaces only that merchant's.
pub const SECURITY_CODES_MAX: usize = 100_000;

/// Interval of the search for codes that are too old. A search costs next to nothing when there are none.
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
    /// [`SecurityCodeError`] when it is not one.
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

/// Keeps the security codes of tokens until they are used or too old, by a monotonic clock: a clock that is set back
/// keeps no code longer.
#[derive(Default)]
pub struct SecurityCodes {
    kept: Mutex<KeptCodes>,
}

#[derive(Default)]
struct KeptCodes {
    by_token: HashMap<TokenId, KeptCode>,
    /// The tokens in the order in which their codes were inserted.
    by_age: BTreeMap<Age, TokenId>,
    /// The same for each merchant that has any.
    by_merchant: HashMap<MerchantId, BTreeMap<Age, TokenId>>,
    /// The merchants by their numbers of codes.
    by_count: BTreeSet<(usize, MerchantId)>,
    next_number: u64,
}

/// Time of insertion, with a number that keeps equal instants apart.
type Age = (Instant, u64);

struct KeptCode {
    code: SecurityCode,
    merchant: MerchantId,
    age: Age,
}

impl SecurityCodes {
    /// An empty store.
    #[must_use]
    pub fn new() -> SecurityCodes {
        SecurityCodes::default()
    }

    /// Keeps the code of a merchant's token from now on, in place of an earlier one.
    pub fn insert(&self, merchant: MerchantId, token: TokenId, code: SecurityCode) {
        self.insert_at(merchant, token, code, Instant::now());
    }

    /// The code of a token; none when it was removed, is too old, or never existed. It stays, so that a call that timed
    /// out can be repeated: [`SecurityCodes::remove`] it once the call is answered.
    #[must_use]
    pub fn get(&self, token: TokenId) -> Option<SecurityCode> {
        self.get_at(token, Instant::now())
    }

    /// Removes the code of a token. After an authorization was answered it must not be kept any longer.
    pub fn remove(&self, token: TokenId) {
        self.lock().remove(token);
    }

    /// Drops codes that are too old. Insertions and look-ups do so too; this is for a timer, so that no code is kept
    /// longer because there are no calls.
    pub fn forget_expired(&self) {
        self.lock().forget_expired(Instant::now());
    }

    /// Drops codes that are too old for as long as it is polled.
    pub(crate) async fn forget_expired_from_now_on(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            self.forget_expired();
        }
    }

    /// The number of codes that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().by_token.len()
    }

    /// True when no code is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert_at(&self, merchant: MerchantId, token: TokenId, code: SecurityCode, now: Instant) {
        let mut kept = self.lock();
        kept.forget_expired(now);
        kept.remove(token);
        while kept.by_token.len() >= SECURITY_CODES_MAX {
            kept.forget_oldest_of_the_most();
        }
        let age = (now, kept.next_number);
        kept.next_number += 1;
        kept.by_age.insert(age, token);
        kept.by_token.insert(token, KeptCode { code, merchant, age });
        kept.change_merchant(merchant, |codes| _ = codes.insert(age, token));
    }

    fn get_at(&self, token: TokenId, now: Instant) -> Option<SecurityCode> {
        let mut kept = self.lock();
        kept.forget_expired(now);
        kept.by_token.get(&token).map(|entry| entry.code.clone())
    }

    fn lock(&self) -> MutexGuard<'_, KeptCodes> {
        // A panic between the maps loses a code at worst, which a restart does too.
        self.kept.lock()
    }
}

impl KeptCodes {
    fn forget_expired(&mut self, now: Instant) {
        while let Some((&(since, _), _)) = self.by_age.first_key_value()
            && now.saturating_duration_since(since) >= SECURITY_CODE_LIFETIME
        {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, token)) = self.by_age.pop_first() {
            self.remove(token);
        }
    }

    fn forget_oldest_of_the_most(&mut self) {
        let codes = self.by_count.last().and_then(|(_, merchant)| self.by_merchant.get(merchant));
        match codes.and_then(BTreeMap::first_key_value).map(|(_, token)| *token) {
            Some(token) => self.remove(token),
            None => self.forget_oldest(), // After a panic between the maps.
        }
    }

    fn remove(&mut self, token: TokenId) {
        if let Some(entry) = self.by_token.remove(&token) {
            self.by_age.remove(&entry.age);
            self.change_merchant(entry.merchant, |codes| _ = codes.remove(&entry.age));
        }
    }

    /// Changes the codes of a merchant, and their number.
    fn change_merchant(&mut self, merchant: MerchantId, change: impl FnOnce(&mut BTreeMap<Age, TokenId>)) {
        let codes = self.by_merchant.entry(merchant).or_default();
        self.by_count.remove(&(codes.len(), merchant));
        change(codes);
        if codes.is_empty() {
            self.by_merchant.remove(&merchant);
        } else {
            self.by_count.insert((codes.len(), merchant));
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

    fn merchant(number: u8) -> MerchantId {
        MerchantId::from_bytes([number; 16])
    }

    impl SecurityCodes {
        fn of_one_at(&self, token: TokenId, code: SecurityCode, now: Instant) {
            self.insert_at(merchant(1), token, code, now);
        }
    }

    fn assert_maps_agree(codes: &SecurityCodes) {
        let kept = codes.lock();
        assert_eq!(kept.by_token.len(), kept.by_age.len());
        assert!(kept.by_age.iter().all(|(age, token)| kept.by_token[token].age == *age));
        assert_eq!(kept.by_merchant.values().map(BTreeMap::len).sum::<usize>(), kept.by_token.len());
        let counts = kept.by_merchant.iter().map(|(merchant, codes)| (codes.len(), *merchant));
        assert_eq!(kept.by_count, counts.collect());
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
        codes.of_one_at(token(1), code("987"), Instant::now());
        assert_eq!(format!("{:?} {codes:?}", code("987")), "SecurityCode(..) SecurityCodes(1 kept)");
    }

    #[test]
    fn a_code_can_be_had_again_until_it_is_removed() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.of_one_at(token(1), code("123"), now);
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
        codes.insert(merchant(1), token(1), code("123"));
        codes.forget_expired();
        assert_eq!(codes.get(token(1)), Some(code("123")));
        let long_ago = Instant::now().checked_sub(SECURITY_CODE_LIFETIME).expect("the machine runs for long enough");
        codes.of_one_at(token(2), code("456"), long_ago);
        codes.forget_expired();
        assert_eq!((codes.len(), codes.get(token(2))), (1, None));
    }

    #[test]
    fn a_code_is_removed_after_half_an_hour_and_not_before() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.of_one_at(token(1), code("123"), now);
        codes.of_one_at(token(2), code("456"), now + Duration::from_secs(1));
        let last_moment = now + SECURITY_CODE_LIFETIME - Duration::from_millis(1);
        assert_eq!(codes.get_at(token(1), last_moment), Some(code("123")));
        assert_eq!(codes.get_at(token(1), now + SECURITY_CODE_LIFETIME), None);
        assert_eq!(codes.len(), 1, "the younger one stays");
        assert_maps_agree(&codes);
    }

    #[test]
    fn a_timer_or_any_other_call_removes_codes_that_are_too_old() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        let later = now + SECURITY_CODE_LIFETIME;
        codes.of_one_at(token(1), code("123"), now);
        codes.lock().forget_expired(later);
        assert!(codes.is_empty());
        codes.of_one_at(token(1), code("123"), now);
        codes.of_one_at(token(2), code("456"), later);
        assert_eq!(codes.len(), 1);
        assert_maps_agree(&codes);
    }

    #[tokio::test]
    async fn the_timer_removes_codes_that_are_too_old_without_any_call() {
        let codes = Arc::new(SecurityCodes::new());
        let long_ago = Instant::now().checked_sub(SECURITY_CODE_LIFETIME).expect("the machine runs for long enough");
        codes.of_one_at(token(1), code("123"), long_ago);
        codes.insert(merchant(1), token(2), code("456"));
        let looking = Arc::clone(&codes).forget_expired_from_now_on();
        assert!(tokio::time::timeout(Duration::from_millis(20), looking).await.is_err());
        assert_eq!((codes.len(), codes.get(token(2))), (1, Some(code("456"))));
    }

    #[test]
    fn a_code_given_again_replaces_the_first_and_lives_from_then_on() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        codes.of_one_at(token(1), code("123"), now);
        codes.of_one_at(token(1), code("456"), now + Duration::from_secs(60));
        assert_eq!(codes.get_at(token(1), now + SECURITY_CODE_LIFETIME), Some(code("456")));
        assert_eq!(codes.len(), 1);
        assert_maps_agree(&codes);
    }

    #[test]
    fn beyond_the_limit_the_oldest_codes_go() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        for number in 0..SECURITY_CODES_MAX + 2 {
            codes.of_one_at(token(number), code("123"), now);
        }
        assert_eq!(codes.len(), SECURITY_CODES_MAX);
        assert_eq!(codes.get_at(token(1), now), None);
        assert_eq!(codes.get_at(token(2), now), Some(code("123")));
        assert_eq!(codes.get_at(token(SECURITY_CODES_MAX + 1), now), Some(code("123")));
        assert_maps_agree(&codes);
    }

    #[test]
    fn a_full_store_displaces_codes_of_the_same_merchant() {
        let (codes, now) = (SecurityCodes::new(), Instant::now());
        let (victim, flooded) = (merchant(2), merchant(1));
        (0..3).for_each(|number| codes.insert_at(victim, token(number), code("987"), now));
        (3..SECURITY_CODES_MAX + 10).for_each(|number| codes.insert_at(flooded, token(number), code("123"), now));
        assert_eq!(codes.len(), SECURITY_CODES_MAX);
        assert!((0..3).all(|number| codes.get_at(token(number), now) == Some(code("987"))), "the oldest of all");
        assert_eq!(codes.get_at(token(12), now), None, "the oldest of the merchant with the most");
        let last = token(SECURITY_CODES_MAX + 10);
        codes.insert_at(victim, last, code("987"), now);
        assert_eq!(codes.get_at(token(0), now), Some(code("987")), "a merchant with few has room");
        assert_eq!((codes.get_at(last, now), codes.get_at(token(13), now)), (Some(code("987")), None));
        assert_maps_agree(&codes);
    }
}
