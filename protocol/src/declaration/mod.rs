//! The declarations of endpoints: parsing, the package document and the OpenAPI document all follow from them.

mod argument;
mod delivery;
mod endpoint;
mod objects;
mod openapi;
mod package;
mod returns;
mod value_type;
mod words;

pub use argument::{Argument, PER_PAGE_DEFAULT, PER_PAGE_MAX, list_page_arguments};
pub use delivery::DeliveryDeclaration;
pub use endpoint::{Declaration, DeclaredError, Flags, Package};
pub use openapi::openapi_document;
pub(super) use package::PIPELINE;
pub use package::package_document;
pub use returns::Returns;
pub use value_type::{AMOUNT_MAX, Attribute, Integer, ObjectType, Text, TextKind, ValueType};
pub use words::words_of;
