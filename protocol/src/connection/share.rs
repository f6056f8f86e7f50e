//! The callers among whom the server is shared.

use std::net::{IpAddr, Ipv6Addr};

/// The caller whose share of the permits and of the queue a call counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShareOf {
    /// A merchant, by the bytes of its id.
    Merchant([u8; 16]),
    /// Callers without a key, by their address or network.
    Address(IpAddr),
    /// The operator.
    Operator,
}

/// The part of an address that tells callers apart: the whole of an IPv4 address, but only the network of an IPv6
/// address, since its holder has 2^64 addresses in that network.
#[must_use]
pub fn address_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_caller() {
        let group = |text: &str| text.parse().map(address_group);
        assert_eq!(group("2001:db8::1"), group("2001:db8::ffff:1:2:3"));
        assert_ne!(group("2001:db8::1"), group("2001:db8:0:1::1"));
        assert_ne!(group("192.0.2.1"), group("192.0.2.2"));
        assert_eq!(group("::ffff:192.0.2.1"), group("192.0.2.1"));
    }
}
