//! Reports: a table for a terminal, JSON for machines, a page with charts.

mod compare;
mod document;
mod html;
mod machine;
mod notes;
mod spread;
mod terminal;
mod text;
mod verdict;

#[cfg(test)]
pub(crate) use document::examples as document_examples;

pub use compare::{Comparison, Difference};
pub use document::{Document, Origin, Parameters, ReadFault};
pub use html::{comparison_page, run_page};
pub use terminal::{comparison_text, run_text};
pub use verdict::Verdict;
