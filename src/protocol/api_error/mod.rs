//! How a call that did not succeed is answered.

mod code;
mod refusal;
mod render;

pub use code::Code;
pub use refusal::{ApiError, Outcome};
pub use render::{Form, Rendered};
