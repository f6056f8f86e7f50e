//! The rate of the calls that write for one installation, which all its addresses share.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use till_domain::ids::InstallationId;
use till_protocol::api_error::ApiError;

/// The owner of the calls, for the message to a refused caller.
const OF: &str = "`tokenize-card` and `select-payment-method` for one installation";

/// The writes that a bucket holds, as the time in which they drain.
const CAPACITY: Duration = Duration::from_secs(10);

/// The level up to which everybody may write.
const HALF: Duration = Duration::from_secs(5);

/// The level from which on the writes of each address are counted, so that there are counts when the half is reached.
const COUNTED_FROM: Duration = Duration::from_secs(1);

/// The time for which a write is counted, and at most twice that.
const WINDOW: Duration = Duration::from_secs(10);

/// Writes of one address that do not lower its limit: those of a payment, and one more. Else a crowd of customers would
/// be let in with its first writes, and never with its second ones.
const WRITES_OF_A_PAYMENT: u32 = 3;

/// The step by which each further write lowers the limit.
const STEP: Duration = Duration::from_millis(100);

/// The number of buckets at which drained ones are first removed.
const BUCKETS_BEFORE_SWEEP: usize = 10_000;

/// Limits the writes for each installation, and refuses those first who write most.
///
/// A leaky bucket for each installation holds the writes of ten seconds, and drains at the rate. While it is not half
/// full, everybody may write. Above that an address may fill it the less far, the more it has written within the last
/// ten to twenty seconds: each write beyond three lowers its limit by a hundredth of the bucket, down to the half (a
/// trunk reservation in favour of those who write little). So the level rests where the addresses that write most are
/// refused, each at its even share of the rate, and the rest of the bucket is for the others. It takes more than 400
/// addresses to look like as many customers.
///
/// Only installations that exist have a bucket, for as long as something is in it. Addresses are remembered while it is
/// a tenth full, with the writes that were let in: those of at most thirty seconds.
pub(super) struct SharedRate {
    writes_per_second: NonZeroU32,
    /// The time in which one write drains.
    write: Duration,
    buckets: Mutex<Buckets>,
}

struct Buckets {
    of: HashMap<InstallationId, Bucket>,
    sweep_at: usize,
}

struct Bucket {
    drained_at: Instant,
    /// The writes of each address; none before the bucket is a tenth full, and once it has drained.
    recent: Option<Box<RecentWrites>>,
}

struct RecentWrites {
    window_began: Instant,
    window: HashMap<IpAddr, u32>,
    window_before: HashMap<IpAddr, u32>,
}

impl SharedRate {
    pub(super) fn new(writes_per_second: NonZeroU32) -> SharedRate {
        let buckets = Mutex::new(Buckets { of: HashMap::new(), sweep_at: BUCKETS_BEFORE_SWEEP });
        SharedRate { writes_per_second, write: Duration::from_secs(1) / writes_per_second.get(), buckets }
    }

    /// Counts one write.
    ///
    /// # Errors
    /// `RATE_LIMITED`, with the whole seconds after which this address may write again if nobody else does.
    pub(super) fn count(&self, installation_id: InstallationId, address: IpAddr, now: Instant) -> Result<(), ApiError> {
        let mut buckets = self.buckets.lock();
        buckets.forget_drained(now);
        let bucket = buckets.of.entry(installation_id).or_insert(Bucket { drained_at: now, recent: None });
        bucket.fill(self.write, address, now).map_err(|wait| {
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            ApiError::rate_limited(self.writes_per_second.get(), OF, seconds)
        })
    }
}

impl Buckets {
    fn forget_drained(&mut self, now: Instant) {
        if self.of.len() >= self.sweep_at {
            self.of.retain(|_, bucket| bucket.drained_at > now);
            self.sweep_at = (2 * self.of.len()).max(BUCKETS_BEFORE_SWEEP);
        }
    }
}

impl Bucket {
    /// Adds a write, or returns the time after which there is room for it.
    fn fill(&mut self, write: Duration, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let level = self.drained_at.saturating_duration_since(now);
        if level.is_zero() {
            self.recent = None;
        }
        if level >= COUNTED_FROM {
            let recent = self.recent.get_or_insert_with(|| Box::new(RecentWrites::starting_at(now)));
            let limit = recent.limit_of(address, now);
            if level + write > limit {
                return Err(level + write - limit);
            }
            *recent.window.entry(address).or_default() += 1;
        }
        self.drained_at = now + level + write;
        Ok(())
    }
}

impl RecentWrites {
    fn starting_at(now: Instant) -> RecentWrites {
        RecentWrites { window_began: now, window: HashMap::new(), window_before: HashMap::new() }
    }

