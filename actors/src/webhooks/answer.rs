//! The part of an endpoint's answer that is kept.

use std::time::{Duration, SystemTime};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, RETRY_AFTER};

use super::retry_schedule::retry_after;

/// Bytes of an excerpt, at most.
pub const EXCERPT_BYTES_MAX: usize = 512;

/// Bytes that are gathered of a body: an excerpt, and the end of a character that begins within it.
const GATHERED_BYTES_MAX: usize = EXCERPT_BYTES_MAX + 3;

/// An endpoint's answer with any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointAnswer {
    /// The status, from 100 to 999.
    pub status: u16,
    /// The beginning of the body: at most [`EXCERPT_BYTES_MAX`] bytes of text without control characters.
    pub excerpt: String,
    /// The wait that the endpoint asks for, as [`retry_after`] reads it.
    pub retry_after: Option<Duration>,
}

/// The wait that the headers of an answer ask for.
pub(super) fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

/// Gathers the beginning of a body, until there is enough of it, it ends or it breaks off. What is gathered stays when
/// this is dropped.
pub(super) async fn gather(body: &mut Incoming, gathered: &mut Vec<u8>) {
    while gathered.len() < GATHERED_BYTES_MAX
        && let Some(Ok(frame)) = body.frame().await
    {
        let data: Bytes = frame.into_data().unwrap_or_default();
        let missing = GATHERED_BYTES_MAX - gathered.len();
        gathered.extend(data.iter().take(missing));
    }
}

/// The excerpt of a body that begins with these bytes. Control characters, line ends too, become spaces.
pub(super) fn excerpt_of(gathered: &[u8]) -> String {
    let text = String::from_utf8_lossy(gathered);
    let mut excerpt = text.replace(char::is_control, " ");
    excerpt.truncate(excerpt.floor_char_boundary(EXCERPT_BYTES_MAX));
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(excerpt_of(b"a\r\n\tb\0c\x1b[31md\x7fe\xc2\x85f"), "a   b c [31md e f");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(excerpt_of(b"a\xffb\xc3"), "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn an_excerpt_has_at_most_512_bytes_and_whole_characters() {
        assert_eq!(excerpt_of(&[b'a'; 512]), "a".repeat(512));
        assert_eq!(excerpt_of(&[b'a'; 515]), "a".repeat(512));
        let gathered = &"บ".repeat(200).into_bytes()[..GATHERED_BYTES_MAX];
        assert_eq!(excerpt_of(gathered), "บ".repeat(170));
        let gathered = &[b"a".as_slice(), &"😀".repeat(200).into_bytes()].concat()[..GATHERED_BYTES_MAX];
        assert_eq!(excerpt_of(gathered), format!("a{}", "😀".repeat(127)));
    }
}
