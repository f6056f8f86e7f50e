//! The files of a statement: its entries as CSV, its sums as PDF.

mod document;
mod csv;
mod fonts;
mod glyphs;
mod pdf;

pub(super) use csv::{CSV_PART_ENTRIES, csv_part, csv_parts};
pub(super) use document::{DocumentFormat, base64, file_name};
pub(super) use pdf::pdf;