    /// The level up to which an address may fill the bucket.
    fn limit_of(&mut self, address: IpAddr, now: Instant) -> Duration {
        let age = now.saturating_duration_since(self.window_began);
        if age >= WINDOW {
            let window = std::mem::take(&mut self.window);
            self.window_before = if age < 2 * WINDOW { window } else { HashMap::new() };
            self.window_began = now;
        }
        let writes: u32 = [&self.window, &self.window_before].iter().filter_map(|window| window.get(&address)).sum();
        let lowered = STEP.saturating_mul(writes.saturating_sub(WRITES_OF_A_PAYMENT));
        CAPACITY.saturating_sub(lowered).max(HALF)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SHOP: InstallationId = InstallationId::from_bytes([1; 16]);

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + number))
    }

    /// A rate of 200 a second, and a clock.
    struct Shop {
        rate: SharedRate,
        now: Instant,
    }

    impl Shop {
        fn open() -> Shop {
            Shop { rate: SharedRate::new(NonZeroU32::new(200).expect("not 0")), now: Instant::now() }
        }

        fn lets_in(&self, number: u32) -> bool {
            self.rate.count(SHOP, address(number), self.now).is_ok()
        }

        fn pass(&mut self, milliseconds: u64) {
            self.now += Duration::from_millis(milliseconds);
        }

        fn remembered(&self) -> usize {
            let buckets = self.rate.buckets.lock();
            let recent = buckets.of.get(&SHOP).and_then(|bucket| bucket.recent.as_ref());
            recent.map_or(0, |recent| recent.window.len() + recent.window_before.len())
        }
    }

    /// Has so many strangers write five times a second each for a minute, and a customer pay every three seconds from
    /// the time on at which they have used up what they may. The writes of each stranger.
    fn flooded(strangers: u32) -> Vec<u32> {
        let (mut shop, mut written) = (Shop::open(), vec![0; strangers as usize]);
        for turn in 0..300 {
            for (number, written) in (0..).zip(&mut written) {
                *written += u32::from(shop.lets_in(number));
            }
            if turn % 15 == 14 {
                assert!(shop.lets_in(70_000 + turn) && shop.lets_in(70_000 + turn), "{strangers} strangers, {turn}");
            }
            shop.pass(200);
        }
        written
    }

    #[test]
    fn a_customer_pays_while_100_strangers_use_the_rate_up() {
        for strangers in [1, 40, 60, 100, 300, 400] {
            let written = flooded(strangers);
            let (least, most) = (written.iter().min().copied(), written.iter().max().copied());
            assert!(most <= least.map(|least| 2 * least), "each gets about its share: {least:?} to {most:?}");
            let all: u32 = written.iter().sum();
            assert!(all <= 60 * 200 + 2_000, "{all} are more than the rate of {strangers}");
            assert!(all >= (60 * 200).min(300 * strangers) * 9 / 10, "{all} of {strangers}: the rate is used");
        }
    }

    #[test]
    fn one_address_alone_may_use_half_of_the_bucket() {
        let mut shop = Shop::open();
        let counts = [(); 2].map(|()| (0..5_000).filter(|_| shop.lets_in(1)).count());
        assert_eq!(counts, [1_000, 0]);
        let Err(refused) = shop.rate.count(SHOP, address(1), shop.now) else { panic!("it was let in") };
        assert!(refused.message().contains("for one installation are limited to 200 a second"), "{refused:?}");
        assert_eq!(refused.retry_after_seconds(), Some(1));
        assert!(shop.lets_in(2), "another address still may");
        shop.pass(1_000);
        assert!(shop.lets_in(1), "after the seconds that it was told");
    }

    #[test]
    fn payments_end_when_more_customers_come_than_there_is_room_for() {
        let (mut shop, mut paid) = (Shop::open(), 0);
        for customer in 0..30_000 {
            paid += u32::from(shop.lets_in(customer) && shop.lets_in(customer));
            if customer % 3 == 2 {
                shop.pass(10);
            }
        }
        assert!(paid >= 30_000 / 4, "{paid} of 30,000 payments, at 300 a second");
    }

    #[test]
    fn no_more_is_remembered_than_was_let_in_and_nothing_for_good() {
        let mut shop = Shop::open();
        for customer in 0..100_000 {
            shop.lets_in(customer);
            assert!(shop.remembered() <= 30 * 200);
            if customer % 5 == 4 {
                shop.pass(1);
            }
        }
        assert!(shop.remembered() > 1_000);
        shop.pass(11_000);
        assert!(shop.lets_in(1) && shop.remembered() == 0);
        shop.pass(11_000);
        let mut buckets = shop.rate.buckets.lock();
        buckets.sweep_at = 1;
        buckets.forget_drained(shop.now);
        assert!(buckets.of.is_empty());
    }
}
