//! Recovery codes: 50 random bits each, which a member keeps for the day on which the authenticator is lost.

use subtle::ConstantTimeEq;
use till_domain::ids::MerchantId;
use till_domain::team::RECOVERY_CODES;
use till_storage::vault::{Credentials, Keyring};
use zeroize::Zeroizing;

use super::base32;

/// Characters of a code.
const LENGTH: usize = 10;

/// The codes of these bits.
pub(super) fn of_bits(random: &[[u8; 10]; RECOVERY_CODES]) -> [Zeroizing<String>; RECOVERY_CODES] {
    random.each_ref().map(|bytes| {
        let mut text = Zeroizing::new(base32::text(bytes));
        text.truncate(LENGTH);
        text
    })
}

/// The number of a code, in any letter case. All of them are compared.
pub(super) fn number_of(keyring: &Keyring, merchant: MerchantId, credentials: &Credentials, code: &str) -> Option<u8> {
    let given = keyring.recovery_code_digest(merchant, &code.to_ascii_uppercase());
    (0..).zip(&credentials.recovery).fold(None, |found, (number, known)| {
        let is_right = known.ct_eq(&given);
        if is_right.into() { Some(number) } else { found }
    })
}
