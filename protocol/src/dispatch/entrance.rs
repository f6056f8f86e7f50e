//! The address of a listener.

use crate::connection::ForwardedHeader;

/// The listener's own address, used for requests that do not name a host.
#[derive(Debug, Clone)]
pub struct Entrance {
    /// True with TLS.
    pub is_secure: bool,
    /// Host and port.
    pub host: String,
    /// The header in which proxies name the address of a caller; no header is trusted when absent.
    pub forwarded: Option<ForwardedHeader>,
}
