//! Lists with quality values (`a;q=0.5, b`), as `Accept` and `Accept-Encoding` are written.
//!
//! Source: RFC 9110, sections 12.4.2 and 12.5.

/// The quality of an item that gives none, in thousandths.
const QUALITY_MAX: u16 = 1000;

/// The items of a list with their qualities in thousandths. An item whose quality is no such number counts
/// as not acceptable (0).
pub fn items(list: &str) -> impl Iterator<Item = (&str, u16)> {
    list.split(',').filter_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let quality = parts.find_map(|parameter| parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")));
        Some((name, quality.map_or(QUALITY_MAX, thousandths)))
    })
}

/// The quality of the item of exactly this name, ignoring case; the highest when it stands there twice.
#[must_use]
pub fn of_exact(list: &str, name: &str) -> Option<u16> {
    items(list).filter(|(item, _)| item.eq_ignore_ascii_case(name)).map(|(_, quality)| quality).max()
}

fn thousandths(text: &str) -> u16 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction_is_sound = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "0" if fraction_is_sound => format!("{fraction:0<3}").parse().unwrap_or(0),
        "1" if fraction_is_sound && fraction.bytes().all(|byte| byte == b'0') => QUALITY_MAX,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities_are_read_as_thousandths() {
        let list: Vec<_> = items("gzip, zstd;q=0.5 ,br;x=1;q=0.25, deflate;q=0,identity;Q=1.000, ,*;q=2").collect();
        let expected = [("gzip", 1000), ("zstd", 500), ("br", 250), ("deflate", 0), ("identity", 1000), ("*", 0)];
        assert_eq!(list, expected);
    }

    #[test]
    fn a_quality_that_is_no_number_means_not_acceptable() {
        for text in ["", "-1", "1.1", "0.1234", "0.x", "yes", "1.0.0", "00"] {
            assert_eq!(thousandths(text), 0, "{text}");
        }
        assert_eq!((thousandths("0.05"), thousandths("0."), thousandths("1.")), (50, 0, 1000));
    }

    #[test]
    fn names_are_compared_whole_and_without_case() {
        assert_eq!(of_exact("GZIP;q=0.1, gzip;q=0.3", "gzip"), Some(300));
        assert_eq!(of_exact("gzipped", "gzip"), None);
    }
}
