//! Compression of answers, for callers that ask for it.

use std::io::Write;

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap, Quality};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::quality;

/// Bytes below which a body is sent uncompressed: it fits one packet either way.
const COMPRESSED_BYTES_MIN: usize = 1024;

/// The compression level; for both methods about the point at which more time hardly reduces the size.
const GZIP_LEVEL: u32 = 5;
const ZSTD_LEVEL: i32 = 3;

/// The coding of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
    Zstd,
}

/// The bytes of a body, and the name of their coding, if any.
pub(super) type Encoded = (Vec<u8>, Option<&'static str>);

/// The body in the chosen coding, and the name of the coding. A small body is never encoded.
pub(super) fn encode(body: String, coding: impl FnOnce() -> Coding) -> Encoded {
    if body.len() < COMPRESSED_BYTES_MIN {
        return (body.into_bytes(), None);
    }
    let encoded = match coding() {
        Coding::Identity => None,
        Coding::Gzip => gzip(body.as_bytes()).map(|bytes| (bytes, "gzip")),
        Coding::Zstd => zstd::bulk::compress(body.as_bytes(), ZSTD_LEVEL).ok().map(|bytes| (bytes, "zstd")),
    };
    match encoded {
        Some((bytes, name)) => (bytes, Some(name)),
        None => (body.into_bytes(), None),
    }
}

fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// The coding that the caller prefers; among equals zstd, then gzip, then none.
pub(super) fn choose(headers: &HeaderMap) -> Coding {
    let lists: Vec<&str> = headers.get_all(ACCEPT_ENCODING).filter_map(|value| value.to_str().ok()).collect();
    let list = lists.join(",");
    let rest = quality::of_exact(&list, "*").unwrap_or(Quality::ZERO);
    let of = |name: &str| quality::of_exact(&list, name).unwrap_or(rest);
    let identity = quality::of_exact(&list, "identity").unwrap_or(Quality::ZERO);
    let candidates = [(identity, Coding::Identity), (of("gzip"), Coding::Gzip), (of("zstd"), Coding::Zstd)];
    let best =
        candidates.into_iter().filter(|(quality, _)| *quality > Quality::ZERO).max_by_key(|(quality, _)| *quality);
    best.map_or(Coding::Identity, |(_, coding)| coding)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use actix_web::http::header::HeaderValue;

    use super::*;

    fn asking(list: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_str(list).unwrap_or_else(|error| panic!("{error}")));
        headers
    }

    #[test]
    fn the_caller_gets_what_it_likes_best() {
        for (list, coding) in [
            ("gzip", Coding::Gzip),
            ("gzip, zstd", Coding::Zstd),
            ("gzip;q=1.0, zstd;q=0.5", Coding::Gzip),
            ("identity;q=1, gzip;q=0.5", Coding::Identity),
            ("*", Coding::Zstd),
            ("zstd;q=0, *;q=0.1", Coding::Gzip),
            ("br, deflate", Coding::Identity),
            ("identity;q=0", Coding::Identity),
            ("", Coding::Identity),
        ] {
            assert_eq!(choose(&asking(list)), coding, "{list}");
        }
        assert_eq!(choose(&HeaderMap::new()), Coding::Identity);
    }

    #[test]
    fn large_bodies_are_compressed_without_loss_and_small_ones_not() {
        let body = "{\"page\":[]}".repeat(1000);
        let (bytes, name) = encode(body.clone(), || Coding::Gzip);
        let mut text = String::new();
        assert!(flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).is_ok());
        assert_eq!((name, &text), (Some("gzip"), &body));
        let (bytes, name) = encode(body.clone(), || Coding::Zstd);
        assert_eq!((name, zstd::bulk::decompress(&bytes, 1 << 20).ok()), (Some("zstd"), Some(body.into_bytes())));
        assert_eq!(encode("true".to_owned(), || Coding::Gzip), (b"true".to_vec(), None));
    }
}
