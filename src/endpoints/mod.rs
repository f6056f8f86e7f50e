//! The endpoints: for each its one declaration, and a function that converts, submits or reads, and converts.

pub mod admin;
pub mod arguments;
mod created_at;
mod forms;
mod key_making;
pub mod merchants;
pub mod sdk;
pub(crate) mod shapes;

pub use key_making::{fresh_key, key_of};
