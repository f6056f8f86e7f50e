//! Where the server is and how the operator proves itself.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::address::ServerAddress;

/// A server to be measured.
#[derive(Debug)]
pub struct Server {
    /// Where merchants and devices call.
    pub public: ServerAddress,
    /// Where the operator calls.
    pub admin: ServerAddress,
    /// The operator's token.
    pub admin_token: SecretString,
    /// Whether it was started for this run.
    pub is_own: bool,
    /// Its process, when it is our own.
    pub process_id: Option<u32>,
    /// Its settings from the environment, without secrets, when it is our own.
    pub settings: BTreeMap<String, String>,
    /// The file system that its data is on, when it is our own.
    pub data_filesystem: Option<String>,
}

impl Server {
    /// Whether load tester and server share a machine.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        self.is_own || self.public.socket().ip().is_loopback()
    }

    /// Whether its processor time can be told from that of other processes: it is our own, or has other processors.
    #[must_use]
    pub fn is_told_from_others(&self) -> bool {
        self.process_id.is_some() || !self.is_on_this_machine()
    }
}
