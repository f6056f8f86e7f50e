//! The addresses that deliveries may go to. Merchants choose the destinations, and must not use the server to reach
//! networks that they cannot reach themselves.
//!
//! Sources: the IANA registries of special-purpose IPv4 and IPv6 addresses; RFC 6890, and by network: RFC 1918
//! (private), RFC 6598 (shared), RFC 3927 and 4291 (link-local), RFC 4193 (unique local), RFC 3879 (site-local),
//! RFC 2544 and 5180 (benchmarking), RFC 5737, 3849 and 9637 (documentation), RFC 6052 and 8215 (NAT64), RFC 3056
//! (6to4), RFC 4380 (Teredo).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

use super::allowed_networks::AllowedNetworks;

/// The port of https.
const HTTPS_PORT: u16 = 443;
/// Only privileged programs listen at ports up to this one.
const PRIVILEGED_PORT_MAX: u16 = 1_023;

/// The reason why nothing is delivered to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefusedAddress {
    /// `0.0.0.0` or `::`: this machine.
    #[error("the unspecified address")]
    Unspecified,
    /// The rest of `0.0.0.0/8`.
    #[error("an address of \"this network\"")]
    ThisNetwork,
    /// A private network, by RFC 1918 or as unique local addresses of IPv6.
    #[error("a private address")]
    Private,
    /// `100.64.0.0/10`, between a carrier and its customers.
    #[error("an address of carrier-grade NAT")]
    CarrierGradeNat,
    /// This machine.
    #[error("a loopback address")]
    Loopback,
    /// The same link only.
    #[error("a link-local address")]
    LinkLocal,
    /// `fec0::/10`, which were private before there were unique local addresses.
    #[error("a site-local address")]
    SiteLocal,
    /// The services that tell a virtual machine about itself, with its credentials.
    #[error("a metadata service of a cloud")]
    Metadata,
    /// Networks for examples.
    #[error("an address for documentation")]
    Documentation,
    /// Networks for measurements.
    #[error("an address for benchmarking")]
    Benchmarking,
    /// A group of receivers.
    #[error("a multicast address")]
    Multicast,
    /// Every receiver on the link.
    #[error("the broadcast address")]
    Broadcast,
    /// Given to a protocol, to a translator within a network, or not assigned yet.
    #[error("a reserved address")]
    Reserved,
    /// A public address, without TLS.
    #[error("an address outside of the allowed networks, which takes https")]
    NotForHttp,
}

impl RefusedAddress {
    /// The advice about an address of a developer's own machine or network; empty for the others.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            RefusedAddress::Private | RefusedAddress::Loopback => {
                "; the operator may allow its network: webhook_allowed_networks"
            }
            RefusedAddress::Unspecified
            | RefusedAddress::ThisNetwork
            | RefusedAddress::CarrierGradeNat
            | RefusedAddress::LinkLocal
            | RefusedAddress::SiteLocal
            | RefusedAddress::Metadata
            | RefusedAddress::Documentation
            | RefusedAddress::Benchmarking
            | RefusedAddress::Multicast
            | RefusedAddress::Broadcast
            | RefusedAddress::Reserved
            | RefusedAddress::NotForHttp => "",
        }
    }
}

/// Judges addresses. By default public addresses are taken, and those with TLS only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressPolicy {
    allowed: AllowedNetworks,
}

impl AddressPolicy {
    /// Takes addresses of these networks too, with TLS and without.
    #[must_use]
    pub fn allowing(allowed: AllowedNetworks) -> AddressPolicy {
        AddressPolicy { allowed }
    }

    /// Judges an address that is called with TLS. An IPv4 address within one of IPv6 (IPv4-mapped, IPv4-compatible,
    /// NAT64, 6to4, Teredo) is judged by itself.
    ///
    /// # Errors
    /// [`RefusedAddress`] for one that is not public, unless an allowed network holds it.
    pub fn check(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        match address.to_canonical() {
            address if self.allowed.contains(address) => Ok(()),
            IpAddr::V4(address) => refused_by(&REFUSED_IPV4, |network| network.contains(&address)),
            IpAddr::V6(address) => self.check_ipv6(address),
        }
    }

