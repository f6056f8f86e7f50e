//! Paths into the results of a pipeline: members, indexes and slices of JSONPath.
//!
//! Source: RFC 9535, sections 2.3.1, 2.3.3, 2.3.4 and 2.5.1. Supported are `.name`, `['name']`, `["name"]`, `[1]`,
//! `[-1]` and `[1:2]`; wildcards, descendants, filters, lists of selectors and steps of slices are not. A name after a
//! dot may have hyphens, since published clients write every member in this way.
//! dot may have hyphens, since published clients write every member so.

use std::ops::Range;

use super::json_text::JsonText;

/// The largest index, by RFC 9535: 2^53-1.
const INDEX_MAX: i64 = (1 << 53) - 1;

/// A path. Its root is the array of results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::protocol) struct JsonPath {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Member(String),
    /// Counted from the end when negative.
    Index(i64),
    /// From the first index to before the second, each counted from the end when negative.
    Slice(Option<i64>, Option<i64>),
}

impl JsonPath {
    /// The path that is this whole text. None when the text is not a path.
    pub(super) fn parse(text: &str) -> Option<JsonPath> {
        let mut cursor = PathParser { rest: text.strip_prefix('$')? };
        let mut segments = Vec::new();
        while !cursor.rest.is_empty() {
            segments.push(cursor.segment()?);
        }
        Some(JsonPath { segments })
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
        let has_slice = self.segments.iter().any(|segment| matches!(segment, Segment::Slice(..)));
        !self.segments.is_empty() && !has_slice
    }

    /// True when it leads to one of this number of results, or to all of them.
    pub(super) fn reaches(&self, result_count: usize) -> bool {
        match self.segments.first() {
            None => true,
            Some(Segment::Member(_)) => false,
            Some(Segment::Index(index)) => position(*index, result_count).is_some(),
            Some(Segment::Slice(..)) => result_count > 0 || !self.is_last(),
        }
    }
}

impl Segment {
    /// The indexes that it selects in a list of this length. A member selects none.
    pub(super) fn places(&self, length: usize) -> Range<usize> {
        match self {
            Segment::Member(_) => 0..0,
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
    let items = value.items();
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

/// The unread part of a path.
struct PathParser<'t> {
    rest: &'t str,
}

impl PathParser<'_> {
    fn segment(&mut self) -> Option<Segment> {
        if self.take('.') {
            return self.name().map(Segment::Member);
        }
        let is_open = self.take('[');
        self.skip_blanks();
        let segment = match self.rest.chars().next().filter(|_| is_open)? {
            quote @ ('\'' | '"') => Segment::Member(self.quoted(quote)?),
            _ => self.index_or_slice()?,
        };
        self.skip_blanks();
        self.take(']').then_some(segment)
    }

    fn index_or_slice(&mut self) -> Option<Segment> {
        let from = self.integer()?;
        self.skip_blanks();
        if !self.take(':') {
            return from.map(Segment::Index);
        }
        self.skip_blanks();
        Some(Segment::Slice(from, self.integer()?))
    }

    /// An integer without leading zeros; `Some(None)` when there is none.
    fn integer(&mut self) -> Option<Option<i64>> {
        let length = self.rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        if digits.is_empty() {
            return Some(None);
        }
        let integer: i64 = digits.parse().ok()?;
        let is_plain = integer.to_string() == digits && integer.abs() <= INDEX_MAX;
        is_plain.then_some(Some(integer))
    }

    fn name(&mut self) -> Option<String> {
        let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii();
        let is_more = |letter: char| is_first(letter) || letter.is_ascii_digit() || letter == '-';
        let length = self.rest.find(|letter| !is_more(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        name.starts_with(is_first).then(|| name.to_owned())
    }

    /// A name between quotation marks, in which a backslash escapes a quotation mark or backslash.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut name = String::new();
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.rest = &self.rest[at + quote.len_utf8()..];
                    return Some(name);
                }
                '\\' => name.push(letters.next().map(|(_, kept)| kept).filter(|kept| [quote, '\\'].contains(kept))?),
                letter => name.push(letter),
            }
        }
        None
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, expected: char) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = r#"{"page":[{"id":"a","n-1":1},{"id":"b"},{"id":"c"}],"it's":{"\"":2}}"#;

    fn found(path: &str) -> Vec<&'static str> {
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
        assert_eq!(found("$"), [VALUE]);
        assert_eq!(found("$.page[1].id"), ["\"b\""]);
        assert_eq!(found("$['page'][-1][\"id\"]"), ["\"c\""]);
        assert_eq!(found("$.page[ 0 ].n-1"), ["1"]);
        assert_eq!(found("$['it\\'s'][\"\\\"\"]"), ["2"]);
        assert_eq!(found("$.page[1:].id"), ["\"b\"", "\"c\""]);
        assert_eq!(found("$.page[:-2].id"), ["\"a\""]);
        assert_eq!(found("$.page[-100:100].id").len(), 3);
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        for path in ["$.nothing", "$[0]", "$.page.id", "$.page[3]", "$.page[-4]", "$.page[2:1]", "$.page[0].id.x"] {
            assert_eq!(found(path), [""; 0], "{path}");
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
            "$..a",
            "$[",
            "$[]",
            "$[0",
            "$[01]",
            "$[-0]",
            "$[-]",
            "$[+1]",
            "$[0]]",
            "$[*]",
            "$.*",
            "$['a]",
            "$['a\\b']",
            "$['a','b']",
            "$[0,1]",
            "$[0:1:2]",
            "$[?@.a]",
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
    fn a_path_reaches_results_that_are_there() {
        let reaches = |path: &str, count| JsonPath::parse(path).is_some_and(|path| path.reaches(count));
        assert!(reaches("$", 0) && reaches("$[0]", 1) && reaches("$[-1].a", 1) && reaches("$[-1:]", 1));
        assert!(reaches("$[5:]", 1), "it finds an empty list");
        for (path, count) in [("$[0]", 0), ("$[1].a", 1), ("$[-2]", 1), ("$[-1:]", 0), ("$.a", 1), ("$['0']", 1)] {
            assert!(!reaches(path, count), "{path}");
        }
    }
}
