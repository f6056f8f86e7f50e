//! The connections of a listener: their limits, in all and from one address, and the eviction of one to make room for a
//! new one. One that never showed a valid key gives way first, then one of the merchant that has most.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use ipnet::IpNet;
use parking_lot::Mutex;

use super::forwarded_header::holds;
use super::share::{ShareOf, address_group};
use crate::count::Count;

/// The limits that a connection may reach, as metrics name them.
const PER_ADDRESS: &str = "per_address";
const IN_ALL: &str = "in_all";

/// The idle time of a connection while a request of it is in progress.
const BUSY: u64 = u64::MAX;

/// The limits of a listener's connections, and their idle time.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections in all.
    pub in_all: usize,
    /// Connections from one address, or from one network (/64) for IPv6. When one address may have all of them,
    /// addresses are not counted.
    pub per_address: usize,
    /// The networks of proxies, whose addresses have no limit of their own.
    pub proxies: Vec<IpNet>,
    /// The time after which a connection without useful activity is closed.
    pub idle_max: Duration,
}

/// The connections of a listener.
pub(crate) struct ConnectionTable {
    pub(crate) limits: ConnectionLimits,
    started: Instant,
    listener: &'static str,
    counters: Arc<dyn Count>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Connections, without those that are being evicted.
    open: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Connections without a key that may be evicted, the one that has been idle for longest first.
    evictable: BTreeMap<EvictionPosition, Arc<Eviction>>,
    /// Connections by the owner of the key that they showed last, and by their numbers.
    by_owner: HashMap<ShareOf, HashMap<u64, Arc<Eviction>>>,
    last_number: u64,
}

/// The time since which a connection is idle, and its number.
pub(crate) type EvictionPosition = (Instant, u64);

/// Tells a connection, from another thread, that it is evicted.
#[derive(Default)]
pub(crate) struct Eviction {
    has_begun: AtomicBool,
    task: AtomicWaker,
    /// The time since which a connection that showed a key is idle, in milliseconds of its table, or [`BUSY`].
    idle_since_ms: AtomicU64,
}

impl ConnectionLimits {
    /// A limit in all, which a single address may use up.
    #[must_use]
    pub fn in_all(connections: usize, idle_max: Duration) -> ConnectionLimits {
        ConnectionLimits { in_all: connections, per_address: connections, proxies: Vec::new(), idle_max }
    }
}

impl ConnectionTable {
    /// An empty table; `listener` is its name in metrics.
    pub(crate) fn new(limits: ConnectionLimits, listener: &'static str, counters: Arc<dyn Count>) -> ConnectionTable {
        counters.listens(listener, &[PER_ADDRESS, IN_ALL]);
        ConnectionTable { limits, started: Instant::now(), listener, counters, counts: Mutex::default() }
    }

    /// The counters of its listener.
    pub(crate) fn counters(&self) -> &dyn Count {
        &*self.counters
    }

    /// Admits a connection from `peer`. When there are too many, it evicts one that is idle: one that never showed a
    /// valid key, or one of the merchant that has most of them. The new connection is refused when there is none to
    /// evict, or when its address has its limit. Returns its number, and its address where that is counted.
    pub(crate) fn admit(&self, peer: IpAddr) -> Option<(u64, Option<IpAddr>)> {
        let (limits, peer) = (&self.limits, peer.to_canonical());
        let has_share = limits.per_address < limits.in_all && !holds(&limits.proxies, peer);
        let address = has_share.then(|| address_group(peer));
        let admitted = self.counts.lock().admit(limits, address, &*self.counters);
        let number = admitted.inspect_err(|limit| self.counters.refused_connection(limit)).ok()?;
        self.counters.connected(self.listener, 1);
        Some((number, address))
    }

    /// Permits the eviction of a connection, unless that has begun.
    pub(crate) fn permit_eviction(&self, position: EvictionPosition, eviction: &Arc<Eviction>) {
        if !eviction.has_begun() {
            self.counts.lock().evictable.insert(position, Arc::clone(eviction));
        }
    }

    /// Forbids the eviction again.
    pub(crate) fn forbid_eviction(&self, position: EvictionPosition) {
        self.counts.lock().evictable.remove(&position);
    }

