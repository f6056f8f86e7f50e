//! What the value of a text will take in memory, told before it is made.

use super::Json;

/// What a value takes in a list: lists grow by doubling.
const VALUE_BYTES: usize = 2 * size_of::<Json>();

/// What a list takes at least, once it has a value: room for four.
const LIST_BYTES: usize = 4 * size_of::<Json>();

/// What an object takes at least, once it has a member: a node of a tree, with room for eleven.
const OBJECT_BYTES: usize = 11 * (size_of::<String>() + size_of::<Json>()) + 32;

/// What a member takes beside its value: nodes are at least about half full.
const MEMBER_BYTES: usize = 2 * (size_of::<String>() + size_of::<Json>());

/// What a text takes beside its bytes: an allocation is no smaller.
const TEXT_BYTES: usize = 16;

/// Bytes that the value of this JSON takes in memory beside the text's own, about and rather too many. Anything may be
/// asked about: what is no JSON becomes no value.
pub fn weight(text: &[u8]) -> usize {
    let (mut bytes, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        bytes += match byte {
            b',' => VALUE_BYTES,
            b'[' => LIST_BYTES,
            b'{' => OBJECT_BYTES,
            b':' => MEMBER_BYTES,
            b'"' => {
                at = end_of_text(text, at);
                TEXT_BYTES
            }
            _ => 0,
        };
        at += 1;
    }
    bytes
}

/// The place of the quotation mark that ends the text which begins here.
fn end_of_text(text: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_counts_by_its_kind_and_nothing_within_a_text_does() {
        assert_eq!(weight(b"12"), 0);
        assert_eq!(weight(b"[1,2,3]"), LIST_BYTES + 2 * VALUE_BYTES);
        assert_eq!(
            weight(br#"{"a":1,"b":[]}"#),
            OBJECT_BYTES + 2 * (MEMBER_BYTES + TEXT_BYTES) + VALUE_BYTES + LIST_BYTES
        );
        for text in [r#""[,,,{::\"[[[""#, r#""\\""#, r#""""#] {
            assert_eq!(weight(text.as_bytes()), TEXT_BYTES, "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_can_be_asked_about() {
        let text = br#"{"a\"":["b\\",{"c":"\u0000"}]}"#;
        for length in 0..=text.len() {
            assert!(weight(&text[..length]) <= weight(text), "{length}");
        }
    }

    #[test]
    fn no_json_of_a_mebibyte_weighs_more_than_the_room_of_all_bodies() {
        for filling in [",0", "[],", "[0],", "{},", "{\"\":0},", "\"\","] {
            let most = weight(filling.repeat(100).as_bytes()) / 100 * ((1 << 20) / filling.len());
            assert!(most < 255 << 20, "{filling}: {} MiB", most >> 20);
        }
    }
}
