//! The server that is measured: one that runs, or one of our own.

mod address;
mod own_server;
mod server;

pub use address::{AddressFault, server_address};
pub use own_server::{OwnServer, ServerSetting, program_beside};
pub use server::Server;
