//! The server that is called, and the way to its merchants.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::address::ServerAddress;

/// A server to be measured.
#[derive(Debug)]
pub struct TargetServer {
    /// The address of the public listener.
    pub public: ServerAddress,
    /// The merchants that are called.
    pub access: Access,
    /// True when the load tester started the server for this run.
    pub is_own: bool,
    /// Its process, when it is our own.
    pub process_id: Option<u32>,
    /// The settings of our own server from the environment, without secrets.
    pub settings: BTreeMap<String, String>,
    /// The file system of the data of our own server.
    pub data_filesystem: Option<String>,
}

/// The way to the merchants that are called.
#[derive(Debug, Clone)]
pub enum Access {
    /// The operator makes merchants for the run.
    Operator(OperatorAccess),
    /// One merchant that exists already.
    Merchant(ExistingMerchant),
}

/// The admin listener with the operator's token.
#[derive(Debug, Clone)]
pub struct OperatorAccess {
    /// The address of the admin listener.
    pub admin: ServerAddress,
    /// The token.
    pub token: SecretString,
}

/// A merchant that exists already.
#[derive(Debug, Clone)]
pub struct ExistingMerchant {
    /// One of its keys.
    pub key: SecretString,
    /// Its id and that of one of its installations, without which no customer pays.
    pub ids: Option<(String, String)>,
}

impl TargetServer {
    /// A server that was running before, called by this way.
    #[must_use]
    pub const fn running(public: ServerAddress, access: Access) -> TargetServer {
        let settings = BTreeMap::new();
        TargetServer { public, access, is_own: false, process_id: None, settings, data_filesystem: None }
    }

    /// True when load tester and server share a machine.
    #[must_use]
    pub fn is_on_this_machine(&self) -> bool {
        self.is_own || self.public.socket().ip().is_loopback()
    }

    /// True when its processor time can be separated from that of other processes: it is our own, or has other
    /// processors.
    #[must_use]
    pub fn is_told_from_others(&self) -> bool {
        self.process_id.is_some() || !self.is_on_this_machine()
    }
}
