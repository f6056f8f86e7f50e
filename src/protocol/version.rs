//! API versions: dates, named in any of three places.

use serde_json::json;

use crate::protocol::api_error::{ApiError, Code};

/// A version of the API. Ordered: later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiVersion {
    /// The first.
    V2025_04_01,
}

impl ApiVersion {
    /// Every version there is, oldest first.
    pub const ALL: &'static [ApiVersion] = &[ApiVersion::V2025_04_01];

    /// The one that a new key is pinned to.
    pub const NEWEST: ApiVersion = ApiVersion::V2025_04_01;

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ApiVersion::V2025_04_01 => "2025-04-01",
        }
    }

    /// The version of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ApiVersion> {
        ApiVersion::ALL.iter().copied().find(|version| version.name() == name)
    }

    /// The names of all versions, oldest first.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        ApiVersion::ALL.iter().map(|version| version.name()).collect()
    }

    /// The version that a request asks for, wherever it names one; None when it names none.
    ///
    /// # Errors
    /// `BAD_VERSION` when a name is no version's, or two names disagree.
    pub fn agreed<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Option<ApiVersion>, ApiError> {
        let mut agreed = None;
        for name in names {
            let version = ApiVersion::from_name(name).ok_or_else(|| bad_version("There is no such API version"))?;
            match agreed {
                None => agreed = Some(version),
                Some(earlier) if earlier == version => {}
                Some(_) => return Err(bad_version("The request names two different API versions")),
            }
        }
        Ok(agreed)
    }
}

fn bad_version(what: &str) -> ApiError {
    let names = ApiVersion::names();
    ApiError::new(Code::BadVersion, format!("{what}. There are: {}.", names.join(", ")))
        .with_details(json!({ "versions": names }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_agree_are_one_version_and_none_is_none() {
        assert_eq!(ApiVersion::agreed([]).ok(), Some(None));
        assert_eq!(ApiVersion::agreed(["2025-04-01", "2025-04-01"]).ok(), Some(Some(ApiVersion::V2025_04_01)));
    }

    #[test]
    fn an_unknown_name_is_refused_beside_a_known_one_too() {
        for names in [vec!["2020-01-01"], vec![""], vec!["2025-04-01", "v1"], vec!["2025-4-1"], vec!["2025-04-01 "]] {
            let Err(error) = ApiVersion::agreed(names.iter().copied()) else { panic!("accepted {names:?}") };
            assert_eq!(error.code(), Code::BadVersion);
            assert_eq!(error.details(), Some(&json!({"versions": ["2025-04-01"]})));
        }
    }

    #[test]
    fn the_newest_is_the_last_of_all() {
        assert_eq!(ApiVersion::ALL.iter().max(), Some(&ApiVersion::NEWEST));
        assert!(ApiVersion::ALL.is_sorted());
    }
}
