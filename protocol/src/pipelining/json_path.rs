//! Paths into the results of a pipeline. All of JSONPath is a path: members, indexes, slices and wildcards are looked
//! up.
//!
//! Source: RFC 9535.

use std::ops::Range;

use super::json_text::JsonText;
use super::path_parser::{PathParser, Segment};

/// A path. Its root is the array of results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct JsonPath {
    segments: Vec<Segment>,
}

impl JsonPath {
    /// The path that is this whole text. None when the text is not a path.
    pub(super) fn parse(text: &str) -> Option<JsonPath> {
        let mut parser = PathParser::new(text.strip_prefix('$')?);
        let segments = parser.segments()?;
        parser.is_at_end().then_some(JsonPath { segments })
    }

    /// The first segment, which selects results, and the others, which select within a result.
    pub(super) fn split(&self) -> Option<(&Segment, &[Segment])> {
        self.segments.split_first()
    }

    /// True for `$[-1:]`, with which clients ask for the last result.
    pub(super) fn is_last(&self) -> bool {
        self.segments == [Segment::Slice(Some(-1), None)]
    }

    /// True when it can find at most one value (RFC 9535: a singular query), but not for `$`, which means all results.
    pub(super) fn is_one_value(&self) -> bool {
        !self.segments.is_empty() && self.segments.iter().all(Segment::is_singular)
    }

    /// True when a step may refer to what it finds: it selects nothing by a wildcard, a filter or a list.
    pub(super) fn can_be_reference(&self) -> bool {
        self.is_looked_up() && !self.segments.contains(&Segment::Every)
    }

    /// True when all of its segments are looked up.
    pub(super) fn is_looked_up(&self) -> bool {
        !self.segments.contains(&Segment::Unsupported)
    }

    /// True when it leads to one of this number of results, or to all of them.
    pub(super) fn reaches(&self, result_count: usize) -> bool {
        match self.segments.first() {
            None => true,
            Some(Segment::Member(_)) => false,
            Some(Segment::Index(index)) => position(*index, result_count).is_some(),
            Some(Segment::Slice(..)) => result_count > 0 || !self.is_last(),
            Some(Segment::Every | Segment::Unsupported) => true,
        }
    }
}

impl Segment {
    /// The indexes that it selects in a list of this length. A member selects none.
    pub(super) fn places(&self, length: usize) -> Range<usize> {
        match self {
            Segment::Member(_) | Segment::Unsupported => 0..0,
            Segment::Every => 0..length,
            Segment::Index(index) => position(*index, length).map_or(0..0, |position| position..position + 1),
            Segment::Slice(from, to) => {
                let bound = |bound: Option<i64>, absent| bound.map_or(absent, |bound| clamped(bound, length));
                bound(*from, 0)..bound(*to, length)
            }
        }
    }
}

/// Visits every value that the segments find below `value`, in order.
pub(super) fn find<'t, E>(
    value: JsonText<'t>,
    segments: &[Segment],
    found: &mut impl FnMut(JsonText<'t>) -> Result<(), E>,
) -> Result<(), E> {
    let Some((segment, rest)) = segments.split_first() else { return found(value) };
    if let Segment::Member(name) = segment {
        return value.member(name).map_or(Ok(()), |member| find(member, rest, found));
    }
    let items = if *segment == Segment::Every { value.children() } else { value.items() };
    let selected = items.get(segment.places(items.len())).unwrap_or_default();
    selected.iter().try_for_each(|item| find(*item, rest, found))
}

/// The position of an index in a list of this length, if it is in the list.
fn position(index: i64, length: usize) -> Option<usize> {
    let from_end = || length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
    let position = if index < 0 { from_end() } else { usize::try_from(index).ok() };
    position.filter(|position| *position < length)
}

