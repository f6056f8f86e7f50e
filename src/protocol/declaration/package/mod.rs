//! The package document, which Web Function clients read.

mod document;
mod spelling;

pub use document::package_document;
