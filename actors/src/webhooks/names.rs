//! The names of endpoints, looked up: the threads of look-ups are counted for the merchant that they are for.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use till_domain::ids::MerchantId;

use super::limits::LOOKUPS_MAX;
use super::shares::MerchantShares;
use crate::outgoing::Lookups;

/// The pause before a name is tried again while too many are looked up.
const LOOK_UP_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// The pending addresses of a name.
pub type Resolving<'n> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'n>>;

/// Finds the addresses of names.
pub trait ResolveNames: Send + Sync {
    /// The addresses that a name has now, in the order in which they are to be tried. A merchant's attempt needs them.
    fn addresses_of<'n>(&'n self, merchant_id: MerchantId, name: &'n str) -> Resolving<'n>;
}

/// Resolves names by the system's resolver. Attempts of a merchant that need the same name at the same time share one
/// look-up, so that one name takes one of its permits.
pub struct SystemNames {
    lookups: Lookups<MerchantId>,
    permits: Arc<MerchantShares>,
}

impl SystemNames {
    /// The system's resolver.
    #[must_use]
    pub fn new() -> SystemNames {
        SystemNames::with_lookups(LOOKUPS_MAX)
    }

    /// The system's resolver, which looks at most this number of names up at once.
    pub(super) fn with_lookups(lookups_max: usize) -> SystemNames {
        SystemNames { lookups: Lookups::system(), permits: MerchantShares::new(lookups_max) }
    }
}

impl Default for SystemNames {
    fn default() -> SystemNames {
        SystemNames::new()
    }
}

impl ResolveNames for SystemNames {
    fn addresses_of<'n>(&'n self, merchant_id: MerchantId, name: &'n str) -> Resolving<'n> {
        Box::pin(async move {
            let lookup = loop {
                match self.lookups.begin(merchant_id, name, || self.permits.enter(merchant_id)) {
                    Some(lookup) => break lookup,
                    None => tokio::time::sleep(LOOK_UP_AGAIN_AFTER).await,
                }
            };
            lookup.addresses().await
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use parking_lot::{Condvar, Mutex};
    use tokio::time::timeout;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const SHORT: Duration = Duration::from_millis(100);
    const AMPLE: Duration = Duration::from_secs(10);

    /// A resolver that answers for names beginning with "silent" only after it is let go.
    struct HangingResolver {
        names: SystemNames,
        calls: Arc<AtomicUsize>,
        gate: Arc<(Mutex<bool>, Condvar)>,
    }

    impl HangingResolver {
        fn new(lookups_max: usize) -> HangingResolver {
            let (calls, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new((Mutex::new(false), Condvar::new())));
            let (counted, waits) = (Arc::clone(&calls), Arc::clone(&gate));
            let look_up = move |name: &str| {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut is_open = waits.0.lock();
                while name.starts_with("silent") && !*is_open {
                    waits.1.wait(&mut is_open);
                }
                if name == "unknown" { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(vec![ADDRESS]) }
            };
            let (lookups, permits) = (Lookups::with_resolver(look_up), MerchantShares::new(lookups_max));
            HangingResolver { names: SystemNames { lookups, permits }, calls, gate }
        }

        async fn find(&self, merchant: u8, name: &str, patience: Duration) -> Option<Vec<IpAddr>> {
            let found = self.names.addresses_of(MerchantId::from_bytes([merchant; 16]), name);
            timeout(patience, found).await.ok().map(Result::unwrap_or_default)
        }

        fn let_go(&self) {
            *self.gate.0.lock() = true;
            self.gate.1.notify_all();
        }
    }

    #[tokio::test]
    async fn names_that_hang_take_a_part_of_the_lookups_only() {
        let resolver = HangingResolver::new(16);
        for name in ["silent.example", "silent.test", "silent.invalid"] {
            assert_eq!(resolver.find(1, name, SHORT).await, None, "{name}");
        }
        assert_eq!(resolver.calls.load(Ordering::SeqCst), 2, "an eighth, also after their attempts were cut off");
        assert_eq!(resolver.find(1, "shop.example", SHORT).await, None);
        assert_eq!(resolver.find(2, "shop.example", AMPLE).await, Some(vec![ADDRESS]));
        resolver.let_go();
        assert_eq!(resolver.find(1, "shop.example", AMPLE).await, Some(vec![ADDRESS]));
    }

    #[tokio::test]
    async fn attempts_that_need_one_name_share_a_look_up() {
        let resolver = HangingResolver::new(16);
        let find = || resolver.find(1, "silent.example", AMPLE);
        let release = async {
            tokio::time::sleep(SHORT).await;
            resolver.let_go();
        };
        let (first, second, third, ()) = tokio::join!(find(), find(), find(), release);
        assert_eq!([first, second, third], [(); 3].map(|()| Some(vec![ADDRESS])));
        assert_eq!(resolver.calls.load(Ordering::SeqCst), 1);
        let later = async {
            while resolver.calls.load(Ordering::SeqCst) == 1 {
                assert_eq!(find().await, Some(vec![ADDRESS]));
                tokio::time::sleep(LOOK_UP_AGAIN_AFTER).await; // The thread of the look-up ends after its answer.
            }
        };
        timeout(AMPLE, later).await.expect("a later attempt looks it up again");
    }

    #[tokio::test]
    async fn a_name_that_is_not_found_has_no_address() {
        assert_eq!(HangingResolver::new(16).find(1, "unknown", AMPLE).await, Some(Vec::new()));
    }
}
