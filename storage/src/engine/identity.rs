//! Which store it is: drawn once, kept in the store, and named by every segment of its archive.

use std::fmt;

/// Which store it is. A restored store is another one: it goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreIdentity(pub [u8; 16]);

impl StoreIdentity {
    /// A new one.
    ///
    /// # Errors
    /// When the system gives no randomness.
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
