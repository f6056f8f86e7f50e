//! Till, a payments server for merchants: the edge, where HTTP becomes commands and answers.

// How a request is read and answered, whatever it asks.
pub mod protocol;

// What can be asked.
pub mod endpoints;

// What endpoints stand on.
pub mod access;
pub mod service;

// How the program is put together, started and watched.
pub mod configuration;
pub mod vault_keys;
pub mod data_directory;
mod running_mark;
pub mod bootstrap;
pub mod assembly;
pub mod exposition;
pub mod observation;
pub mod supervision;
pub mod logging;
pub mod small_pages;
pub mod owner_only;
pub mod tls;
pub mod demo;

// What operators read of a store that no server uses.

pub mod commands;
