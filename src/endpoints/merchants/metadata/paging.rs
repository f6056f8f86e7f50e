//! Paging through a set of a metadata record: the page that a call requests, and the bodies of the calls for the
//! adjacent pages.

use serde_json::{Value, json};
use till_domain::metadata::MetadataPath;
use till_domain::text::MetadataKey;
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;

use crate::endpoints::forms::whole_number;
use crate::endpoints::prelude::*;
use crate::service::{ItemPage, ItemRange, PAGE_ITEMS_MAX};

/// The largest position that a caller can name: 2^53-1.
const POSITION_MAX: u64 = (1 << 53) - 1;

/// The maximum number of items on a page of a set.
const PER_PAGE_MAX: u64 = 10_000;

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemPageRequest {
    /// The range of items.
    pub(super) range: ItemRange,
    /// The maximum number of items on the page.
    pub(super) limit: usize,
    /// True when the call has any paging argument.
    pub(super) is_given: bool,
}

/// The arguments with which a call requests a page of a set.
pub(super) const ITEM_PAGE: ArgumentSet<ItemPageRequest> = arguments!({
    per_page: whole_number::<1, PER_PAGE_MAX>(100)
        .optional("The number of items per page of a set, 1 to 10000. The default is 10000."),
    after: whole_number::<0, POSITION_MAX>(99).optional("Return the items after this position of the set at `path`."),
    before: whole_number::<0, POSITION_MAX>(100)
        .optional("Return the items before this position. It cannot be given together with `after`."),
} judged by |fields: &mut Fields<'_>| if fields.is_given("after") && fields.is_given("before") {
    fields.fault(Fault::invalid("before", "cannot be given together with after; send one of them"));
} => ItemPageRequest {
    range: after.map(ItemRange::After).or(before.map(ItemRange::Before)).unwrap_or(ItemRange::First),
    limit: per_page.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(PAGE_ITEMS_MAX),
    is_given: per_page.is_some() || after.is_some() || before.is_some(),
});

/// The call for the current page. The calls for the adjacent pages repeat its arguments.
pub(super) struct ItemPageCall<'a> {
    /// The key of the record.
    pub(super) key: &'a MetadataKey,
    /// The path of the set.
    pub(super) path: &'a MetadataPath,
    /// True when only the items are requested, without the record.
    pub(super) data_only: bool,
    /// The range of items.
    pub(super) range: ItemRange,
    /// The maximum number of items per page.
    pub(super) limit: usize,
}

impl ItemPageCall<'_> {
    /// The bodies of the calls for the previous and the next page. A body is null when there is no such page.
    pub(super) fn neighbours(&self, page: &ItemPage) -> (Value, Value) {
        let first = page.items.first().map(|(position, _)| *position).or(self.range.vacancy());
        let last = page.items.last().map(|(position, _)| *position);
        let last = last.or(self.range.vacancy().and_then(|vacancy| vacancy.checked_sub(1)));
        let previous = page.earlier.then(|| self.body("before", first));
        let next = page.later.then(|| self.body("after", last));
        (previous.unwrap_or_default(), next.unwrap_or_default())
    }

    /// The body of the call for an adjacent page. Without a position, the call requests the first page.
    fn body(&self, cursor: &str, position: Option<u64>) -> Value {
        let mut body = json!({ "key": self.key.as_str(), "path": self.path.to_string(), "per_page": self.limit });
        if let Some(position) = position {
            body[cursor] = position.min(POSITION_MAX).into();
        }
        if self.data_only {
            body["data_only"] = true.into();
        }
        body
    }
}
