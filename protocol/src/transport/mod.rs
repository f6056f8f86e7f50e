//! From a socket to requests: `listener.rs` binds and serves, `socket.rs` is the socket that the web server reads and
//! writes; `send_bounds.rs` bounds what the system keeps for a caller who does not read. The limits of connections, and
//! the state that a connection's socket and its requests share, are in `connection/`.

mod bare_refusal;
mod listener;
mod pulse;
mod send_bounds;
mod socket;

pub use listener::{Listener, ListenerSettings, ReservedAddress, connections_within};
pub use pulse::Pulse;
