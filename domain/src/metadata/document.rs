//! The value of a record: JSON in canonical form in which a set is written as `#` and its number.
//!
//! `#` begins no JSON value, so a set cannot be mistaken for anything that a caller sent. The items of sets are
//! rows of their own; everything else is here.

use std::fmt;
use std::sync::Arc;

use super::json::{CanonicalJson, Members, byte_count, compare_keys, quoted, unquoted};
use super::path::MetadataPath;
use super::record::SetNumber;

/// A record's value without the items of its sets. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Arc<str>);

/// The kind of value at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathTarget<'a> {
    /// Nothing, or null: a set can be created there.
    Vacant,
    /// A set.
    Set(SetNumber),
    /// An array that has not been used as a set yet.
    Array(&'a str),
    /// Another value, at the path or on the way to it.
    Other,
}

/// A part of a value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// JSON as it is in the document.
    Text(&'a str),
    /// The place of a set's array.
    Set(SetNumber),
}

/// A set and its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetPlace {
    /// The number of the set.
    pub number: SetNumber,
    /// Its path from the root of the record.
    pub path: String,
}

impl Document {
    /// The document of a value that contains no set yet.
    #[must_use]
    pub fn of(value: &CanonicalJson) -> Document {
        Document(value.as_str().into())
    }

    /// The document of a record that does not exist yet.
    #[must_use]
    pub fn vacant() -> Document {
        Document("null".into())
    }

    /// The text read back from disk.
    #[must_use]
    pub fn from_stored(text: String) -> Document {
        Document(text.into())
    }

    /// The text, with sets as `#` and their number.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number of bytes of it that are JSON: without the places of sets.
    #[must_use]
    pub fn plain_bytes(&self) -> u64 {
        let bytes = |piece: Piece<'_>| match piece {
            Piece::Text(text) => byte_count(text),
            Piece::Set(_) => 0,
        };
        pieces(&self.0).into_iter().map(bytes).sum()
    }

    /// The value at a path, as text; none when an object on the way or the last key is missing, or when something on
    /// the way is not an object.
    #[must_use]
    pub fn value_at(&self, path: &MetadataPath) -> Option<&str> {
        path.segments().iter().try_fold(&*self.0, |value, segment| member(value, &quoted(segment)))
    }

    /// The kind of value at a path, for a caller that wants to use it as a set.
    #[must_use]
    pub fn place(&self, path: &MetadataPath) -> PathTarget<'_> {
        let mut value: &str = &self.0;
        if value == "null" {
            return PathTarget::Vacant; // A record that does not exist yet: its objects are created.
        }
        for segment in path.segments() {
            if !value.starts_with('{') {
                return PathTarget::Other;
            }
            match member(value, &quoted(segment)) {
                Some(found) => value = found,
                None => return PathTarget::Vacant,
            }
        }
        match (value, value.chars().next()) {
            ("null", _) => PathTarget::Vacant,
            (_, Some('#')) => set_number(value).map_or(PathTarget::Other, PathTarget::Set),
            (_, Some('[')) => PathTarget::Array(value),
            (_, _) => PathTarget::Other,
        }
    }

    /// The document with a set at a path that [`Document::place`] found vacant or an array. Missing objects on
    /// the way are created.
    #[must_use]
    pub fn with_set(&self, path: &MetadataPath, number: SetNumber) -> Document {
        Document(placed(&self.0, path.segments(), number).into())
    }

    /// The sets below a path, in the order in which [`pieces`](Document::pieces_of) lists them.
    #[must_use]
    pub fn sets_at(&self, path: &MetadataPath) -> Vec<SetPlace> {
        let mut found = Vec::new();
        if let Some(value) = self.value_at(path) {
            let mut segments = path.segments().to_vec();
            collect_sets(value, &mut segments, &mut found);
        }
        found
    }

    /// A value of the document, or all of it, as JSON and places of sets.
    #[must_use]
    pub fn pieces_of(value: &str) -> Vec<Piece<'_>> {
        pieces(value)
    }
}

/// Values are the merchant's data and must not appear in a log.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document({} bytes)", self.0.len())
    }
}

fn member<'a>(value: &'a str, quoted_key: &str) -> Option<&'a str> {
    Members::of(value).find(|(key, _)| *key == quoted_key).map(|(_, value)| value)
}

fn set_number(value: &str) -> Option<SetNumber> {
    value.strip_prefix('#')?.parse().ok().map(SetNumber)
}

