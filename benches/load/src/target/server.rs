//! The addresses of the server, and the operator's token.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use secrecy::SecretString;

/// A server to be measured.
#[derive(Debug)]
pub struct TargetServer {
    /// The address of the public listener.
    pub public: SocketAddr,
    /// The address of the admin listener.
    pub admin: SocketAddr,
    /// The operator's token.
    pub admin_token: SecretString,
    /// True when the load tester started the server for this run.
    pub is_own: bool,
    /// The settings of our own server from the environment, without secrets.
    pub settings: BTreeMap<String, String>,
    /// The file system of the data of our own server.
    pub data_filesystem: Option<String>,
}

impl TargetServer {
    /// True when load tester and server share a machine.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        self.is_own || self.public.ip().is_loopback()
    }
}
