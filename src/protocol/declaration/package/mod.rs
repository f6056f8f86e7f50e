//! The package document, which Web Function clients read.

mod document;
mod types;

pub use document::package_document;
