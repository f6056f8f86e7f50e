//! Till, a payments server for merchants: the edge, where HTTP becomes commands and answers.

pub mod access;
pub mod assembly;
pub mod bootstrap;
pub mod commands;
pub mod configuration;
pub mod demo;
pub mod endpoints;
pub mod logging;
pub mod observation;
pub mod protocol;
pub mod service;
