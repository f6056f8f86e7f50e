//! Entries of payments that are known at once, because they are few.

use till_domain::ids::PaymentId;
use till_domain::records::Unreadable;
use till_storage::shapes::PaymentIndex;

use super::merge::EntrySource;

/// Payments that are looked up by themselves at most, where no index has them in the order of the list.
pub(super) const KNOWN_MAX: usize = 512;

/// The entries that `ids` reads, when they are few enough: it reads at most as many as it is asked for, in any order.
pub(super) fn few_entries(
    ids: impl Fn(usize) -> Result<Vec<PaymentId>, Unreadable>,
) -> Result<Option<EntrySource<PaymentIndex>>, Unreadable> {
    let mut found = ids(KNOWN_MAX.saturating_add(1))?;
    if found.len() > KNOWN_MAX {
        return Ok(None);
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(EntrySource::Known(found.into())))
}
