//! Codes of an authenticator: SHA-1, six digits, a step of 30 seconds. Source: RFC 6238 and RFC 4226.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use subtle::ConstantTimeEq;
use till_domain::time::Millis;
use url::form_urlencoded::byte_serialize;

use super::base32;

/// The seconds for which a code is shown.
const STEP_SECONDS: u64 = 30;

/// The steps before and after the present one whose codes count: clocks differ, and people type slowly.
const STEPS_BESIDE: u64 = 1;

/// The secret as it is typed into an authenticator.
pub(crate) fn secret_text(secret: &[u8; 20]) -> String {
    base32::text(secret)
}

/// The address that an authenticator reads from a QR code. Source: the key URI format of Google Authenticator.
pub(crate) fn provisioning_uri(secret: &[u8; 20], email: &str) -> String {
    let account: String = byte_serialize(email.as_bytes()).collect();
    format!("otpauth://totp/Till:{account}?secret={}&issuer=Till", secret_text(secret))
}

/// The step near `now` whose code this is. All of them are compared.
pub(super) fn step_of(secret: &[u8; 20], code: &str, now: Millis) -> Option<u64> {
    let present = now.unix_seconds() / STEP_SECONDS;
    let steps = present.saturating_sub(STEPS_BESIDE)..=present.saturating_add(STEPS_BESIDE);
    steps.fold(None, |found, step| {
        let is_right = code_at(secret, step).as_bytes().ct_eq(code.as_bytes());
        if is_right.into() { Some(step) } else { found }
    })
}

fn code_at(secret: &[u8; 20], step: u64) -> String {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).expect("a key of HMAC has any length");
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let place = usize::from(digest[19] & 15);
    let bytes = digest[place..].first_chunk().expect("20 bytes have 4 from the 15th on");
    format!("{:06}", (u32::from_be_bytes(*bytes) & 0x7fff_ffff) % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8; 20] = b"12345678901234567890";

    /// Appendix B of RFC 6238, the last six of its eight digits.
    #[test]
    fn the_vectors_of_the_rfc_are_met() {
        for (seconds, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130")]
        {
            assert_eq!(code_at(SECRET, seconds / STEP_SECONDS), code);
        }
    }

    #[test]
    fn codes_of_one_step_either_side_count_and_no_others() {
        let (now, code) = (Millis(1_111_111_109_000), |step: u64| code_at(SECRET, step));
        let present = 1_111_111_109 / STEP_SECONDS;
        for step in [present - 1, present, present + 1] {
            assert_eq!(step_of(SECRET, &code(step), now), Some(step));
        }
        for other in [code(present - 2), code(present + 2), String::new(), format!("{} ", code(present))] {
            assert_eq!(step_of(SECRET, &other, now), None, "{other}");
        }
    }

    #[test]
    fn the_address_for_an_authenticator_has_the_whole_account_name() {
        let uri = provisioning_uri(SECRET, "a+b&c@d.example");
        let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
        assert_eq!(uri, format!("otpauth://totp/Till:a%2Bb%26c%40d.example?secret={secret}&issuer=Till"));
    }
}
