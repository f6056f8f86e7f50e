//! The end of a certificate's validity, the only field that the TLS library does not report.
//!
//! Only the path to that field is parsed: elements of DER, each with a tag, a length and content. For a certificate of
//! another form the end is unknown; that does not decide if the certificate can be used.
//!
//! Source: RFC 5280, 4.1 (the fields) and 4.1.2.5 (the two forms of a time); X.690, 8.1 and 10.1 (tags, lengths).

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const INTEGER: u8 = 0x02;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;

/// The tag of the field with the version of X.509, which certificates of the first version do not have.
const VERSION: u8 = 0xA0;

/// One element of DER.
struct Element<'d> {
    tag: u8,
    content: &'d [u8],
    /// The bytes after it.
    after: &'d [u8],
}

/// The end of a certificate's validity, in Unix seconds. None when its form is not known here, or it is before 1970.
pub(super) fn end_of(certificate: &[u8]) -> Option<u64> {
    let whole = tagged(certificate, SEQUENCE)?;
    let mut rest = tagged(whole.content, SEQUENCE)?.content;
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.after;
    }
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        rest = tagged(rest, tag)?.after; // The serial number, the signature algorithm, the issuer.
    }
    let begin = element(tagged(rest, SEQUENCE)?.content)?;
    let end = element(begin.after)?;
    seconds(end.tag, std::str::from_utf8(end.content).ok()?)
}

fn tagged(bytes: &[u8], tag: u8) -> Option<Element<'_>> {
    element(bytes).filter(|element| element.tag == tag)
}

fn element(bytes: &[u8]) -> Option<Element<'_>> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0x00..=0x7F => (usize::from(first), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)), rest)
        }
        0x80 | 0x84..=0xFF => return None, // An indefinite length, or one that no certificate has.
    };
    let (content, after) = rest.split_at_checked(length)?;
    Some(Element { tag, content, after })
}

/// A time such as `491231235959Z` or `20491231235959Z`.
fn seconds(tag: u8, text: &str) -> Option<u64> {
    let with_century = match tag {
        UTC_TIME if text.get(..2)? < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let moment = DateTime::strptime("%Y%m%d%H%M%SZ", &with_century).ok()?.to_zoned(TimeZone::UTC).ok()?;
    u64::try_from(moment.timestamp().as_second()).ok()
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
    fn the_last_years_of_one_form_are_of_the_century_before() {
        assert_eq!(seconds(UTC_TIME, "491231235959Z"), Some(2_524_607_999));
        assert_eq!(seconds(UTC_TIME, "990101000000Z"), Some(915_148_800));
        assert_eq!(seconds(UTC_TIME, "990101000000+0100"), None);
        assert_eq!(seconds(SEQUENCE, "20491231235959Z"), None);
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
