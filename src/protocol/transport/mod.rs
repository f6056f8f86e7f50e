//! From a socket to requests: `listener.rs` binds and serves, `connection_table.rs` says which connections there may be,
//! `open_connection.rs` is what a connection's socket and its requests share, `socket.rs` is read and written by the web
//! server.

mod bare_refusal;
mod connection_table;
mod forwarded_header;
mod listener;
mod open_connection;
mod socket;

pub use connection_table::ConnectionLimits;
pub use forwarded_header::ForwardedHeader;
pub use listener::{HEAD_ARRIVAL_MAX, Listener, ListenerSettings, ReservedAddress};
pub(super) use open_connection::OpenConnection;
