//! What the operator may have a running process do to itself.

use std::sync::Arc;

use till_storage::vault::RootKey;

use super::reloads::Reloads;

/// What a process with files and a disk has, and a test in memory has not.
pub struct Operations {
    /// What is read anew at the operator's word.
    pub reloads: Arc<Reloads>,
    /// What wraps the key ring.
    pub keyring: Arc<dyn RewrapKeyring>,
}

/// Wraps the key ring of a running store.
pub trait RewrapKeyring: Send + Sync {
    /// Has the key ring open under this root key, and no other, from the moment on when that is durable; until then it
    /// opens under the one before. Whether it did not yet. Blocks.
    ///
    /// # Errors
    /// When that could not be written; the key ring is what it was.
    fn rewrap(&self, root: &RootKey) -> anyhow::Result<bool>;
}
