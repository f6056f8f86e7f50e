//! Looking names up. The system's resolver may take half a minute to say that a server of names is silent, and cannot
//! be cut off, so that each look-up has a thread of its own.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use tokio::sync::watch;

type LookUp = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;
type PendingLookups<K> = Mutex<BTreeMap<(K, String), PendingLookup>>;

/// Looks names up. Callers under the same key that need the same name at the same time share one look-up.
pub(crate) struct Lookups<K> {
    look_up: Arc<LookUp>,
    pending: Arc<PendingLookups<K>>,
}

impl<K: Ord + Clone + Send + 'static> Lookups<K> {
    /// Looks names up by the system's resolver.
    pub(crate) fn system() -> Lookups<K> {
        Lookups::with_resolver(|name| Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }

    /// Looks names up by this resolver.
    pub(crate) fn with_resolver(
        look_up: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Lookups<K> {
        Lookups { look_up: Arc::new(look_up), pending: Arc::default() }
    }

    /// The look-up of a name, which begins unless it is under way; none when it needs a permit and gets none. The
    /// permit is held until its thread ends.
    pub(crate) fn begin<P: Send + 'static>(
        &self,
        key: K,
        name: &str,
        permit: impl FnOnce() -> Option<P>,
    ) -> Option<PendingLookup> {
        let key = (key, name.to_owned());
        let mut pending = self.pending.lock();
        if let Some(lookup) = pending.get(&key) {
            return Some(lookup.clone());
        }
        let permit = permit()?;
        let (answers, answer) = watch::channel(None);
        pending.insert(key.clone(), PendingLookup(answer.clone()));
        drop(pending);
        let entry = LookupEntry { key, of: Arc::clone(&self.pending), _permit: permit };
        let look_up = Arc::clone(&self.look_up);
        let run = move || {
            answers.send_replace(Some(look_up(&entry.key.1).unwrap_or_default()));
        };
        // Without a thread the closure is dropped with everything in it, as after the look-up.
        _ = thread::Builder::new().name("look-up".to_owned()).spawn(run);
        Some(PendingLookup(answer))
    }
}

/// A look-up under way: its answer, once there is one, with no addresses when it failed.
#[derive(Clone)]
pub(crate) struct PendingLookup(watch::Receiver<Option<Vec<IpAddr>>>);

impl PendingLookup {
    /// The addresses of the name; none when it was not found.
    pub(crate) async fn addresses(mut self) -> io::Result<Vec<IpAddr>> {
        let found = self.0.wait_for(Option::is_some).await;
        found.ok().and_then(|found| found.clone()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// The entry of a look-up under way, until its thread ends.
struct LookupEntry<K: Ord, P> {
    key: (K, String),
    of: Arc<PendingLookups<K>>,
    _permit: P,
}

impl<K: Ord, P> Drop for LookupEntry<K, P> {
    fn drop(&mut self) {
        self.of.lock().remove(&self.key);
    }
}