    /// Records that a connection has shown a key of `owner`, after one of `before`.
    pub(crate) fn set_owner(&self, number: u64, eviction: &Arc<Eviction>, before: Option<ShareOf>, owner: ShareOf) {
        let mut counts = self.counts.lock();
        counts.disown(before, number);
        if !eviction.has_begun() {
            counts.by_owner.entry(owner).or_default().insert(number, Arc::clone(eviction));
        }
    }

    /// Records that a connection which showed a key is idle from now on, or busy.
    pub(crate) fn set_idle(&self, eviction: &Eviction, idle_since: Option<Instant>) {
        let ms = |since: Instant| u64::try_from(since.duration_since(self.started).as_millis()).unwrap_or(BUSY);
        eviction.idle_since_ms.store(idle_since.map_or(BUSY, ms), Ordering::Relaxed);
    }

    /// Removes a connection.
    pub(crate) fn remove(&self, number: u64, address: Option<IpAddr>, owner: Option<ShareOf>, eviction: &Eviction) {
        self.counters.connected(self.listener, -1);
        let mut counts = self.counts.lock();
        counts.disown(owner, number);
        counts.open -= usize::from(!eviction.has_begun());
        let Some(address) = address else { return };
        match counts.by_address.remove(&address) {
            None | Some(0 | 1) => {}
            Some(count) => drop(counts.by_address.insert(address, count - 1)),
        }
    }
}

impl Counts {
    /// Counts another connection and returns its number, or the limit that it exceeds.
    fn admit(
        &mut self,
        limits: &ConnectionLimits,
        address: Option<IpAddr>,
        counters: &dyn Count,
    ) -> Result<u64, &'static str> {
        let from_there = address.and_then(|address| self.by_address.get(&address)).copied().unwrap_or(0);
        if from_there >= limits.per_address && address.is_some() {
            return Err(PER_ADDRESS);
        }
        if self.open >= limits.in_all && !self.evict(counters) {
            return Err(IN_ALL);
        }
        self.open += 1;
        self.last_number += 1;
        address.map(|address| self.by_address.insert(address, from_there + 1));
        Ok(self.last_number)
    }

    /// Evicts the connection that has been idle for longest: of those without a key, else of the owner that has most.
    /// False when there is none.
    fn evict(&mut self, counters: &dyn Count) -> bool {
        let without_key = self.evictable.pop_first().map(|(_, eviction)| eviction);
        let Some(eviction) = without_key.or_else(|| self.take_idlest_of_largest_owner()) else { return false };
        self.open -= 1;
        counters.evicted_connection();
        eviction.has_begun.store(true, Ordering::Release);
        eviction.task.wake();
        true
    }

    /// The connection that has been idle for longest, of the owner that has most connections. Owners that are busy on
    /// all of theirs are left out.
    fn take_idlest_of_largest_owner(&mut self) -> Option<Arc<Eviction>> {
        let idle = self.by_owner.iter().filter_map(|(owner, connections)| {
            let idle_since = connections.iter().map(|(number, eviction)| (eviction.idle_since(), *number)).min();
            let (since, number) = idle_since.filter(|(since, _)| *since != BUSY)?;
            Some((Reverse(connections.len()), since, *owner, number))
        });
        let (_, _, owner, number) = idle.min()?;
        self.by_owner.get_mut(&owner)?.remove(&number)
    }

    fn disown(&mut self, owner: Option<ShareOf>, number: u64) {
        let Some(Entry::Occupied(mut connections)) = owner.map(|owner| self.by_owner.entry(owner)) else { return };
        connections.get_mut().remove(&number);
        if connections.get().is_empty() {
            connections.remove();
        }
    }
}

impl Eviction {
    fn idle_since(&self) -> u64 {
        self.idle_since_ms.load(Ordering::Relaxed)
    }

    fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Ready once the connection is evicted.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        self.task.register(context.waker());
        if self.has_begun() { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::super::open_connection::OpenConnection;
    use super::*;
    use crate::count::Uncounted;

    const MERCHANT: ShareOf = ShareOf::Merchant([1; 16]);

    fn table(in_all: usize, per_address: usize) -> Arc<ConnectionTable> {
        let (proxies, idle_max) = (vec!["10.0.0.0/8".parse().expect("a network")], Duration::from_secs(60));
        Arc::new(ConnectionTable::new(
            ConnectionLimits { in_all, per_address, proxies, idle_max },
            "test",
            Arc::new(Uncounted),
        ))
    }

    fn from(table: &Arc<ConnectionTable>, address: &str) -> Option<OpenConnection> {
        OpenConnection::admit(table, address.parse().expect("an address"))
    }

    fn is_evicted(connection: &OpenConnection) -> bool {
        connection.eviction.poll(&Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn an_address_has_its_share_and_a_proxy_may_have_all() {
        let table = table(4, 1);
        let held = ["192.0.2.1", "2001:db8::1", "10.0.0.1", "10.0.0.1"].map(|address| from(&table, address));
        assert!(held.iter().all(Option::is_some));
        for of_an_address_with_its_share in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::2"] {
            assert!(from(&table, of_an_address_with_its_share).is_none(), "{of_an_address_with_its_share}");
        }
        assert!(!held.iter().flatten().any(is_evicted));
        assert!(from(&table, "10.0.0.2").is_some() && held.iter().flatten().any(is_evicted));
        drop(held);
        assert!(table.counts.lock().by_address.is_empty() && table.counts.lock().open == 0);
    }

    #[test]
    fn the_longest_idle_without_a_key_is_ended_for_another_one() {
        let table = table(3, 9);
        let [first, second, third] = [1, 2, 3].map(|_| from(&table, "192.0.2.1").expect("there is room"));
        first.show_key(MERCHANT);
        let new = from(&table, "192.0.2.2");
        assert!(new.is_some() && is_evicted(&second));
        assert!(!is_evicted(&first) && !is_evicted(&third));
        drop((first, second, third));
        assert_eq!(table.counts.lock().open, 1, "the evicted one is not counted twice");
        drop(new);
        assert!(table.counts.lock().evictable.is_empty());
    }

    #[test]
    fn a_connection_that_is_being_ended_is_not_ended_again() {
        let table = table(1, 9);
        let first = from(&table, "192.0.2.1").expect("there is room");
        let second = from(&table, "192.0.2.1").expect("the first is ended");
        first.permit_eviction();
        second.show_key(MERCHANT);
        assert!(from(&table, "192.0.2.1").is_none());
    }

    #[test]
    fn the_idlest_of_the_merchant_with_most_gives_way() {
        let table = table(8, 8);
        let held: Vec<_> = (0..8).map(|_| from(&table, "192.0.2.1").expect("there is room")).collect();
        let (others, of_merchant) = held.split_at(3);
        others.iter().for_each(|connection| connection.show_key(ShareOf::Merchant([2; 16])));
        of_merchant.iter().for_each(|connection| connection.show_key(MERCHANT));
        assert!(from(&table, "192.0.2.2").is_none(), "requests are in progress on all of them");
        held.iter().for_each(OpenConnection::permit_eviction);
        table.set_idle(&of_merchant[0].eviction, Some(Instant::now() + Duration::from_secs(1)));
        let new = (0..2).map(|_| from(&table, "192.0.2.2").expect("one gives way"));
        let new: Vec<_> = new.inspect(|connection| connection.show_key(ShareOf::Merchant([3; 16]))).collect();
        assert_eq!(of_merchant.iter().filter(|connection| is_evicted(connection)).count(), 2);
        assert!(!is_evicted(&of_merchant[0]), "it was busy last");
        assert!(!others.iter().any(is_evicted), "they are no more than the largest has");
        drop((held, new));
        assert!(table.counts.lock().by_owner.is_empty() && table.counts.lock().open == 0);
    }

    #[test]
    fn four_merchants_with_a_quarter_each_cannot_hold_all_connections() {
        let table = table(8, 8);
        let held: Vec<_> = (0..8).map(|_| from(&table, "192.0.2.1").expect("there is room")).collect();
        for (number, connection) in (0..).zip(&held) {
            connection.show_key(ShareOf::Merchant([number / 2; 16]));
            connection.permit_eviction();
        }
        let new = (0..4).map(|_| from(&table, "192.0.2.2").expect("one gives way"));
        let _new: Vec<_> = new.inspect(|connection| connection.show_key(ShareOf::Merchant([9; 16]))).collect();
        let left = |merchant: usize| held[2 * merchant..][..2].iter().filter(|held| !is_evicted(held)).count();
        assert_eq!([0, 1, 2, 3].map(left), [1; 4], "one of each, since each has most in turn");
    }
}
