//! A cache of things that are made of a text at some expense and asked for again and again, such as drawings of QR
//! codes.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;

/// Things by the texts that they were made of; when there are too many, the one that was not asked for the longest is
/// dropped.
pub(super) struct TextCache<T>(Mutex<LruCache<String, Arc<T>>>);

impl<T> TextCache<T> {
    /// Keeps at most this number of things, and at least one.
    pub(super) fn at_most(count: usize) -> TextCache<T> {
        TextCache(Mutex::new(LruCache::new(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN))))
    }

    /// The thing that is kept for a text, or is made of it now. None when nothing can be made of it.
    pub(super) fn get_or_make(&self, text: &str, make: impl FnOnce(&str) -> Option<T>) -> Option<Arc<T>> {
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
        let cache = TextCache::at_most(2);
        let mut made = Vec::new();
        for text in ["a", "b", "a", "c", "a", "b"] {
            let thing = cache.get_or_make(text, |text| {
                made.push(text.to_owned());
                Some(text.to_uppercase())
            });
            assert_eq!(thing.as_deref(), Some(&text.to_uppercase()));
        }
        assert_eq!(made, ["a", "b", "c", "b"], "b was dropped for c");
        assert_eq!(cache.get_or_make("d", |_| None), None);
    }
}
