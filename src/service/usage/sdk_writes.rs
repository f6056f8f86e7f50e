//! The rates of the SDK's calls that write, which anybody can make without a key or a checkout's address.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Instant;

use till_domain::ids::InstallationId;
use till_protocol::api_error::ApiError;
use till_protocol::dispatch::CallsPerSecond;

use super::shared_rate::SharedRate;

/// The seconds whose writes an address may make at once after a pause.
const BURST_SECONDS: NonZeroU32 = NonZeroU32::new(10).expect("not 0");

/// The bytes of texts in a call beyond each of which it counts once more, since they are kept several times.
const BYTES_OF_A_WRITE: usize = 512;

/// Limits the writes by one address, and those for one installation. What an address fills a disk with is bounded by
/// the one, whatever installations it names; what all addresses together do to an installation by the other.
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

    /// Counts a call that is going to write, with so many bytes of texts.
    ///
    /// # Errors
    /// `RATE_LIMITED`.
    pub(crate) fn count(
        &self,
        installation_id: InstallationId,
        address: IpAddr,
        text_bytes: usize,
    ) -> Result<(), ApiError> {
        let further = u32::try_from(text_bytes / BYTES_OF_A_WRITE).unwrap_or(u32::MAX);
        self.by_address.count_as(&address, NonZeroU32::MIN.saturating_add(further))?;
        self.for_installation.count(installation_id, address, Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn long_texts_count_as_several_writes_of_their_address() {
        let rate = |number: u32| NonZeroU32::new(number).expect("not 0");
        for (text_bytes, expected) in [(0, 50), (511, 50), (512, 25), (1_900, 12), (64 << 10, 1)] {
            let writes = SdkWrites::new(rate(5), rate(200));
            let count = |_| writes.count(InstallationId::from_bytes([1; 16]), Ipv4Addr::LOCALHOST.into(), text_bytes);
            assert_eq!((0..60).map(count).filter(Result::is_ok).count(), expected, "{text_bytes} bytes");
        }
    }
}
