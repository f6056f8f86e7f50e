//! Detection of text that certainly contains a card number.
//!
//! A number is 13 to 19 digits with the prefix of a scheme, of a length that the scheme issues, with a right Luhn
//! digit. Between two digits one space or one dash may stand. It is delimited where no letter or digit of ASCII is
//! adjacent: identifiers and hashes are made of these, and Thai or Chinese text puts no space between a word and a
//! number.

use std::ops::RangeInclusive;

/// Digits of the shortest number.
const DIGITS_MIN: usize = 13;

/// Digits of the longest number.
const DIGITS_MAX: usize = 19;

/// Bytes of the longest text that is a number as a whole: there are 18 separators of at most three bytes between the
/// digits.
const WHOLE_BYTES_MAX: usize = DIGITS_MAX + (DIGITS_MAX - 1) * 3;

/// Returns true when a text is a plausible card number: 12 to 19 digits with a valid Luhn checksum.
///
/// Source: ISO/IEC 7812-1, annex B.
#[must_use]
pub fn is_card_number(digits: &str) -> bool {
    if !(12..=19).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let mut sum: u32 = 0;
    for (index, byte) in digits.bytes().rev().enumerate() {
        let digit = u32::from(byte.saturating_sub(b'0'));
        let weighed = if index % 2 == 1 { digit.saturating_mul(2) } else { digit };
        sum = sum.saturating_add(if weighed > 9 { weighed.saturating_sub(9) } else { weighed });
    }
    sum.is_multiple_of(10)
}

/// Numbers of one scheme.
struct Issued {
    /// Their first six digits.
    first_six: RangeInclusive<u32>,
    /// The number of digits.
    lengths: &'static [usize],
}

const fn issued(first: u32, last: u32, lengths: &'static [usize]) -> Issued {
    Issued { first_six: first..=last, lengths }
}

const FROM_13: &[usize] = &[13, 14, 15, 16, 17, 18, 19];
const FROM_14: &[usize] = &[14, 15, 16, 17, 18, 19];
const FROM_16: &[usize] = &[16, 17, 18, 19];

/// The ranges that the schemes issue. Ranges that cannot be told from other numbers are left out: UATP (every number of
/// 15 digits that begins with 1), and those that a bank uses at home only.
///
/// Source: the issuer ranges that the schemes publish under ISO/IEC 7812.
const SCHEMES: &[Issued] = &[
    issued(400_000, 499_999, &[13, 16, 18, 19]), // Visa
    issued(510_000, 559_999, &[16]),             // Mastercard
    issued(222_100, 272_099, &[16]),             // Mastercard
    issued(340_000, 349_999, &[15]),             // American Express
    issued(370_000, 379_999, &[15]),             // American Express
    issued(352_800, 358_999, FROM_16),           // JCB
    issued(620_000, 629_999, FROM_16),           // UnionPay
    issued(810_000, 817_199, FROM_16),           // UnionPay
    issued(601_100, 601_199, FROM_16),           // Discover
    issued(644_000, 659_999, FROM_16),           // Discover, also RuPay, Troy, Elo and Verve
    issued(300_000, 305_999, FROM_14),           // Diners Club
    issued(309_500, 309_599, FROM_14),           // Diners Club
    issued(360_000, 369_999, FROM_14),           // Diners Club
    issued(380_000, 399_999, FROM_14),           // Diners Club
    issued(501_800, 501_899, FROM_13),           // Maestro
    issued(502_000, 502_099, FROM_13),           // Maestro
    issued(503_800, 503_899, FROM_13),           // Maestro
    issued(589_300, 589_399, FROM_13),           // Maestro
    issued(630_400, 630_499, FROM_13),           // Maestro
    issued(675_900, 676_399, FROM_13),           // Maestro
    issued(676_770, 676_774, FROM_13),           // Maestro
    issued(501_900, 501_999, &[16]),             // Dankort
    issued(504_175, 504_175, &[16]),             // Elo
    issued(506_099, 506_198, &[16, 18, 19]),     // Verve
    issued(506_699, 506_778, &[16]),             // Elo
    issued(507_865, 507_964, &[16, 18, 19]),     // Verve
    issued(508_500, 508_999, &[16]),             // RuPay
    issued(509_000, 509_999, &[16]),             // Elo
    issued(606_282, 606_282, &[16]),             // Hipercard
    issued(606_985, 608_500, &[16]),             // RuPay
    issued(817_200, 829_999, &[16]),             // RuPay
    issued(220_000, 220_499, FROM_16),           // Mir
    issued(604_001, 604_200, FROM_16),           // UkrCard
    issued(636_000, 636_999, FROM_16),           // InterPayment
    issued(637_000, 639_999, &[16]),             // InstaPayment
    issued(860_000, 860_099, &[16]),             // Uzcard
    issued(970_400, 970_499, &[16, 19]),         // NAPAS
    issued(979_200, 979_289, &[16]),             // Troy
    issued(986_000, 986_099, &[16]),             // Humo
];