/// A value with a set below it. Values on the way that are not objects are replaced by objects: only null and missing
/// ones are.
fn placed(value: &str, path: &[String], number: SetNumber) -> String {
    let Some((segment, rest)) = path.split_first() else { return format!("#{}", number.0) };
    let key = quoted(segment);
    let mut members: Vec<(&str, String)> =
        Members::of(value).filter(|(known, _)| *known != key).map(|(known, value)| (known, value.to_owned())).collect();
    let inner = placed(member(value, &key).unwrap_or("null"), rest, number);
    let at = members.partition_point(|(known, _)| compare_keys(known, &key).is_lt());
    members.insert(at, (&key, inner));
    let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn collect_sets(value: &str, path: &mut Vec<String>, found: &mut Vec<SetPlace>) {
    if let Some(number) = set_number(value) {
        found.push(SetPlace { number, path: path.join(".") });
    } else if value.starts_with('{') && value.contains('#') {
        for (key, value) in Members::of(value) {
            path.push(unquoted(key));
            collect_sets(value, path, found);
            path.pop();
        }
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, number, behind)) = next_set(rest) {
        pieces.extend([Piece::Text(before), Piece::Set(number)]);
        rest = behind;
    }
    pieces.push(Piece::Text(rest));
    pieces.retain(|piece| *piece != Piece::Text(""));
    pieces
}

/// The text before the first set, its number, and the text after it.
fn next_set(text: &str) -> Option<(&str, SetNumber, &str)> {
    let (mut in_string, mut escaped) = (false, false);
    let at = text.bytes().position(|byte| match (in_string, escaped, byte) {
        (true, true, _) => {
            escaped = false;
            false
        }
        (true, false, b'\\') => {
            escaped = true;
            false
        }
        (_, false, b'"') => {
            in_string = !in_string;
            false
        }
        (_, _, byte) => !in_string && byte == b'#',
    })?;
    let (before, marker) = text.split_at_checked(at)?;
    let digits = marker.strip_prefix('#')?;
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    let (number, behind) = digits.split_at_checked(end)?;
    Some((before, SetNumber(number.parse().ok()?), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::from_stored(text.to_owned())
    }

    fn path(text: &str) -> MetadataPath {
        MetadataPath::parse(text).expect("a test path of proper form")
    }

    #[test]
    fn a_place_is_vacant_a_set_an_array_or_something_else() {
        let document = document(r##"{"a":{"b":#7,"n":null},"l":[1],"s":"#1","x.y":[]}"##);
        for (at, expected) in [
            ("a.b", PathTarget::Set(SetNumber(7))),
            ("a.n", PathTarget::Vacant),
            ("a.new", PathTarget::Vacant),
            ("new.deep.er", PathTarget::Vacant),
            ("l", PathTarget::Array("[1]")),
            ("s", PathTarget::Other),
            ("s.x", PathTarget::Other),
            ("l.x", PathTarget::Other),
            ("a.b.c", PathTarget::Other),
            ("a.n.c", PathTarget::Other),
            ("a", PathTarget::Other),
            ("", PathTarget::Other),
            ("x.y", PathTarget::Vacant),
        ] {
            assert_eq!(document.place(&path(at)), expected, "{at}");
        }
        assert_eq!(Document::vacant().place(&path("a.b")), PathTarget::Vacant);
    }

    #[test]
    fn a_set_is_placed_and_objects_on_the_way_are_created_in_order() {
        let number = SetNumber(3);
        for (before, at, after) in [
            ("null", "", "#3"),
            ("[1,2]", "", "#3"),
            ("null", "a.b", r#"{"a":{"b":#3}}"#),
            ("{}", "a", r#"{"a":#3}"#),
            (r#"{"a":1,"c":[2]}"#, "c", r#"{"a":1,"c":#3}"#),
            (r#"{"a":1,"c":2}"#, "b.x", r#"{"a":1,"b":{"x":#3},"c":2}"#),
            (r#"{"a":{"b":{"z":#0}}}"#, "a.b.y", r#"{"a":{"b":{"y":#3,"z":#0}}}"#),
            (r#"{"a\n":null}"#, "a\n", r#"{"a\n":#3}"#),
        ] {
            assert_eq!(document(before).with_set(&path(at), number), document(after), "{before} {at}");
            assert_eq!(document(after).place(&path(at)), PathTarget::Set(number));
        }
    }

    #[test]
    fn pieces_and_sets_are_in_one_order_and_a_quoted_hash_is_no_set() {
        let document = document(r##"{"a":"#1\"#2","b":{"c":#10},"d":#2,"e":[1,"#"]}"##);
        let text = r##"{"a":"#1\"#2","b":{"c":"##;
        let expected = [
            Piece::Text(text),
            Piece::Set(SetNumber(10)),
            Piece::Text(r#"},"d":"#),
            Piece::Set(SetNumber(2)),
            Piece::Text(r##","e":[1,"#"]}"##),
        ];
        assert_eq!(Document::pieces_of(document.as_str()), expected);
        let set = |number, path: &str| SetPlace { number: SetNumber(number), path: path.to_owned() };
        assert_eq!(document.sets_at(&path("")), [set(10, "b.c"), set(2, "d")]);
        assert_eq!(document.sets_at(&path("b")), [set(10, "b.c")]);
        assert_eq!(document.sets_at(&path("b.c")), [set(10, "b.c")]);
        assert_eq!(document.sets_at(&path("z")), []);
        assert_eq!(document.plain_bytes(), byte_count(document.as_str()) - 5);
    }
}
