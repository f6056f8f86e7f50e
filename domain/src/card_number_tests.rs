use super::*;
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq};
use proptest::proptest;

/// Numbers that schemes and acquirers publish for tests, one or more of each scheme and length.
const NUMBERS: [&str; 27] = [
    "4222222222222",
    "4242424242424242",
    "4000003800000446",
    "4000000000000000006",
    "5555555555554444",
    "2223003122003222",
    "2720990000000007",
    "378282246310005",
    "341111111111111",
    "3566002020360505",
    "6200000000000005",
    "6205500000000000004",
    "8171999900000021",
    "6011111111111117",
    "6011000990139424",
    "6445644564456445",
    "30569309025904",
    "3056930009020004",
    "36227206271667",
    "38520000023237",
    "6759649826438453",
    "501800000009",
    "2200000000000004",
    "5061111111111111116",
    "5085000000000009",
    "9704000000000018",
    "8600000000000000",
];

/// The text, with its last digit replaced by the one that makes the Luhn sum right.
fn with_check_digit(digits: &str) -> String {
    let body = &digits[..digits.len().saturating_sub(1)];
    let candidates = (0..10).map(|check| format!("{body}{check}"));
    candidates.into_iter().find(|number| is_card_number(number)).expect("one of ten digits is right")
}

fn published() -> impl Iterator<Item = String> {
    NUMBERS.iter().map(|digits| with_check_digit(digits)).filter(|digits| digits.len() >= 13)
}

#[test]
fn a_card_number_has_12_to_19_digits_and_a_luhn_checksum() {
    assert!(is_card_number("4242424242424242"));
    assert!(is_card_number("378282246310005"));
    for text in
        ["4242424242424241", "42424242424", "42424242424242424242", "4242 4242 4242 4242", "424242424242424a", ""]
    {
        assert!(!is_card_number(text), "{text:?}");
    }
}

#[test]
fn the_numbers_of_every_scheme_are_found() {
    for number in published() {
        assert!(is_card_number_as_a_whole(&number), "{number}");
        assert!(holds_card_number(&format!("Ada, {number}.")), "{number}");
    }
}

#[test]
fn other_numbers_of_13_to_19_digits_are_not() {
    for text in [
        "4242424242424241",     // A wrong check digit.
        "42424242424242424",    // Visa has no 17 digits.
        "378282246310005000",   // American Express has 15.
        "1700000000000",        // Milliseconds since 1970.
        "1700000000000000",     // Microseconds.
        "1700000000000000000",  // Nanoseconds.
        "9999999999999995",     // Of no scheme.
        "0000000000000000",     // The Luhn sum of zeros is right.
        "501800000009",         // 12 digits.
        "42424242424242424242", // 20 digits.
        "00000000000000000018", // A container's number (SSCC).
        "",
        "-",
    ] {
        assert!(!is_card_number_as_a_whole(text), "{text}");
        assert!(!holds_card_number(text), "{text}");
        assert!(!holds_card_number(&format!("no {text}, thanks")), "{text}");
    }
}

#[test]
fn single_spaces_and_dashes_may_separate_digits() {
    for text in [
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "3782 822463 10005",
        "4 2 4 2-424242424242",
        "4242\u{a0}4242\u{2013}4242\u{202f}4242",
    ] {
        assert!(is_card_number_as_a_whole(text), "{text}");
        assert!(holds_card_number(text), "{text}");
    }
    for text in [
        "4242  4242 4242 4242",
        "4242 -4242 4242 4242",
        "4242.4242.4242.4242",
        "4242_4242_4242_4242",
        "4242/4242/4242/4242",
    ] {
        assert!(!is_card_number_as_a_whole(text), "{text}");
        assert!(!holds_card_number(text), "{text}");
    }
}

#[test]
fn a_number_is_delimited_by_all_but_ascii_letters_and_digits() {
    for text in [
        "4242424242424242",
        "Ada Example 4242424242424242",
        "card:4242424242424242,12/30",
        "order-4242424242424242",
        "(4242 4242 4242 4242)",
        "หมายเลข4242424242424242ครับ",
        "卡号4242424242424242",
        "_4242424242424242_",
        "4242 4242 4242 4242 12/30 123",
        "No 4 4242424242424242",
        "4242424242424242 5555555555554444",
    ] {
        assert!(holds_card_number(text), "{text}");
    }
    for text in
        ["inv4242424242424242", "4242424242424242a", "04242424242424242", "42424242424242420", "4242 4242 4242 4242nd"]
    {
        assert!(!holds_card_number(text), "{text}");
    }
}

