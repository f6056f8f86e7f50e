//! Paths that lead to a value inside metadata.

use std::fmt;

use crate::text::TextError;

/// The largest number of levels that a metadata value may nest. A request body may nest 64 levels and is itself level
/// 1, so 63 levels are left for a value in it.
pub const DEPTH_MAX: usize = 63;

/// The keys of nested objects that lead from the root of a value to a part of it. An empty path is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataPath(Vec<String>);

impl MetadataPath {
    /// Parses keys that are separated by dots. An empty text is the root.
    ///
    /// # Errors
    /// [`TextError`] when a segment is empty, or when there are more than 62 segments, which a value of at most
    /// [`DEPTH_MAX`] levels cannot have.
    pub fn parse(text: &str) -> Result<MetadataPath, TextError> {
        if text.is_empty() {
            return Ok(MetadataPath::default());
        }
        if text.split('.').any(str::is_empty) {
            return Err(TextError("must be keys of objects separated by single dots, none of them empty"));
        }
        if text.split('.').count() >= DEPTH_MAX {
            return Err(TextError("has more than 62 segments, which no value can have"));
        }
        Ok(MetadataPath(text.split('.').map(str::to_owned).collect()))
    }

    /// The keys, from the root inwards.
    #[must_use]
    pub fn segments(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for MetadataPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_keys_separated_by_single_dots() {
        assert_eq!(MetadataPath::parse("").map(|path| path.0), Ok(vec![]));
        let path = MetadataPath::parse("a. b.\u{e9}").expect("three keys");
        assert_eq!(path.segments(), ["a", " b", "\u{e9}"]);
        assert_eq!(path.to_string(), "a. b.\u{e9}");
        for text in [".", "a.", ".a", "a..b"] {
            assert!(MetadataPath::parse(text).is_err(), "{text}");
        }
        assert!(MetadataPath::parse(&vec!["a"; 62].join(".")).is_ok());
        assert!(MetadataPath::parse(&vec!["a"; 63].join(".")).is_err());
    }
}
