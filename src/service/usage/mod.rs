//! How much keys and installations are used.

mod last_used;
mod sdk_writes;
mod shared_rate;

pub use last_used::LastUsed;
pub use sdk_writes::SdkWrites;
