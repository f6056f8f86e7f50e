//! Base32 as people type it. Source: RFC 4648, section 6, without padding.

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The text of bytes whose number is a multiple of five.
pub(super) fn text(bytes: &[u8]) -> String {
    bytes.as_chunks::<5>().0.iter().flat_map(group).collect()
}

fn group(bytes: &[u8; 5]) -> impl Iterator<Item = char> + use<> {
    let bits = bytes.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let letter =
        move |place: u32| usize::try_from((bits >> (5 * place)) & 31).map_or('A', |index| char::from(ALPHABET[index]));
    (0..8_u32).rev().map(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 10 of the RFC.
    #[test]
    fn the_vector_of_the_rfc_is_met() {
        assert_eq!((text(b"fooba"), text(b"foobafooba")), ("MZXW6YTB".to_owned(), "MZXW6YTBMZXW6YTB".to_owned()));
    }
}