/// A bound of a slice within a list of this length.
fn clamped(bound: i64, length: usize) -> usize {
    let distance = usize::try_from(bound.unsigned_abs()).unwrap_or(usize::MAX);
    if bound < 0 { length.saturating_sub(distance) } else { distance.min(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = r#"{"page":[{"id":"a","n-1":1},{"id":"b"},{"id":"c"}],"it's":{"\"":2}}"#;

    fn find_values(path: &str) -> Vec<&'static str> {
        let path = JsonPath::parse(path).unwrap_or_else(|| panic!("no path: {path}"));
        let mut values = Vec::new();
        let all = find::<()>(JsonText::new(VALUE), &path.segments, &mut |value| {
            values.push(value.as_str());
            Ok(())
        });
        assert_eq!(all, Ok(()));
        values
    }

    #[test]
    fn members_indexes_and_slices_are_found() {
        assert_eq!(find_values("$"), [VALUE]);
        assert_eq!(find_values("$.page[1].id"), ["\"b\""]);
        assert_eq!(find_values("$['page'][-1][\"id\"]"), ["\"c\""]);
        assert_eq!(find_values("$.page[ 0 ].n-1"), ["1"]);
        assert_eq!(find_values("$['it\\'s'][\"\\\"\"]"), ["2"]);
        assert_eq!(find_values("$.page[1:].id"), ["\"b\"", "\"c\""]);
        assert_eq!(find_values("$.page[:-2].id"), ["\"a\""]);
        assert_eq!(find_values("$.page[-100:100].id").len(), 3);
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        for path in ["$.nothing", "$[0]", "$.page.id", "$.page[3]", "$.page[-4]", "$.page[2:1]", "$.page[0].id.x"] {
            assert_eq!(find_values(path), [""; 0], "{path}");
        }
    }

    #[test]
    fn other_texts_are_no_paths() {
        for text in [
            "",
            "100",
            "$100",
            "$ 5",
            "US$",
            "$a",
            "$.",
            "$.5",
            "$..",
            "$...a",
            "$.. a",
            "$. a",
            "$[",
            "$[]",
            "$[0",
            "$[01]",
            "$[-0]",
            "$[-]",
            "$[+1]",
            "$[0]]",
            "$['a]",
            "$['a\\x']",
            "$['a\\u12']",
            "$['a\\ud800']",
            "$['\n']",
            "$[*",
            "$[0,]",
            "$[,0]",
            "$[0:1:2:3]",
            "$[?",
            "$[?@.a",
            "$[?@.a].b",
            "$[0] ",
            " $[0]",
            "$[a]",
            "$[0].a b",
            "Bearer $[0]",
            "$[9007199254740992]",
            "$[99999999999999999999]",
            "$$",
            "\\$",
        ] {
            assert_eq!(JsonPath::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_form_of_jsonpath_is_a_path() {
        for (path, can_be_reference, is_looked_up) in [
            ("$", true, true),
            ("$ [0] .a", true, true),
            ("$['a\\b\\f\\n\\r\\t\\/\\u00e9\\ud83d\\ude00']", true, true),
            ("$[*]", false, true),
            ("$.*", false, true),
            ("$[0].page[*].id", false, true),
            ("$..a", false, false),
            ("$..*", false, false),
            ("$..['a']", false, false),
            ("$['a','b']", false, false),
            ("$[0, 1 , *, ?@.a, 1:2]", false, false),
            ("$[0:1:2]", false, false),
            ("$[::-1]", false, false),
            ("$[?@.a]", false, false),
            ("$[0, ?match(@.a, 'b.*') && !search(@[1], \"x\")]", false, false),
        ] {
            let found = JsonPath::parse(path).unwrap_or_else(|| panic!("no path: {path}"));
            assert_eq!((found.can_be_reference(), found.is_looked_up()), (can_be_reference, is_looked_up), "{path}");
        }
    }

    #[test]
    fn a_wildcard_finds_all_items_and_members() {
        assert_eq!(find_values("$.page[*].id"), ["\"a\"", "\"b\"", "\"c\""]);
        assert_eq!(find_values("$.*['\"']"), ["2"]);
        assert_eq!(find_values("$.page[0].*"), ["\"a\"", "1"]);
        assert_eq!(find_values("$.page[0].id.*"), [""; 0]);
    }

    #[test]
    fn a_path_reaches_results_that_are_there() {
        let reaches = |path: &str, count| JsonPath::parse(path).is_some_and(|path| path.reaches(count));
        assert!(reaches("$", 0) && reaches("$[0]", 1) && reaches("$[-1].a", 1) && reaches("$[-1:]", 1));
        assert!(reaches("$[5:]", 1), "it finds an empty list");
        for (path, count) in [("$[0]", 0), ("$[1].a", 1), ("$[-2]", 1), ("$[-1:]", 0), ("$.a", 1), ("$['0']", 1)] {
            assert!(!reaches(path, count), "{path}");
        }
    }
}
