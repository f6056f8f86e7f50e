//! A generic Web Function client, made from the protocol's public text alone, walks everything that the package
//! documents list: what they say must be all that a stranger's client needs.

mod client;
mod package;
mod arguments;
mod walk;
