//! Maps by merchant, for the commit thread, which looks each merchant of a group up several times.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use till_domain::ids::MerchantId;

/// A map by merchant.
pub(crate) type ByMerchant<V> = HashMap<MerchantId, V, BuildHasherDefault<IdHasher>>;

/// Uses an id's own random half as its hash. Ids of merchants are made by this program, so nobody can choose many that
/// collide.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.0 ^= u64::from_be_bytes(*last);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, Hash};

    use super::*;

    #[test]
    fn ids_that_differ_in_their_random_half_have_different_hashes() {
        let hash = |last: u8| {
            let mut bytes = [1; 16];
            bytes[15] = last;
            BuildHasherDefault::<IdHasher>::default().hash_one(MerchantId::from_bytes(bytes))
        };
        assert_ne!(hash(1), hash(2));
        let mut hasher = IdHasher::default();
        [3_u8; 2].hash(&mut hasher);
        assert_ne!(hasher.finish(), hash(1), "short keys do no harm");
    }
}
