//! Lists with quality values (`a;q=0.5, b`), the syntax of `Accept` and `Accept-Encoding`.
//!
//! Source: RFC 9110, sections 12.4.2 and 12.5.

use actix_web::http::header::{Quality, QualityItem};

/// The quality of the item of exactly this name, ignoring case; the highest one when the item occurs twice. An item
/// with an invalid quality is ignored.
#[must_use]
pub fn of_exact(list: &str, name: &str) -> Option<Quality> {
    let items = list.split(',').filter_map(|item| item.trim().parse::<QualityItem<String>>().ok());
    let is_named = |item: &str| item.split(';').next().is_some_and(|item| item.trim().eq_ignore_ascii_case(name));
    items.filter(|item| is_named(&item.item)).map(|item| item.quality).max()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::q;

    use super::*;

    #[test]
    fn qualities_are_read_and_default_to_the_highest() {
        let list = "gzip, zstd;q=0.5 ,br;x=1;q=0.25, deflate;q=0,identity;Q=1.000, ,";
        let expected = [("gzip", 1.0), ("zstd", 0.5), ("br", 0.25), ("deflate", 0.0), ("identity", 1.0)];
        for (name, quality) in expected {
            assert_eq!(of_exact(list, name), Some(q(quality)), "{name}");
        }
    }

    #[test]
    fn a_quality_that_is_no_number_does_not_count() {
        for text in ["", "-1", "1.1", "0.x", "yes", "1.0.0"] {
            assert_eq!(of_exact(&format!("gzip;q={text}"), "gzip"), None, "{text}");
        }
    }

    #[test]
    fn names_are_compared_whole_and_without_case() {
        assert_eq!(of_exact("GZIP;q=0.1, gzip;q=0.3", "gzip"), Some(q(0.3)));
        assert_eq!(of_exact("gzipped", "gzip"), None);
    }
}
