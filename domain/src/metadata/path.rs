//! Paths of values in metadata.

use std::fmt;

use crate::text::TextError;

/// Levels that a metadata value may nest, so that it fits into a body, which is level 1 of at most 64.
pub const DEPTH_MAX: usize = 63;

/// Keys of objects, from the root inwards. An empty path is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataPath(Vec<String>);

impl MetadataPath {
    /// Reads the keys, separated by dots. An empty text is the root.
    ///
    /// # Errors
    /// When a segment is empty, or there are more segments than a value can have levels.
    pub fn parse(text: &str) -> Result<MetadataPath, TextError> {
        if text.is_empty() {
            return Ok(MetadataPath::default());
        }
        if text.split('.').any(str::is_empty) {
            return Err(TextError("must be keys of objects separated by single dots, none of them empty"));
        }
        if text.split('.').count() >= DEPTH_MAX {
            return Err(TextError("has more segments than a value may nest: at most 62"));
        }
        Ok(MetadataPath(text.split('.').map(str::to_owned).collect()))
    }

    /// The keys.
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
    fn a_path_is_keys_between_single_dots() {
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
