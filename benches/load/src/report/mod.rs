//! Reports: a table for a terminal, JSON for machines, a page with charts.

mod text;
mod machine;
mod verdict;
mod document;
mod notes;
mod remarks;
mod assembly;
mod spread;
mod compare;
mod terminal;
mod page;

#[cfg(test)]
pub(crate) mod examples;

pub use assembly::document;
pub use compare::Comparison;
pub use document::{Document, Origin};
pub use machine::Machine;
pub use page::{comparison_page, run_page};
pub use terminal::{comparison_text, run_text};
pub use verdict::Verdict;