#[test]
fn texts_that_people_write_are_not_taken_for_numbers() {
    for text in [
        "Somchai Jaidee",
        "Refund of 3.000,00 THB, see ticket 2026-02-28-000417",
        "Tel +66 81 234 5678, fax +66 2 123 4567",
        "IBAN DE89 3704 0044 0532 0130 00",
        "pay_01h2e8kqvbfwea724h75qc655w",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "0.4242424242424242e16 or so1",
    ] {
        assert!(!holds_card_number(text), "{text}");
    }
}

#[test]
fn a_value_as_a_whole_may_have_spaces_around_it_only() {
    assert!(is_card_number_as_a_whole(" 4242424242424242 "));
    for text in
        ["#4242424242424242", "4242424242424242.", "4242424242424242-", "-4242424242424242", "4242424242424242 1"]
    {
        assert!(!is_card_number_as_a_whole(text), "{text}");
    }
}

#[test]
fn a_url_is_looked_at_part_by_part() {
    for url in [
        "https://shop.example/orders/4242424242424242",
        "https://shop.example/done?card=4242424242424242&x=1",
        "https://shop.example/done?card=4242+4242+4242+4242",
        "https://shop.example/done?card=4242%204242%204242%204242#end",
        "https://shop.example/done#4242-4242-4242-4242",
        "https://4242424242424242:x@shop.example/",
    ] {
        assert!(has_card_number_as_a_part(url), "{url}");
    }
    for url in [
        "https://shop.example/orders/inv-4242424242424242",
        "https://shop.example/orders/4242424242424243",
        "https://shop.example/4242/4242/4242/4242",
    ] {
        assert!(!has_card_number_as_a_part(url), "{url}");
    }
}

/// A published number with separators between its digits as the choices say.
fn written(number: &str, choices: &[u8]) -> String {
    let separator = |index: usize| match choices.get(index).copied().unwrap_or(0) % 4 {
        1 => " ",
        2 => "-",
        _ => "",
    };
    let last = number.len().saturating_sub(1);
    number
        .chars()
        .enumerate()
        .map(|(index, digit)| format!("{digit}{}", if index < last { separator(index) } else { "" }))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_number_is_found_in_any_text_that_delimits_it(
        which in any::<proptest::sample::Index>(),
        choices in proptest::collection::vec(any::<u8>(), 18),
        before in "\\PC{0,20}",
        behind in "\\PC{0,20}",
    ) {
        let numbers: Vec<String> = published().collect();
        let number = written(which.get::<String>(&numbers), &choices);
        let delimited = format!("{before}|{number}|{behind}");
        prop_assert!(is_card_number_as_a_whole(&number), "{number}");
        prop_assert!(holds_card_number(&delimited), "{delimited}");
    }

    #[test]
    fn a_number_with_one_digit_changed_is_none(
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        by in 1_u8..10,
    ) {
        let numbers: Vec<String> = published().collect();
        let mut digits = which.get(numbers.as_slice()).clone().into_bytes();
        let at = at.index(digits.len());
        digits[at] = b'0'.wrapping_add(digits[at].wrapping_sub(b'0').wrapping_add(by) % 10);
        let changed = String::from_utf8(digits).expect("digits");
        prop_assert!(!is_card_number_as_a_whole(&changed) && !holds_card_number(&changed), "{changed}");
    }

    #[test]
    fn a_contained_number_is_a_run_of_groups_that_is_one_as_a_whole(text in "[ a4-]{0,8}([0-9]{1,8}[ -]?){1,6}[a-z,]?") {
        prop_assert_eq!(holds_card_number(&text), holds_by_trying_all(&text), "{}", text);
    }

    #[test]
    fn texts_without_13_digits_hold_none(text in "([^0-9]|[0-9][^0-9]){0,12}") {
        prop_assert!(!holds_card_number(&text), "{text}");
    }
}

/// The same search done the slow way: every part of the text that begins and ends with a digit and is delimited.
fn holds_by_trying_all(text: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|start| {
        (start.saturating_add(1)..=bytes.len()).any(|end| {
            let part = &text[start..end];
            let begins_and_ends = !part.starts_with(' ') && !part.ends_with(' ');
            let is_free =
                !is_word(start.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(end));
            begins_and_ends && is_free && is_card_number_as_a_whole(part)
        })
    })
}

#[test]
fn the_ranges_of_schemes_are_well_formed() {
    for issued in SCHEMES {
        assert!(issued.first_six.start() <= issued.first_six.end() && *issued.first_six.start() >= 100_000);
        assert!(issued.lengths.iter().all(|length| (13..=19).contains(length)));
    }
}
