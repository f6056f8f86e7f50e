//! Numbers that are read where they stand when somebody asks for them, in Prometheus' text form.

mod certificates;
mod description;
mod engine;
mod failures;
mod process;
mod store;
mod text;

pub use certificates::expose_certificate_end;
pub use description::describe;
pub use engine::expose_engine;
pub use failures::count_failures_from_zero;
pub use process::{ProcessStart, expose_process};
pub use store::expose_store;
pub use text::Text;
