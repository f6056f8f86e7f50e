//! Source addresses of connections.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

/// Addresses over which connections to this machine are spread: a server grants one address a share of its
/// connections only.
const ADDRESSES: u32 = 64;

/// The lowest of them.
const FIRST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The address that the next connection to `server` is bound to: one after the other of 127.0.0.2 to 127.0.0.65 where
/// the server is in 127.0.0.0/8. None leaves the choice to the system.
pub(super) fn next_address(server: SocketAddr) -> Option<IpAddr> {
    static OPENED: AtomicU32 = AtomicU32::new(0);
    // Elsewhere a machine has none of that network but 127.0.0.1.
    let is_spread = cfg!(target_os = "linux") && server.is_ipv4() && server.ip().is_loopback();
    is_spread.then(|| {
        let offset = OPENED.fetch_add(1, Ordering::Relaxed) % ADDRESSES;
        IpAddr::from(Ipv4Addr::from_bits(FIRST.to_bits() + offset))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn connections_to_this_machine_get_64_addresses_in_turn() {
        let server = SocketAddr::from(([127, 0, 0, 1], 80));
        let addresses: BTreeSet<_> = (0..1_000).filter_map(|_| next_address(server)).collect();
        let [first, last] = [[127, 0, 0, 2], [127, 0, 0, 65]].map(IpAddr::from);
        assert_eq!((addresses.len(), addresses.first(), addresses.last()), (64, Some(&first), Some(&last)));
    }

    #[test]
    fn connections_to_other_machines_get_none() {
        for server in ["192.0.2.1:80", "[::1]:80", "[2001:db8::1]:80"] {
            let server: SocketAddr = server.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(next_address(server), None);
        }
    }
}
