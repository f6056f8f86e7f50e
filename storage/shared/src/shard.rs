//! Shards: a merchant's log belongs to one, by the hash of its id.

use std::collections::BTreeMap;

use till_domain::ids::MerchantId;

/// The number of a shard. Those of logs count from 0; those below are of rows that belong to no log.
pub(crate) type Shard = i16;

/// The shard of deliveries to webhooks.
pub(crate) const OF_DELIVERIES: Shard = -1;
/// The shard of the sandbox's book, which is the lowest one.
pub(crate) const OF_BOOK: Shard = -2;

/// The shard of a merchant, of `shards` in all.
pub(crate) fn shard_of(merchant_id: MerchantId, shards: u16) -> Shard {
    let hash = blake3::hash(&merchant_id.to_bytes());
    let [first, second, ..] = *hash.as_bytes();
    let shard = u16::from_be_bytes([first, second]) % shards.max(1);
    Shard::try_from(shard).expect("there are at most 1,024")
}

/// A shard, as its holder knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The epoch of the claim.
    pub(crate) epoch: i64,
    /// The number of groups that were appended to the shard: one for each statement, however many batches it had.
    pub(crate) commits: i64,
}

/// Shards that are held.
pub(crate) type Holds = BTreeMap<Shard, Hold>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shard_of_a_merchant_is_part_of_the_format() {
        let shard = |byte| shard_of(MerchantId::from_bytes([byte; 16]), 64);
        assert_eq!([0, 1, 2, 255].map(shard), [50, 35, 39, 7]);
        let used: std::collections::BTreeSet<Shard> = (0..=255).map(shard).collect();
        assert!(used.len() > 55 && used.iter().all(|shard| (0..64).contains(shard)), "{used:?}");
    }
}
