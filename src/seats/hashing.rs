//! Hashes of passwords. One takes some 20 ms and 19 MiB, so that guessing is slow: at most two are computed at once, on
//! threads of low priority, and who waits is served in rotation by address.

use std::time::Duration;

use argon2::{Algorithm, Argon2, Params, Version};
use till_protocol::api_error::{ApiError, CallEffect};
use till_protocol::connection::ShareOf;
use till_protocol::dispatch::{Concurrency, ConcurrencyLimit};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use crate::counted::PASSWORDS_HASHED;

/// Argon2id with 19 MiB, 2 passes and 1 lane. Source: the contract, section 13, as OWASP advises.
const MEMORY_KIB: u32 = 19 * 1_024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// At most two at once, one of each address. A few hundred addresses are served within some seconds.
const TURNS: Concurrency =
    Concurrency { permits: 2, permits_per_caller: 1, queue: 512, wait_max: Duration::from_secs(10) };

/// By how much the priority of these threads is lowered: beside busy threads they get about a third of what each of
/// those gets.
const NICENESS: i32 = 5;

/// The advised delay before a retry when there was no thread.
const RETRY_SECONDS: u32 = 1;

/// Computes hashes in turns.
pub(super) struct Hashing(ConcurrencyLimit);

impl Hashing {
    pub(super) fn new() -> Hashing {
        Hashing(ConcurrencyLimit::new(TURNS))
    }

    /// The hash of a password, once it is the turn of this address.
    ///
    /// # Errors
    /// `UNAVAILABLE` when that took too long.
    pub(super) async fn hash(
        &self,
        share: ShareOf,
        password: Zeroizing<String>,
        salt: [u8; 16],
    ) -> Result<[u8; 32], ApiError> {
        let unavailable = || ApiError::unavailable(CallEffect::NotDone, RETRY_SECONDS);
        let permit = self.0.acquire(share).await?;
        let (result, computed) = oneshot::channel();
        let work = move || {
            let _lowered = rustix::process::nice(NICENESS);
            let _caller_left = result.send(argon2id(password.as_bytes(), &salt));
            drop(permit);
        };
        std::thread::Builder::new().name("password".to_owned()).spawn(work).map_err(|_| unavailable())?;
        computed.await.map_err(|_| unavailable())
    }
}

fn argon2id(password: &[u8], salt: &[u8; 16]) -> [u8; 32] {
    PASSWORDS_HASHED.inc();
    let params = Params::new(MEMORY_KIB, PASSES, LANES, Some(32)).expect("valid parameters");
    let mut hash = [0; 32];
    let computed =
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(password, salt, &mut hash);
    computed.expect("password, salt and hash have lengths that Argon2 takes");
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: ShareOf = ShareOf::Address(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    #[tokio::test]
    async fn equal_passwords_have_equal_hashes_under_one_salt_only() {
        let hashing = Hashing::new();
        let hash =
            async |password: &str, salt| hashing.hash(ADDRESS, Zeroizing::new(password.to_owned()), [salt; 16]).await;
        let first = hash("a", 1).await.expect("a turn");
        assert_eq!(hash("a", 1).await, Ok(first));
        assert!(hash("a", 2).await != Ok(first) && hash("b", 1).await != Ok(first));
    }

    /// `echo -n correct-horse-battery | argon2 sixteen-bytes-ok -id -t 2 -k 19456 -p 1 -r`
    #[test]
    fn the_hash_is_that_of_other_programs() {
        let hex: String =
            argon2id(b"correct-horse-battery", b"sixteen-bytes-ok").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, GOLDEN);
    }

    const GOLDEN: &str = "e80db78b1d6776323b10f3d274c4704647e352d464a6a2cbbb72f54858138418";
}
