//! The package document, which Web Function clients read.

mod document;
mod spelling;

pub(in crate::protocol) use document::PIPELINE;
pub use document::package_document;
