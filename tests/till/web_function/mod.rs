//! A generic Web Function client, made only from the protocol's public text, calls everything that the package
//! documents list: the documents must contain everything that such a client needs.

mod client;
mod package;
mod stranger;
mod walk;
