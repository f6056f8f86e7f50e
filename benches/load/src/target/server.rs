//! The addresses of the server, and the operator's token.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::address::ServerAddress;

/// A server to be measured.
#[derive(Debug)]
pub struct TargetServer {
    /// The address of the public listener.
    pub public: ServerAddress,
    /// The address of the admin listener.
    pub admin: ServerAddress,
    /// The operator's token.
    pub admin_token: SecretString,
    /// True when the load tester started the server for this run.
    pub is_own: bool,
    /// Its process, when it is our own.
    pub process_id: Option<u32>,
    /// The settings of our own server from the environment, without secrets.
    pub settings: BTreeMap<String, String>,
    /// The file system of the data of our own server.
    pub data_filesystem: Option<String>,
}

impl TargetServer {
    /// True when load tester and server share a machine.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        self.is_own || self.public.socket().ip().is_loopback()
    }

    /// True when its processor time can be separated from that of other processes: it is our own, or has other processors.
    #[must_use]
    pub fn is_told_from_others(&self) -> bool {
        self.process_id.is_some() || !self.is_on_this_machine()
    }
}
