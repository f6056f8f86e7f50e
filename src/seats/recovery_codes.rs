//! Recovery codes: 50 random bits each, which a member keeps for the day on which the authenticator is lost.

use subtle::ConstantTimeEq;
use till_domain::ids::MerchantId;
use till_domain::team::RECOVERY_CODES;
use till_storage::vault::{Credentials, Keyring};
use zeroize::Zeroizing;

use super::base32;

/// Characters of a code.
const LENGTH: usize = 10;

/// New codes. They are shown once.
pub(crate) struct RecoveryCodes(pub(crate) [Zeroizing<String>; RECOVERY_CODES]);

impl RecoveryCodes {
    /// Codes of these bits.
    pub(super) fn of(random: &[[u8; 10]; RECOVERY_CODES]) -> RecoveryCodes {
        RecoveryCodes(random.each_ref().map(|bytes| {
            let mut text = Zeroizing::new(base32::text(bytes));
            text.truncate(LENGTH);
            text
        }))
    }

    /// Their stored forms.
    pub(super) fn digests(&self, keyring: &Keyring, merchant_id: MerchantId) -> [[u8; 32]; RECOVERY_CODES] {
        self.0.each_ref().map(|code| keyring.recovery_code_digest(merchant_id, code))
    }
}

/// The number of a code, in any letter case. All of them are compared.
pub(super) fn number_of(keyring: &Keyring, merchant: MerchantId, credentials: &Credentials, code: &str) -> Option<u8> {
    let given = keyring.recovery_code_digest(merchant, &code.to_ascii_uppercase());
    (0..).zip(&credentials.recovery).fold(None, |found, (number, known)| {
        let is_right = known.ct_eq(&given);
        if is_right.into() { Some(number) } else { found }
    })
}