    /// Judges an address that is called without TLS.
    ///
    /// # Errors
    /// [`RefusedAddress`] for one that no allowed network holds.
    pub fn check_without_tls(&self, address: IpAddr) -> Result<(), RefusedAddress> {
        self.check(address)?;
        let is_allowed = self.allowed.contains(address.to_canonical());
        is_allowed.then_some(()).ok_or(RefusedAddress::NotForHttp)
    }

    /// True when an address may be called at a port: 443, one that needs no privilege to listen at, or any in an
    /// allowed network. Behind the others are mail, remote shells and the like, which nobody receives webhooks with.
    #[must_use]
    pub(super) fn allows_port(&self, address: IpAddr, port: u16) -> bool {
        is_port_of_endpoints(port) || self.allowed.contains(address.to_canonical())
    }

    /// The networks that are allowed although they are not public.
    #[must_use]
    pub fn allowed_networks(&self) -> &AllowedNetworks {
        &self.allowed
    }

    fn check_ipv6(&self, address: Ipv6Addr) -> Result<(), RefusedAddress> {
        match embedded_ipv4(address) {
            Some(embedded) => embedded.iter().try_for_each(|address| self.check(IpAddr::V4(*address))),
            None => check_native_ipv6(address),
        }
    }
}

/// True for the ports at which endpoints are called at any address.
pub(super) const fn is_port_of_endpoints(port: u16) -> bool {
    port == HTTPS_PORT || port > PRIVILEGED_PORT_MAX
}

/// The first network that holds an address says why it is refused.
const REFUSED_IPV4: [(Ipv4Net, RefusedAddress); 20] = [
    (ipv4([0, 0, 0, 0], 32), RefusedAddress::Unspecified),
    (ipv4([0, 0, 0, 0], 8), RefusedAddress::ThisNetwork),
    (ipv4([10, 0, 0, 0], 8), RefusedAddress::Private),
    (ipv4([100, 100, 100, 200], 32), RefusedAddress::Metadata), // Alibaba Cloud.
    (ipv4([100, 64, 0, 0], 10), RefusedAddress::CarrierGradeNat),
    (ipv4([127, 0, 0, 0], 8), RefusedAddress::Loopback),
    (ipv4([168, 63, 129, 16], 32), RefusedAddress::Metadata), // Azure, at an address that looks public.
    (ipv4([169, 254, 169, 254], 32), RefusedAddress::Metadata), // AWS, Azure, Google Cloud and others.
    (ipv4([169, 254, 0, 0], 16), RefusedAddress::LinkLocal),
    (ipv4([172, 16, 0, 0], 12), RefusedAddress::Private),
    (ipv4([192, 0, 0, 0], 24), RefusedAddress::Reserved),
    (ipv4([192, 0, 2, 0], 24), RefusedAddress::Documentation),
    (ipv4([192, 88, 99, 0], 24), RefusedAddress::Reserved), // Relays of 6to4.
    (ipv4([192, 168, 0, 0], 16), RefusedAddress::Private),
    (ipv4([198, 18, 0, 0], 15), RefusedAddress::Benchmarking),
    (ipv4([198, 51, 100, 0], 24), RefusedAddress::Documentation),
    (ipv4([203, 0, 113, 0], 24), RefusedAddress::Documentation),
    (ipv4([224, 0, 0, 0], 4), RefusedAddress::Multicast),
    (ipv4([255, 255, 255, 255], 32), RefusedAddress::Broadcast),
    (ipv4([240, 0, 0, 0], 4), RefusedAddress::Reserved),
];

