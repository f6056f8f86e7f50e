//! Parsers of single arguments. Each returns a value of a type that cannot be invalid, or a message that says what to
//! send instead. No message repeats the value, which may be a secret.

mod address;
mod amount;
mod page;
mod scalar;
mod text;

pub use address::{email, mobile, return_url};
pub use amount::{amount, signed_amount};
pub use page::{ListPageRequest, list_page};
pub use scalar::{boolean, integer, one_of};
pub use text::{from_text, name, text};
