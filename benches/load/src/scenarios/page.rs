//! The check of a page against the expected entries.

use serde::Deserialize;

use crate::client::HttpAnswer;
use crate::recording::Trouble;

/// The expected contents of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpectedPage<'a> {
    /// Its entries, newest first.
    pub(super) ids: &'a [String],
    /// True when there are newer entries.
    pub(super) before: bool,
    /// True when there are older entries.
    pub(super) after: bool,
    /// True when the page must have exactly these entries; else the same number of entries, in order.
    pub(super) exactly: bool,
}

#[derive(Deserialize)]
struct PageAnswer<'a> {
    #[serde(borrow)]
    previous: Option<PageCursor<'a>>,
    page: Vec<PageEntry<'a>>,
    next: Option<PageCursor<'a>>,
}

#[derive(Deserialize)]
struct PageCursor<'a> {
    before: Option<&'a str>,
    after: Option<&'a str>,
    per_page: usize,
}

#[derive(Deserialize)]
struct PageEntry<'a> {
    #[serde(alias = "activity_log_id", alias = "entry_id")]
    id: &'a str,
}

/// Checks entries, their order, and both cursors.
pub(super) fn check_page(answer: &HttpAnswer<'_>, expected: &ExpectedPage<'_>, per_page: usize) -> Result<(), Trouble> {
    let page: PageAnswer<'_> = serde_json::from_slice(answer.body).map_err(|_| Trouble::wrong("a page", answer))?;
    let ids: Vec<&str> = page.page.iter().map(|entry| entry.id).collect();
    let is_wrong = |what: &str| Err(Trouble::Wrong(format!("a page of a list: {what}: {}", answer.excerpt())));
    // Entries may have been added since, up to a whole page.
    let most = if expected.exactly { expected.ids.len() } else { per_page };
    if ids.len() < expected.ids.len() || ids.len() > most {
        return is_wrong(&format!("{} entries instead of {}", ids.len(), expected.ids.len()));
    }
    if !ids.is_sorted_by(|newer, older| newer > older) {
        return is_wrong("its entries are not in order");
    }
    if !expected.exactly {
        return Ok(());
    }
    if ids != expected.ids {
        return is_wrong("its entries are others than before");
    }
    let next = page.next.map(|cursor| (cursor.after, cursor.per_page));
    let previous = page.previous.map(|cursor| (cursor.before, cursor.per_page));
    if next != expected.after.then(|| (ids.last().copied(), per_page)) {
        return is_wrong("the cursor of its next page is wrong");
    }
    if previous != expected.before.then(|| (ids.first().copied(), per_page)) {
        return is_wrong("the cursor of its previous page is wrong");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(page: &Value, expected: &ExpectedPage<'_>) -> bool {
        let body = page.to_string();
        check_page(&HttpAnswer::example(200, body.as_bytes()), expected, 2).is_ok()
    }

    fn page(ids: [&str; 2]) -> Value {
        json!({
            "previous": { "before": ids[0], "per_page": 2 },
            "page": [{ "entry_id": ids[0], "amount": 1 }, { "entry_id": ids[1] }],
            "next": { "after": ids[1], "per_page": 2, "terms": "kept" },
        })
    }

    #[test]
    fn the_page_that_it_must_be_passes_and_every_other_is_noticed() {
        let ids = ["c".to_owned(), "b".to_owned()];
        let expected = ExpectedPage { ids: &ids, before: true, after: true, exactly: true };
        assert!(check(&page(["c", "b"]), &expected));
        assert!(!check(&page(["c", "a"]), &expected), "another entry");
        assert!(!check(&page(["b", "c"]), &expected), "another order");
        assert!(!check(&page(["c", "b"]), &ExpectedPage { ids: &ids[..1], ..expected }), "another size");
        assert!(!check(&page(["c", "b"]), &ExpectedPage { after: false, ..expected }), "a page after the last");
        assert!(!check(&page(["c", "b"]), &ExpectedPage { before: false, ..expected }), "a page before the first");
        assert!(!check(&json!("no page"), &expected));
    }

    #[test]
    fn a_page_that_changes_meanwhile_must_be_whole_and_in_order() {
        let ids = ["c".to_owned(), "b".to_owned()];
        let expected = ExpectedPage { ids: &ids, before: false, after: true, exactly: false };
        assert!(check(&page(["e", "d"]), &expected));
        assert!(!check(&page(["d", "e"]), &expected));
        assert!(check(&page(["e", "d"]), &ExpectedPage { ids: &ids[..1], ..expected }), "another one has come");
    }
}
