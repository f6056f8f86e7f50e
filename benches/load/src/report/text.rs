//! Numbers in the format that people read.

/// A latency with a unit and three significant digits.
#[expect(clippy::cast_precision_loss, reason = "a latency is far below 2^53 microseconds")]
pub(super) fn latency(micros: u64) -> String {
    let micros = micros as f64;
    match micros {
        _ if micros < 1_000.0 => format!("{micros:.0} µs"),
        _ if micros < 10_000.0 => format!("{:.2} ms", micros / 1e3),
        _ if micros < 100_000.0 => format!("{:.1} ms", micros / 1e3),
        _ if micros < 1_000_000.0 => format!("{:.0} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

/// A rate, with one decimal place where it is low.
pub(super) fn rate(rate: f64) -> String {
    match rate {
        _ if rate >= 100.0 => grouped(&format!("{rate:.0}")),
        _ if rate >= 10.0 => format!("{rate:.1}"),
        _ => format!("{rate:.2}"),
    }
}

/// A count.
pub(super) fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A count with its noun, in the singular or the plural.
pub(super) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The change of a value in percent, with its sign.
pub(super) fn change(before: f64, after: f64) -> String {
    if before <= 0.0 { "-".to_owned() } else { format!("{:+.1} %", (after / before - 1.0) * 100.0) }
}

/// A share of 1 in percent.
pub(super) fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_the_digits_that_count() {
        let latencies = [7, 950, 1_234, 45_678, 456_789, 1_234_567].map(latency);
        assert_eq!(latencies, ["7 µs", "950 µs", "1.23 ms", "45.7 ms", "457 ms", "1.23 s"]);
        assert_eq!([1.5, 12.34, 123.4, 12_345.6].map(rate), ["1.50", "12.3", "123", "12,346"]);
        assert_eq!((count(999), count(1_000), count(1_234_567)), ("999".into(), "1,000".into(), "1,234,567".into()));
        assert_eq!((counted(1, "merchant"), counted(2, "merchant")), ("1 merchant".into(), "2 merchants".into()));
        assert_eq!(
            (change(100.0, 110.0), change(100.0, 95.0), change(0.0, 1.0)),
            ("+10.0 %".into(), "-5.0 %".into(), "-".into())
        );
    }
}
