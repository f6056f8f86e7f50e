//! The arguments that select a page of a list.

use till_domain::cursor::Cursor;

use super::scalar::integer;
use crate::declaration::{PER_PAGE_DEFAULT, PER_PAGE_MAX};
use crate::fault::Fault;
use crate::fields::Fields;
use crate::json::Json;

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPageRequest<K> {
    /// The limit of entries on it.
    pub per_page: u16,
    /// Its start; None for the newest entry.
    pub cursor: Option<Cursor<K>>,
}

/// Reads `per_page`, `after` and `before` (declared as `list_page_arguments`); `parse_cursor` reads an id.
/// None when any of them is faulty.
pub fn list_page<K>(
    fields: &mut Fields<'_>,
    parse_cursor: impl Fn(&Json) -> Result<K, String>,
) -> Option<ListPageRequest<K>> {
    let per_page = fields.optional("per_page", integer(1..=PER_PAGE_MAX));
    let after = fields.optional("after", &parse_cursor);
    let before = fields.optional("before", &parse_cursor);
    if fields.is_given("after") && fields.is_given("before") {
        fields.fault(Fault::invalid("before", "cannot be given together with after; send one of them"));
        return None;
    }
    let cursor = after.map(Cursor::After).or(before.map(Cursor::Before));
    Some(ListPageRequest { per_page: per_page.unwrap_or(PER_PAGE_DEFAULT), cursor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_error::ApiError;
    use crate::declaration::{Declaration, Flags, Package, Returns, list_page_arguments};
    use crate::field::text;
    use crate::json::parse_object;

    static LIST: Declaration = Declaration {
        name: "balance-history",
        package: Package::Merchants,
        group: "balance",
        summary: "",
        docs: "",
        arguments: &list_page_arguments("tst"),
        returns: Returns::Any("null"),
        errors: &[],
        flags: Flags::QUERY,
    };

    fn read(body: &str) -> Result<ListPageRequest<String>, ApiError> {
        let body = parse_object(body.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let mut fields = Fields::new(&LIST, &body);
        let page = list_page(&mut fields, |value| text(1..=9)(value));
        fields.finish(|| page)
    }

    #[test]
    fn an_empty_body_asks_for_the_first_twenty_five() {
        assert_eq!(read("{}").ok(), Some(ListPageRequest { per_page: 25, cursor: None }));
        assert_eq!(
            read(r#"{"per_page":null,"after":null}"#).ok(),
            Some(ListPageRequest { per_page: 25, cursor: None })
        );
    }

    #[test]
    fn a_cursor_asks_for_the_entries_next_to_it() {
        let after = Some(Cursor::After("x".to_owned()));
        assert_eq!(
            read(r#"{"after":"x","per_page":100.0}"#).ok(),
            Some(ListPageRequest { per_page: 100, cursor: after })
        );
        assert_eq!(read(r#"{"before":"x"}"#).ok().and_then(|page| page.cursor), Some(Cursor::Before("x".to_owned())));
    }

    #[test]
    fn bad_sizes_bad_cursors_and_both_cursors_are_refused() {
        for body in [
            r#"{"per_page":0}"#,
            r#"{"per_page":101}"#,
            r#"{"per_page":-1}"#,
            r#"{"per_page":1.5}"#,
            r#"{"per_page":"25"}"#,
            r#"{"after":""}"#,
            r#"{"before":7}"#,
            r#"{"after":"x","before":"y"}"#,
        ] {
            assert!(read(body).is_err(), "{body}");
        }
    }
}
