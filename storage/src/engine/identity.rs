//! The identity of a store: drawn once, kept in the store, and named by every segment of its archive.

use std::fmt;

/// The identity of a store. A restored store has another one, since it continues on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreIdentity(pub [u8; 16]);

impl StoreIdentity {
    /// A new identity.
    ///
    /// # Errors
    /// Fails when the system provides no randomness.
    pub fn draw() -> Result<StoreIdentity, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        Ok(StoreIdentity(bytes))
    }
}

impl fmt::Display for StoreIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
