//! A cache of API keys, so that not every call reads its key.

use std::sync::Arc;

use dashmap::DashMap;
use till_domain::ids::MerchantId;
use till_domain::key::{ApiKey, KeyDigest};

/// The limit of cached keys: about 32 MiB. Above it the cache is emptied.
const KNOWN_MAX: usize = 65_536;

/// An API key and its merchant.
#[derive(Clone)]
pub(super) struct KnownKey {
    pub(super) merchant_id: MerchantId,
    pub(super) key: Arc<ApiKey>,
}

/// Keys by digest. An entry is valid as long as the count of changes to keys is the one that it was read at. Changes
/// are rare, so a change of any key may invalidate all entries.
#[derive(Default)]
pub(super) struct KnownKeys {
    keys: DashMap<KeyDigest, (u64, KnownKey)>,
}

impl KnownKeys {
    /// A key that was read at this count of changes.
    pub(super) fn get(&self, digest: KeyDigest, changes: u64) -> Option<KnownKey> {
        self.keys.get(&digest).filter(|known| known.0 == changes).map(|known| known.1.clone())
    }

    /// Stores a key that was read after this count of changes was.
    pub(super) fn keep(&self, digest: KeyDigest, key: KnownKey, changes: u64) {
        if self.keys.len() >= KNOWN_MAX {
            self.keys.clear();
        }
        self.keys.insert(digest, (changes, key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use till_domain::ids::KeyId;
    use till_domain::role::Role;
    use till_domain::text::Name;
    use till_domain::time::Millis;

    fn key(number: u8) -> KnownKey {
        let key = ApiKey {
            id: KeyId::from_bytes([number; 16]),
            name: Name::new("Server").expect("a name"),
            digest: KeyDigest([number; 32]),
            display: String::new(),
            api_version: String::new(),
            created_at: Millis(0),
            expires_at: None,
            revoked_at: None,
            role: Role::Owner,
            refund_limit: None,
        };
        KnownKey { merchant_id: MerchantId::from_bytes([1; 16]), key: Arc::new(key) }
    }

    #[test]
    fn a_key_is_known_until_any_key_changes() {
        let known = KnownKeys::default();
        let digest = KeyDigest([1; 32]);
        known.keep(digest, key(1), 7);
        assert_eq!(known.get(digest, 7).map(|known| known.key.id), Some(KeyId::from_bytes([1; 16])));
        assert!(known.get(digest, 8).is_none());
        assert!(known.get(KeyDigest([2; 32]), 7).is_none());
    }

    #[test]
    fn no_more_keys_are_known_than_the_limit() {
        let known = KnownKeys::default();
        for number in 0..=KNOWN_MAX {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&number.to_be_bytes());
            known.keep(KeyDigest(digest), key(1), 0);
        }
        assert_eq!(known.keys.len(), 1);
    }
}
