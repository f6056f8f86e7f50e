//! The package document, which Web Function clients read.

mod document;
mod spelling;

pub(crate) use document::PIPELINE;
pub use document::package_document;
