//! What an endpoint is, said once: its parsing, the package document and the OpenAPI document all follow
//! from it.

mod argument;
mod endpoint;
mod package_document;
mod openapi;
mod returns;
mod value_type;

pub use argument::{Argument, PAGE_ARGUMENTS};
pub use endpoint::{Declaration, DeclaredError, Flags, Package};
pub use openapi::openapi_document;
pub use package_document::package_document;
pub use returns::{Attribute, ObjectType, Returns};
pub use value_type::{JsonType, ValueType};
