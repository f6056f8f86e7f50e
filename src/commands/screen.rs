//! Texts for people: aligned columns, and facts one below the other.

use std::time::Duration;

use indicatif::HumanDuration;
use jiff::Timestamp;
use serde_json::Value;
use till_domain::money::Currency;

use super::checkpoint::moment;

/// Rows below their heads, in aligned columns.
pub(super) fn columns<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let heads = heads.map(str::to_owned);
    let lines = || std::iter::once(&heads).chain(rows);
    let widths: [usize; N] = std::array::from_fn(|at| lines().map(|line| width(&line[at])).max().unwrap_or(0));
    lines().map(|line| padded(line, &widths)).collect::<Vec<String>>().join("\n")
}

/// Facts, each on a line after its name.
pub(super) fn facts(facts: &[(&str, String)]) -> String {
    let widths = [facts.iter().map(|(name, _)| width(name)).max().unwrap_or(0), 0];
    let lines = facts.iter().map(|(name, fact)| padded(&[(*name).to_owned(), fact.clone()], &widths));
    lines.collect::<Vec<String>>().join("\n")
}

fn padded(cells: &[String], widths: &[usize]) -> String {
    let pad = |(cell, width): (&String, &usize)| format!("{cell:<width$}");
    cells.iter().zip(widths).map(pad).collect::<Vec<String>>().join("  ").trim_end().to_owned()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text of a member of an answer; `-` for null.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A time in Unix seconds as a date and time of UTC; `-` for null.
pub(super) fn time(seconds: &Value) -> String {
    seconds.as_u64().map_or("-".to_owned(), |seconds| moment(seconds.saturating_mul(1_000)))
}

/// The time since a time in Unix seconds, in the largest unit that fits.
pub(super) fn age(seconds: u64) -> String {
    let now = u64::try_from(Timestamp::now().as_second()).unwrap_or(0);
    HumanDuration(Duration::from_secs(now.saturating_sub(seconds))).to_string()
}

/// An amount of minor units in the units that people pay with.
pub(super) fn money(amount_minor: &Value, currency: &Value) -> String {
    let (minor, code) = (amount_minor.as_u64().unwrap_or(0), text(currency));
    let digits = code.parse::<Currency>().map_or(0, Currency::minor_digits);
    let unit = 10_u64.pow(digits.into());
    match usize::from(digits) {
        0 => format!("{minor} {code}"),
        digits => format!("{}.{:0digits$} {code}", minor / unit, minor % unit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["ร้าน", "1"], ["a", "22"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(["NAME", "COUNT"], &rows), "NAME  COUNT\nร้าน  1\na     22");
        assert_eq!(facts(&[("a", "b".to_owned()), ("longer", "c d".to_owned())]), "a       b\nlonger  c d");
    }

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        assert_eq!(money(&json!(1_205), &json!("THB")), "12.05 THB");
        assert_eq!(money(&json!(5), &json!("KWD")), "0.005 KWD");
        assert_eq!(money(&json!(1_205), &json!("JPY")), "1205 JPY");
    }

    #[test]
    fn what_is_missing_is_a_dash() {
        assert_eq!([text(&json!(null)), time(&json!(null)), time(&json!(0))], ["-", "-", "1970-01-01T00:00:00Z"]);
    }
}
