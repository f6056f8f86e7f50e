//! The end of a certificate's validity, the only field that the TLS library does not report.

use x509_cert::Certificate;
use x509_cert::der::Decode;

/// The end of a certificate's validity, in Unix seconds. None when the certificate cannot be read; that does not decide
/// if it can be used.
pub(super) fn end_of(certificate: &[u8]) -> Option<u64> {
    let read = Certificate::from_der(certificate).ok()?;
    Some(read.tbs_certificate.validity.not_after.to_unix_duration().as_secs())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn ending(year: i32) -> Vec<u8> {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        parameters.not_after = date_time_ymd(year, 3, 1);
        let key = KeyPair::generate().expect("randomness");
        parameters.self_signed(&key).expect("it is signed").der().to_vec()
    }

    #[test]
    fn the_end_of_a_certificate_is_read_in_both_forms_of_time() {
        assert_eq!(end_of(&ending(2026)), Some(1_772_323_200));
        assert_eq!(end_of(&ending(2051)), Some(2_561_241_600));
    }

    #[test]
    fn a_truncated_or_damaged_certificate_does_not_panic() {
        let whole = ending(2026);
        for length in 0..whole.len() {
            assert_eq!(end_of(&whole[..length]), None, "{length}");
        }
        for place in 0..whole.len().min(200) {
            for value in [0x00, 0x7F, 0x80, 0x84, 0xFF] {
                let mut otherwise = whole.clone();
                otherwise[place] = value;
                let _whatever = end_of(&otherwise);
            }
        }
        assert_eq!(end_of(b"no certificate"), None);
    }
}
