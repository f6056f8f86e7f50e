//! The errors that calls are answered with.

mod code;
mod refusal;
mod render;

pub use code::Code;
pub use refusal::{ApiError, CallEffect, RETRY_AFTER_SECONDS};
pub use render::Form;