/// Returns true when `text`, which a person wrote, contains a card number.
#[must_use]
pub fn holds_card_number(text: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_alphanumeric());
    let mut before = None;
    text.char_indices().any(|(at, character)| {
        let is_start = character.is_ascii_digit() && !before.is_some_and(|before: char| before.is_ascii_alphanumeric());
        before = Some(character);
        is_start && text.get(at..).is_some_and(|rest| begins_with_number(rest, is_end))
    })
}

/// Returns true when the digits of a card number stand together anywhere in `text`, within letters and with any
/// separators of identifiers between them.
#[must_use]
pub fn has_digits_of_card_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits < DIGITS_MIN {
        return false;
    }
    let groups: Vec<&str> = text.split(['.', '_', '-']).filter(|group| !group.is_empty()).collect();
    let joined = groups.join("-");
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
    let mut was_digit = false;
    joined.char_indices().any(|(at, character)| {
        let is_start = character.is_ascii_digit() && !was_digit;
        was_digit = character.is_ascii_digit();
        is_start && joined.get(at..).is_some_and(|rest| begins_with_number(rest, is_end))
    })
}

/// Returns true when `value` is a card number as a whole. Spaces around it do not count.
#[must_use]
pub fn is_card_number_as_a_whole(value: &str) -> bool {
    let value = value.trim_matches(' ');
    // The length alone excludes nearly all values of metadata, which can be very many.
    (DIGITS_MIN..=WHOLE_BYTES_MAX).contains(&value.len()) && begins_with_number(value, str::is_empty)
}

/// Returns true when a part of `url` is a card number as a whole: a segment of the path, a name or a value of the
/// query. A `+` and `%20` represent a space there.
#[must_use]
pub fn has_card_number_as_a_part(url: &str) -> bool {
    let parts = url.split(['/', ':', '@', '?', '&', '=', '#', ';', ',']);
    let likely = parts.filter(|part| part.starts_with(|first: char| first.is_ascii_digit()));
    likely.map(|part| part.replace("%20", " ").replace('+', " ")).any(|part| is_card_number_as_a_whole(&part))
}

/// Returns true when `text` begins with a number after which the rest satisfies `is_end`.
fn begins_with_number(text: &str, is_end: impl Fn(&str) -> bool) -> bool {
    let (mut digits, mut rest) = (String::with_capacity(DIGITS_MAX), text);
    loop {
        let more = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some((group, behind)) = rest.split_at_checked(more).filter(|(group, _)| !group.is_empty()) else {
            return false;
        };
        if digits.len().saturating_add(more) > DIGITS_MAX {
            return false;
        }
        digits.push_str(group);
        if digits.len() >= DIGITS_MIN && is_end(behind) && is_issued(&digits) {
            return true;
        }
        let Some(next) = behind.strip_prefix(is_separator) else { return false };
        rest = next;
    }
}

/// Returns true for a space or a dash, including those that a word processor puts in place of the plain ones.
fn is_separator(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '-' | '\u{2010}'..='\u{2015}')
}

fn is_issued(digits: &str) -> bool {
    let Some(first_six) = digits.get(..6).and_then(|text| text.parse::<u32>().ok()) else { return false };
    let of_scheme = |issued: &Issued| issued.first_six.contains(&first_six) && issued.lengths.contains(&digits.len());
    SCHEMES.iter().any(of_scheme) && is_card_number(digits)
}

#[cfg(test)]
#[path = "card_number_tests.rs"]
mod tests;
