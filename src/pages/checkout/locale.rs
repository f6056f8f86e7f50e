//! The languages of the pages for customers, and the choice of one.

use actix_web::http::header::{Quality, QualityItem};
pub(super) use till_domain::checkout::Locale;

/// The language of a page: the customer's own choice, else the checkout's, else the browser's, else English.
pub(super) fn choose(own_choice: Option<&str>, of_checkout: Option<Locale>, accept_language: Option<&str>) -> Locale {
    let chosen = own_choice.and_then(locale_of_name).or(of_checkout);
    chosen.or_else(|| accept_language.and_then(preferred_locale)).unwrap_or(Locale::English)
}

/// The language of exactly this name.
fn locale_of_name(name: &str) -> Option<Locale> {
    Locale::ALL.into_iter().find(|locale| locale.name() == name)
}

/// The language that a browser prefers of those that there are. The first one wins among equals.
///
/// Source: RFC 9110, section 12.5.4.
fn preferred_locale(header: &str) -> Option<Locale> {
    let items = header.split(',').filter_map(|item| item.trim().parse::<QualityItem<String>>().ok());
    let known = items.filter(|item| item.quality > Quality::ZERO).filter_map(|QualityItem { item, quality }| {
        let language = item.split('-').next()?.to_ascii_lowercase();
        Some((quality, locale_of_name(&language)?))
    });
    known.rev().max_by_key(|(quality, _)| *quality).map(|(_, locale)| locale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_customers_choice_counts_most_and_english_least() {
        assert_eq!(choose(Some("de"), Some(Locale::Thai), Some("ja")), Locale::German);
        assert_eq!(choose(None, Some(Locale::Thai), Some("ja")), Locale::Thai);
        assert_eq!(choose(Some("xx"), None, Some("ja")), Locale::Japanese);
        assert_eq!(choose(Some(""), None, Some("fr")), Locale::English);
        assert_eq!(choose(None, None, None), Locale::English);
    }

    #[test]
    fn a_browsers_languages_count_by_their_quality() {
        for (header, expected) in [
            ("de-CH, de;q=0.9, en;q=0.8", Some(Locale::German)),
            ("fr, en;q=0.5, th;q=0.75", Some(Locale::Thai)),
            ("AR-EG", Some(Locale::Arabic)),
            ("en;q=0, ja;q=0.001", Some(Locale::Japanese)),
            ("th, ja", Some(Locale::Thai)),
            ("en;q=0", None),
            ("de;q=2, de;q=0.1234, de;q=, de;q=a.b", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(preferred_locale(header), expected, "{header}");
        }
    }
}
