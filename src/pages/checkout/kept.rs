//! What is made of a text at some expense and asked for again and again, such as the drawing of a QR code.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;

/// Things by the texts that they were made of; when there are too many, the one that was not asked for the longest is dropped.
pub(super) struct Kept<T>(Mutex<LruCache<String, Arc<T>>>);

impl<T> Kept<T> {
    /// Keeps at most this number of things, and at least one.
    pub(super) fn at_most(count: usize) -> Kept<T> {
        Kept(Mutex::new(LruCache::new(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN))))
    }

    /// What is kept for a text, or is made of it now. None when nothing can be made of it.
    pub(super) fn of(&self, text: &str, make: impl FnOnce(&str) -> Option<T>) -> Option<Arc<T>> {
        let kept = self.0.lock().get(text).cloned();
        kept.or_else(|| {
            let made = Arc::new(make(text)?);
            self.0.lock().put(text.to_owned(), Arc::clone(&made));
            Some(made)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_made_once_while_it_is_asked_for() {
        let kept = Kept::at_most(2);
        let mut made = Vec::new();
        for text in ["a", "b", "a", "c", "a", "b"] {
            let thing = kept.of(text, |text| {
                made.push(text.to_owned());
                Some(text.to_uppercase())
            });
            assert_eq!(thing.as_deref(), Some(&text.to_uppercase()));
        }
        assert_eq!(made, ["a", "b", "c", "b"], "b was dropped for c");
        assert_eq!(kept.of("d", |_| None), None);
    }
}
