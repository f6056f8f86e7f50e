//! The engine: everything below the edge, started and stopped as one.

mod thread_name;
mod background_loops;
mod running;

pub use running::{Dependencies, Engine, EngineOptions, Silent, StartError};
pub use thread_name::name_thread;
