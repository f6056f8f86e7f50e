//! Operations of the operator on the running process itself.

use std::sync::Arc;

use till_storage::vault::RootKey;

use super::reloads::Reloads;

/// The parts that a process with files has, and a test in memory does not have.
pub struct Operations {
    /// The files that a reload reads.
    pub reloads: Arc<Reloads>,
    /// The key ring's owner, for a rotation of the vault key.
    pub keyring: Arc<dyn RewrapKeyring>,
}

/// Wraps the key ring of a running store.
pub trait RewrapKeyring: Send + Sync {
    /// Wraps the key ring under this root key, durably: from then on only this key opens it, and before that only the
    /// previous one. Returns false when this key opened it already. Blocks.
    ///
    /// # Errors
    /// Fails when it could not be written. The key ring is then unchanged.
    fn rewrap(&self, root: &RootKey) -> anyhow::Result<bool>;
}
