//! A connection as its socket and its requests know it, and the callers among whom connections and calls are shared.

mod connection_table;
mod forwarded_header;
mod open_connection;
mod share;

pub use connection_table::ConnectionLimits;
pub(super) use connection_table::ConnectionTable;
pub use forwarded_header::ForwardedHeader;
pub(super) use open_connection::{OpenConnection, ReadAllowance, announced_length};
pub use share::{ShareOf, address_group};