/// The refused networks of IPv6.
const REFUSED_IPV6: [(Ipv6Net, RefusedAddress); 11] = [
    (ipv6([0, 0, 0, 0, 0, 0, 0, 0], 128), RefusedAddress::Unspecified),
    (ipv6([0, 0, 0, 0, 0, 0, 0, 1], 128), RefusedAddress::Loopback),
    (ipv6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), RefusedAddress::Benchmarking),
    (ipv6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), RefusedAddress::Reserved), // Protocols of the IETF.
    (ipv6([0x2001, 0xDB8, 0, 0, 0, 0, 0, 0], 32), RefusedAddress::Documentation),
    (ipv6([0x3FFF, 0, 0, 0, 0, 0, 0, 0], 20), RefusedAddress::Documentation),
    (ipv6([0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0x254], 128), RefusedAddress::Metadata), // AWS.
    (ipv6([0xFC00, 0, 0, 0, 0, 0, 0, 0], 7), RefusedAddress::Private),
    (ipv6([0xFE80, 0, 0, 0, 0, 0, 0, 0], 10), RefusedAddress::LinkLocal),
    (ipv6([0xFEC0, 0, 0, 0, 0, 0, 0, 0], 10), RefusedAddress::SiteLocal),
    (ipv6([0xFF00, 0, 0, 0, 0, 0, 0, 0], 8), RefusedAddress::Multicast),
];

/// The only addresses of IPv6 that are given to networks of the internet so far. Outside of it are, among others, the
/// addresses of translators within a network (`64:ff9b:1::/48`), since each network chooses the position of the IPv4
/// address in them.
const GLOBAL_UNICAST: Ipv6Net = ipv6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

const fn ipv4(octets: [u8; 4], prefix_length: u8) -> Ipv4Net {
    let [first, second, third, fourth] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(first, second, third, fourth), prefix_length)
}

const fn ipv6(segments: [u16; 8], prefix_length: u8) -> Ipv6Net {
    let [a, b, c, d, e, f, g, h] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), prefix_length)
}

fn refused_by<N>(networks: &[(N, RefusedAddress)], contains: impl Fn(&N) -> bool) -> Result<(), RefusedAddress> {
    let found = networks.iter().find(|(network, _)| contains(network));
    found.map_or(Ok(()), |(_, reason)| Err(*reason))
}

fn check_native_ipv6(address: Ipv6Addr) -> Result<(), RefusedAddress> {
    refused_by(&REFUSED_IPV6, |network| network.contains(&address))?;
    let is_public = GLOBAL_UNICAST.contains(&address);
    is_public.then_some(()).ok_or(RefusedAddress::Reserved)
}

/// The IPv4 addresses to which a packet to this address leads: for Teredo, those of the server and the client.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Vec<Ipv4Addr>> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None, // Unspecified and loopback, which have the form of IPv4-compatible ones.
        [0, 0, 0, 0, 0, 0, high, low] => Some(vec![ipv4_address(high, low)]), // IPv4-compatible.
        [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => Some(vec![ipv4_address(high, low)]), // NAT64.
        [0x2002, high, low, ..] => Some(vec![ipv4_address(high, low)]), // 6to4.
        [0x2001, 0, server_high, server_low, _, _, client_high, client_low] => {
            Some(vec![ipv4_address(server_high, server_low), ipv4_address(!client_high, !client_low)]) // Teredo.
        }
        _ => None,
    }
}

