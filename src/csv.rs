//! Texts in CSV files: RFC 4180, section 2.

use std::borrow::Cow;

/// The characters with which a formula begins, also in full width.
const FORMULA_SIGNS: [char; 8] = ['=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'];

/// A text that no spreadsheet calculates: one that begins as a formula does gets an apostrophe in front.
pub(crate) fn no_formula(text: &str) -> Cow<'_, str> {
    if text.starts_with(FORMULA_SIGNS) { format!("'{text}").into() } else { text.into() }
}

/// A text without line breaks as a column. One with a comma or a quote in it is quoted.
pub(crate) fn quoted(column: &str) -> Cow<'_, str> {
    if column.contains([',', '"']) { format!("\"{}\"", column.replace('"', "\"\"")).into() } else { column.into() }
}
