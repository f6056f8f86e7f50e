//! API versions: dates, which a request may name in any of three places.

use serde_json::json;

use crate::api_error::{ApiError, Code};

till_domain::word_enum! {
    /// A version of the API. Ordered: later ones are greater.
    pub enum ApiVersion: name {
        /// The first.
        V2025_04_01 => "2025-04-01",
    }
}

impl ApiVersion {
    /// The version that a new key is pinned to.
    pub const NEWEST: ApiVersion = ApiVersion::V2025_04_01;

    /// The version of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ApiVersion> {
        ApiVersion::ALL.into_iter().find(|version| version.name() == name)
    }

    /// The names of all versions, the oldest first.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        ApiVersion::ALL.map(ApiVersion::name).to_vec()
    }

    /// The version that a request names, in any place; None when it names none.
    ///
    /// # Errors
    /// `BAD_VERSION` when a name is unknown, or two names disagree.
    pub fn agreed<'a>(named: impl IntoIterator<Item = (NamedIn, &'a str)>) -> Result<Option<ApiVersion>, ApiError> {
        let mut agreed: Option<(NamedIn, ApiVersion)> = None;
        for (named_in, name) in named {
            let version = ApiVersion::from_name(name).ok_or_else(|| named_in.no_such(name))?;
            match agreed {
                None => agreed = Some((named_in, version)),
                Some((_, earlier)) if earlier == version => {}
                Some((earlier_in, earlier)) => return Err(two_versions((earlier_in, earlier), (named_in, version))),
            }
        }
        Ok(agreed.map(|(_, version)| version))
    }
}

till_domain::word_enum! {
    /// The part of a request that names a version.
    pub enum NamedIn: word {
        /// The first segment of its path.
        Path => "path",
        /// The header `Api-Version`.
        Header => "header",
        /// The parameter `api_version` of its query.
        Query => "query",
    }
}

/// The limit of characters of a name that are repeated to the caller: fewer than a card number has.
const NAME_REPEATED_MAX: usize = 12;

impl NamedIn {
    fn no_such(self, name: &str) -> ApiError {
        let name = if is_repeatable(name) { format!(" {name}") } else { " another text".to_owned() };
        let what = match self {
            NamedIn::Path => {
                format!("The path's first segment,{name}, was taken for an API version, and there is no such version")
            }
            NamedIn::Header => format!("The header Api-Version names{name}, and there is no such version"),
            NamedIn::Query => format!("The query's api_version names{name}, and there is no such version"),
        };
        bad_version(&what, self)
    }
}

/// True when a name can be shown as it is: others cannot be versions by their form alone.
fn is_repeatable(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=NAME_REPEATED_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

fn two_versions(earlier: (NamedIn, ApiVersion), later: (NamedIn, ApiVersion)) -> ApiError {
    let ((earlier_in, earlier), (later_in, later)) = (earlier, later);
    let (earlier, later) = (earlier.name(), later.name());
    let what = format!(
        "The request names two API versions: {earlier} in its {}, {later} in its {}",
        earlier_in.word(),
        later_in.word()
    );
    bad_version(&what, later_in)
}

fn bad_version(what: &str, named_in: NamedIn) -> ApiError {
    let names = ApiVersion::names();
    let message =
        format!("{what}. There are: {}. Name one of them, or none to get that of the API key.", names.join(", "));
    ApiError::new(Code::BadVersion, message).with_details(json!({ "versions": names, "named_in": named_in.word() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_agree_are_one_version_and_none_is_none() {
        assert_eq!(ApiVersion::agreed([]).ok(), Some(None));
        let twice = [(NamedIn::Path, "2025-04-01"), (NamedIn::Header, "2025-04-01")];
        assert_eq!(ApiVersion::agreed(twice).ok(), Some(Some(ApiVersion::V2025_04_01)));
    }

    #[test]
    fn an_unknown_name_is_refused_beside_a_known_one_too() {
        for names in [vec!["2020-01-01"], vec![""], vec!["2025-04-01", "v1"], vec!["2025-4-1"], vec!["2025-04-01 "]] {
            let named = names.iter().map(|name| (NamedIn::Query, *name));
            let Err(error) = ApiVersion::agreed(named) else { panic!("accepted {names:?}") };
            assert_eq!(error.code(), Code::BadVersion);
            assert_eq!(error.details(), Some(&json!({"versions": ["2025-04-01"], "named_in": "query"})));
        }
    }

    #[test]
    fn a_refusal_names_the_text_taken_for_a_version_and_its_place() {
        let long = "1".repeat(33);
        for (named_in, name, beginning) in [
            (NamedIn::Path, "v1", "The path's first segment, v1, was taken for an API version"),
            (NamedIn::Header, "2020-01-01", "The header Api-Version names 2020-01-01, and there is no such"),
            (NamedIn::Query, "", "The query's api_version names another text, and"),
            (NamedIn::Header, &long, "The header Api-Version names another text, and"),
            (NamedIn::Query, "a b", "The query's api_version names another text, and"),
        ] {
            let Err(error) = ApiVersion::agreed([(named_in, name)]) else { panic!("accepted {name}") };
            assert!(error.message().starts_with(beginning), "{}", error.message());
            assert!(error.message().contains("There are: 2025-04-01."), "{}", error.message());
        }
        let version = ApiVersion::NEWEST;
        let error = two_versions((NamedIn::Path, version), (NamedIn::Header, version));
        let beginning = "The request names two API versions: 2025-04-01 in its path, 2025-04-01 in its header.";
        assert!(error.message().starts_with(beginning), "{}", error.message());
    }

    #[test]
    fn the_newest_is_the_last_of_all() {
        assert_eq!(ApiVersion::ALL.iter().max(), Some(&ApiVersion::NEWEST));
        assert!(ApiVersion::ALL.is_sorted());
    }
}
