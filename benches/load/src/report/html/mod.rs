//! The report as one page that needs no other file: text, tables and charts drawn as SVG inside of it.

mod axis;
mod chart;
mod charts;
mod markup;
mod page;

pub use page::{comparison_page, run_page};
