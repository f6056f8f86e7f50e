//! What the operator decides, read once at start and checked as a whole.
//!
//! A setting comes from the command line, else from the environment, else from the configuration file, else
//! it has its default.

mod effective;
mod layers;
mod secrets;
mod settings;

pub use effective::{CheckpointSettings, Configuration, ConfigurationFaults, Limits, LogFormat};
pub use layers::Layers;
pub use secrets::{Secrets, SecretsError};
