//! The rates of the SDK's calls that write, which anybody can make without a key or a checkout's address.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Instant;

use till_domain::ids::InstallationId;

use super::shared_rate::SharedRate;
use crate::protocol::api_error::ApiError;
use crate::protocol::dispatch::CallsPerSecond;

/// The seconds whose writes an address may make at once after a pause.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(10).expect("not 0");

/// Limits the writes by one address, and those for one installation. What an address fills a disk with is bounded by the
/// one, whatever installations it names; what all addresses together do to an installation by the other.
pub struct SdkWrites {
    by_address: CallsPerSecond<IpAddr>,
    for_installation: SharedRate,
}

impl SdkWrites {
    /// The limits of writes a second.
    #[must_use]
    pub fn new(by_address: NonZeroU32, for_installation: NonZeroU32) -> SdkWrites {
        let (burst, of) =
            (by_address.saturating_mul(BURST_SECONDS), "`tokenize-card` and `select-payment-method` by one address");
        SdkWrites {
            by_address: CallsPerSecond::with_burst(by_address, burst, of),
            for_installation: SharedRate::new(for_installation),
        }
    }

    /// Counts a call that is going to write.
    ///
    /// # Errors
    /// `RATE_LIMITED`.
    pub(super) fn count(&self, installation_id: InstallationId, address: IpAddr) -> Result<(), ApiError> {
        self.by_address.count(&address)?;
        self.for_installation.count(installation_id, address, Instant::now())
    }
}