fn ipv4_address(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap_or_else(|_| panic!("{text} is an address"))
    }

    fn allowing(networks: &str) -> AddressPolicy {
        AddressPolicy::allowing(networks.parse().expect("they are networks"))
    }

    #[track_caller]
    fn assert_refused(reason: RefusedAddress, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(AddressPolicy::default().check(address(text)), Err(reason), "{text}");
        }
    }

    #[track_caller]
    fn assert_taken(policy: &AddressPolicy, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(policy.check(address(text)), Ok(()), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_taken() {
        let ipv4 = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "223.255.255.255"];
        let ipv6 = ["2606:4700:4700::1111", "2001:4860:4860::8888", "2400:cb00::1", "2a00:1450:4001::1"];
        assert_taken(&AddressPolicy::default(), &ipv4);
        assert_taken(&AddressPolicy::default(), &ipv6);
    }

    #[test]
    fn the_neighbours_of_refused_networks_are_taken() {
        let ipv4 = [
            ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
            [
                "168.63.129.15",
                "168.63.129.17",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "191.255.255.255",
            ],
            [
                "192.0.1.0",
                "192.0.3.0",
                "192.88.98.255",
                "192.88.100.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
            ],
            [
                "198.20.0.0",
                "198.51.99.255",
                "198.51.101.0",
                "203.0.112.255",
                "203.0.114.0",
                "223.255.255.255",
                "1.1.1.1",
            ],
        ];
        ipv4.iter().for_each(|addresses| assert_taken(&AddressPolicy::default(), addresses));
        let ipv6 = ["2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "3ffe:ffff::", "3fff:1000::"];
        assert_taken(&AddressPolicy::default(), &ipv6);
    }

    #[test]
    fn unspecified_addresses_are_refused() {
        assert_refused(RefusedAddress::Unspecified, &["0.0.0.0", "::"]);
    }

    #[test]
    fn addresses_of_this_network_are_refused() {
        assert_refused(RefusedAddress::ThisNetwork, &["0.0.0.1", "0.1.2.3", "0.255.255.255"]);
    }

    #[test]
    fn private_addresses_are_refused() {
        let ipv4 = ["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"];
        assert_refused(RefusedAddress::Private, &ipv4);
    }

    #[test]
    fn unique_local_addresses_are_refused() {
        assert_refused(RefusedAddress::Private, &["fc00::", "fd12:3456:789a::1", "fdff:ffff::ffff"]);
    }

    #[test]
    fn addresses_of_carrier_grade_nat_are_refused() {
        assert_refused(RefusedAddress::CarrierGradeNat, &["100.64.0.0", "100.100.0.1", "100.127.255.255"]);
    }

    #[test]
    fn loopback_addresses_are_refused() {
        assert_refused(RefusedAddress::Loopback, &["127.0.0.0", "127.0.0.1", "127.1.2.3", "127.255.255.255", "::1"]);
    }

    #[test]
    fn link_local_addresses_are_refused() {
        let addresses = ["169.254.0.0", "169.254.1.1", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::1"];
        assert_refused(RefusedAddress::LinkLocal, &addresses);
    }

    #[test]
    fn site_local_addresses_are_refused() {
        assert_refused(RefusedAddress::SiteLocal, &["fec0::", "fec0::1", "feff:ffff::1"]);
    }

    #[test]
    fn metadata_services_are_refused() {
        let addresses = ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16"];
        assert_refused(RefusedAddress::Metadata, &addresses);
    }

    #[test]
    fn addresses_for_documentation_are_refused() {
        let ipv4 = ["192.0.2.0", "192.0.2.255", "198.51.100.1", "203.0.113.255"];
        assert_refused(RefusedAddress::Documentation, &ipv4);
        assert_refused(RefusedAddress::Documentation, &["2001:db8::1", "2001:db8:ffff::", "3fff::1", "3fff:fff::"]);
    }

    #[test]
    fn addresses_for_benchmarking_are_refused() {
        assert_refused(RefusedAddress::Benchmarking, &["198.18.0.0", "198.19.255.255", "2001:2::1", "2001:2:0:ffff::"]);
    }

    #[test]
    fn multicast_addresses_are_refused() {
        assert_refused(RefusedAddress::Multicast, &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::"]);
    }

    #[test]
    fn the_broadcast_address_is_refused() {
        assert_refused(RefusedAddress::Broadcast, &["255.255.255.255"]);
    }

    #[test]
    fn reserved_addresses_are_refused() {
        let ipv4 = ["192.0.0.0", "192.0.0.192", "192.88.99.1", "240.0.0.0", "250.1.2.3", "255.255.255.254"];
        assert_refused(RefusedAddress::Reserved, &ipv4);
        let ipv6 =
            ["100::1", "400::", "1fff:ffff::", "2001:1::1", "2001:10::1", "2001:20::1", "4000::", "5f00::1", "fe00::"];
        assert_refused(RefusedAddress::Reserved, &ipv6);
    }

    #[test]
    fn ipv4_mapped_addresses_are_judged_by_the_ipv4_address() {
        assert_refused(RefusedAddress::Loopback, &["::ffff:127.0.0.1", "::ffff:7f00:1"]);
        assert_refused(RefusedAddress::Metadata, &["::ffff:169.254.169.254"]);
        assert_refused(RefusedAddress::Unspecified, &["::ffff:0.0.0.0"]);
        assert_taken(&AddressPolicy::default(), &["::ffff:8.8.8.8"]);
    }

    #[test]
    fn ipv4_compatible_addresses_are_judged_by_the_ipv4_address() {
        assert_refused(RefusedAddress::Private, &["::10.0.0.1", "::c0a8:101"]);
        assert_refused(RefusedAddress::ThisNetwork, &["::2"]);
        assert_taken(&AddressPolicy::default(), &["::8.8.8.8"]);
    }

    #[test]
    fn addresses_of_nat64_are_judged_by_the_ipv4_address() {
        assert_refused(RefusedAddress::Private, &["64:ff9b::10.0.0.1"]);
        assert_refused(RefusedAddress::Metadata, &["64:ff9b::169.254.169.254"]);
        assert_taken(&AddressPolicy::default(), &["64:ff9b::8.8.8.8"]);
    }

    #[test]
    fn addresses_of_translators_within_a_network_are_refused() {
        let addresses = ["64:ff9b:1::", "64:ff9b:1::10.0.0.1", "64:ff9b:1:a00:0:100::", "64:ff9b:1::8.8.8.8"];
        assert_refused(RefusedAddress::Reserved, &addresses);
    }

    #[test]
    fn addresses_of_6to4_are_judged_by_the_ipv4_address() {
        assert_refused(RefusedAddress::Private, &["2002:a00:1::1", "2002:c0a8:101:1::"]);
        assert_refused(RefusedAddress::Loopback, &["2002:7f00:1::"]);
        assert_taken(&AddressPolicy::default(), &["2002:808:808::1"]);
    }

    #[test]
    fn teredo_addresses_are_judged_by_their_ipv4_addresses() {
        // The client's address is stored with its bits inverted: f5ff:fffe is 10.0.0.1, f7f7:f7f7 is 8.8.8.8.
        assert_refused(RefusedAddress::Private, &["2001:0:808:808::f5ff:fffe", "2001:0:a00:1::f7f7:f7f7"]);
        assert_refused(RefusedAddress::Loopback, &["2001:0:808:808:0:0:80ff:fffe"]);
        assert_taken(&AddressPolicy::default(), &["2001:0:808:808::f7f7:f7f7"]);
    }

    #[test]
    fn an_allowed_network_permits_only_its_own_addresses() {
        let policy = allowing("127.0.0.0/8,fd00::/8,64:ff9b:1::/48");
        assert_taken(&policy, &["127.0.0.1", "fd00::1", "64:ff9b:1::1", "8.8.8.8"]);
        assert_eq!(policy.check(address("10.0.0.1")), Err(RefusedAddress::Private));
        assert_eq!(policy.check(address("::1")), Err(RefusedAddress::Loopback));
        assert_eq!(policy.check(address("fc00::1")), Err(RefusedAddress::Private));
    }

    #[test]
    fn an_allowed_ipv4_network_holds_for_forms_of_ipv6_too() {
        let policy = allowing("10.0.0.0/8");
        let forms = ["::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::", "2001:0:808:808::f5ff:fffe"];
        assert_taken(&policy, &forms);
        assert_eq!(policy.check(address("::ffff:127.0.0.1")), Err(RefusedAddress::Loopback));
    }

    #[test]
    fn an_allowed_ipv6_network_has_no_ipv4_mapped_addresses() {
        assert_eq!(allowing("::/0").check(address("::ffff:127.0.0.1")), Err(RefusedAddress::Loopback));
    }

    #[test]
    fn without_tls_only_allowed_networks_are_taken() {
        let policy = allowing("127.0.0.0/8");
        assert_eq!(policy.check_without_tls(address("127.0.0.1")), Ok(()));
        assert_eq!(policy.check_without_tls(address("::ffff:127.0.0.1")), Ok(()));
        assert_eq!(policy.check_without_tls(address("8.8.8.8")), Err(RefusedAddress::NotForHttp));
        assert_eq!(policy.check_without_tls(address("10.0.0.1")), Err(RefusedAddress::Private));
        assert_eq!(AddressPolicy::default().check_without_tls(address("8.8.8.8")), Err(RefusedAddress::NotForHttp));
    }
}
