//! The networks to which an operator allows deliveries although they are not public, for development and for receivers
//! of the operator's own.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

/// Networks in the list, at most. Every address that is called is compared with each.
pub const ALLOWED_NETWORKS_MAX: usize = 100;

/// A list of networks, such as `127.0.0.0/8,::1/128`; by default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedNetworks(Vec<IpNet>);

/// The text is no list of networks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowedNetworksError {
    /// An entry is not a network.
    #[error(
        "{entry:?} is not a network: write an address and the length of its prefix, such as 10.0.0.0/8 or fd00::/8"
    )]
    NoNetwork {
        /// The entry.
        entry: String,
    },
    /// An address within a network was given, so that it is not clear which network is meant.
    #[error("{entry} has bits after its prefix: write {network}")]
    BitsAfterPrefix {
        /// The entry.
        entry: String,
        /// The network that the entry's prefix names.
        network: IpNet,
    },
    /// IPv4 addresses in the form of IPv6, which are judged as IPv4 addresses.
    #[error("{entry} holds IPv4-mapped addresses: write the IPv4 network")]
    Ipv4Mapped {
        /// The entry.
        entry: String,
    },
    /// The list is too long.
    #[error("must be at most {ALLOWED_NETWORKS_MAX} networks")]
    TooMany,
}

impl AllowedNetworks {
    /// True when one of the networks holds the address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The networks.
    #[must_use]
    pub fn networks(&self) -> &[IpNet] {
        &self.0
    }

    /// True when no network is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for AllowedNetworks {
    type Err = AllowedNetworksError;

    /// Reads networks in CIDR notation, separated by commas.
    fn from_str(text: &str) -> Result<AllowedNetworks, AllowedNetworksError> {
        let networks: Vec<IpNet> =
            text.split(',').map(|entry| parse_network(entry.trim())).collect::<Result<_, _>>()?;
        let fits = networks.len() <= ALLOWED_NETWORKS_MAX;
        fits.then_some(AllowedNetworks(networks)).ok_or(AllowedNetworksError::TooMany)
    }
}

fn parse_network(entry: &str) -> Result<IpNet, AllowedNetworksError> {
    let network: IpNet = entry.parse().map_err(|_| AllowedNetworksError::NoNetwork { entry: entry.to_owned() })?;
    if network.trunc() != network {
        return Err(AllowedNetworksError::BitsAfterPrefix { entry: entry.to_owned(), network: network.trunc() });
    }
    if network.addr().to_canonical() != network.addr() {
        return Err(AllowedNetworksError::Ipv4Mapped { entry: entry.to_owned() });
    }
    Ok(network)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("it is an address")
    }

    fn refused(text: &str) -> String {
        text.parse::<AllowedNetworks>().expect_err("it is no list of networks").to_string()
    }

    #[test]
    fn addresses_are_contained_up_to_the_edges_of_each_network() {
        let networks: AllowedNetworks = "127.0.0.0/8, 10.1.2.0/30,fd00::/8".parse().expect("three networks");
        for inside in ["127.0.0.0", "127.255.255.255", "10.1.2.3", "fd00::1", "fdff:ffff::"] {
            assert!(networks.contains(address(inside)), "{inside}");
        }
        for outside in ["126.255.255.255", "128.0.0.0", "10.1.2.4", "10.1.1.255", "fe00::", "fc00::", "::127.0.0.1"] {
            assert!(!networks.contains(address(outside)), "{outside}");
        }
    }

    #[test]
    fn no_network_is_allowed_by_default() {
        let networks = AllowedNetworks::default();
        assert!(networks.is_empty() && !networks.contains(address("127.0.0.1")));
        assert!(!"0.0.0.0/0".parse::<AllowedNetworks>().expect("a network").is_empty());
    }

    #[test]
    fn an_invalid_network_is_refused_with_an_example() {
        for entry in ["", "10.0.0.1", "10.0.0.0/33", "10.0.0/8", "::/129", "localhost", "10.0.0.0/8;::1/128"] {
            let message = format!(
                "{entry:?} is not a network: write an address and the length of its prefix, such as 10.0.0.0/8 or \
                    fd00::/8"
            );
            assert_eq!(refused(entry), message);
        }
        assert_eq!(refused("10.0.0.0/8,"), refused(""));
    }

    #[test]
    fn an_address_within_a_network_is_refused_with_the_network() {
        assert_eq!(refused("10.1.2.3/8"), "10.1.2.3/8 has bits after its prefix: write 10.0.0.0/8");
        assert_eq!(refused("fd00::1/64"), "fd00::1/64 has bits after its prefix: write fd00::/64");
    }

    #[test]
    fn ipv4_networks_are_written_as_such() {
        assert_eq!(
            refused("::ffff:10.0.0.0/104"),
            "::ffff:10.0.0.0/104 holds IPv4-mapped addresses: write the IPv4 network"
        );
    }

    #[test]
    fn a_list_has_at_most_a_hundred_networks() {
        let list = |count: usize| vec!["10.0.0.0/8"; count].join(",");
        assert!(list(ALLOWED_NETWORKS_MAX).parse::<AllowedNetworks>().is_ok());
        assert_eq!(refused(&list(ALLOWED_NETWORKS_MAX + 1)), "must be at most 100 networks");
    }
}
