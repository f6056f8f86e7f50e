//! The endpoints. Each endpoint has a declaration and a function. The function converts the arguments, submits a
//! command or reads rows, and converts the answer.

pub(crate) mod admin;
mod arguments;
mod created_at;
mod endpoint;
pub(crate) mod forms;
mod key_making;
mod kinds;
pub(crate) mod merchants;
pub(crate) mod notices;
#[cfg(feature = "pages")]
pub(crate) mod pages;
mod prelude;
pub(crate) mod sdk;
pub(crate) mod shapes;

pub use key_making::{fresh_key, key_of};
