//! The operator's settings, read once at start and checked as a whole.
//!
//! A setting comes from the command line, else from the environment, else from the configuration file, else
//! it has its default.

mod archive;
mod deployment;
mod effective;
mod journal;
mod layers;
mod secret_file;
mod secrets;
mod settings;

pub(crate) use deployment::Deployment;
pub use effective::Configuration;
pub(crate) use effective::processors;
pub(crate) use effective::{ConfigurationFaults, LogFormat, TlsFiles};
pub(crate) use journal::JournalConfiguration;
pub use layers::Layers;
pub(crate) use secret_file::{SecretFile, SecretFileLock};
pub use secrets::Secrets;
pub(crate) use secrets::fresh_secret;
pub use settings::settings_in_markdown;
