//! The targets that a path can name.
//!
//! A path is compared as it was sent. Names are plain ASCII, so a path that is percent-encoded, has an empty segment or
//! ends in a slash is another path, and leads to nothing: every endpoint has one address. Only an interface itself has
//! two, since the `base_url` in its document ends in a slash.

use crate::declaration::Package;

/// The log's name for a path that leads to nothing: the path itself may contain a secret.
pub const UNKNOWN_PATH: &str = "(unknown)";

/// The limit of characters of a version in a path; a longer segment is not treated as a version.
const VERSION_LENGTH_MAX: usize = 32;

/// A path that can lead to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParsedPath<'p> {
    /// The root, for a caller who knows only the host.
    Root,
    /// An interface, or one of its functions.
    Package {
        /// The first segment, when it names a version.
        version: Option<&'p str>,
        package: Package,
        /// The function's name; None for the interface itself.
        function: Option<&'p str>,
    },
    /// One of the paths for the operator's tools.
    Probe(Probe),
    /// The OpenAPI document of everything that the listener serves.
    OpenApi,
    /// A file of the documentation pages, by its name; the first page when empty. None when the path lacks the slash
    /// that their relative links need.
    Pages(Option<&'p str>),
}

/// The page that names the other documents.
pub(super) const ROOT_PATH: &str = "/";

/// The path of the OpenAPI document.
pub(super) const OPENAPI_PATH: &str = "/openapi.json";

/// The path of the documentation pages.
pub(super) const PAGES_PATH: &str = "/docs";

till_domain::word_enum! {
    /// The paths for the operator's tools, which use GET without a token.
    pub(super) enum Probe: path {
        /// Counters for Prometheus.
        Metrics => "/metrics",
        /// Liveness: answers as long as the process does.
        Live => "/health/live",
        /// Readiness: says if the server takes calls.
        Ready => "/health/ready",
    }
}

/// Parses a path. None when it cannot lead to anything.
pub(super) fn locate(path: &str) -> Option<ParsedPath<'_>> {
    if let Some(probe) = Probe::ALL.into_iter().find(|probe| probe.path() == path) {
        return Some(ParsedPath::Probe(probe));
    }
    if path == ROOT_PATH {
        return Some(ParsedPath::Root);
    }
    if path == OPENAPI_PATH {
        return Some(ParsedPath::OpenApi);
    }
    if let Some(rest) = path.strip_prefix(PAGES_PATH) {
        let name = rest.strip_prefix('/');
        return (rest.is_empty() || name.is_some()).then_some(ParsedPath::Pages(name));
    }
    let mut segments = path.strip_prefix('/')?.split('/');
    let first = segments.next()?;
    let (version, package) = match Package::from_segment(first) {
        Some(package) => (None, package),
        None if is_version_like(first) => (Some(first), Package::from_segment(segments.next()?)?),
        None => return None,
    };
    let function = segments.next().filter(|name| !name.is_empty());
    segments.next().is_none().then_some(ParsedPath::Package { version, package, function })
}

/// The texts at the segments in braces of a pattern; None when the path is none of the pattern's.
pub(super) fn texts_in(path: &str, pattern: &str) -> Option<Vec<String>> {
    let (mut known, mut found) = (pattern.split('/'), path.split('/'));
    let mut texts = Vec::new();
    loop {
        match (known.next(), found.next()) {
            (None, None) => return Some(texts),
            (Some(known), Some(found)) if known.starts_with('{') && !found.is_empty() => {
                texts.push(found.to_owned());
            }
            (Some(known), Some(found)) if known == found => {}
            (Some(_), _) | (None, Some(_)) => return None,
        }
    }
}

fn is_version_like(segment: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=VERSION_LENGTH_MAX).contains(&segment.len()) && segment.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str) -> Option<(Option<&str>, Package, Option<&str>)> {
        match locate(path)? {
            ParsedPath::Package { version, package, function } => Some((version, package, function)),
            ParsedPath::Root | ParsedPath::Probe(_) | ParsedPath::OpenApi | ParsedPath::Pages(_) => None,
        }
    }

    #[test]
    fn a_pattern_matches_whole_paths_and_tells_what_stands_in_its_braces() {
        let texts = |path: &str| texts_in(path, "/return/{merchant_id}/{session}");
        assert_eq!(texts("/return/a/b"), Some(vec!["a".to_owned(), "b".to_owned()]));
        for other in ["/return/a", "/return/a/b/", "/return/a/b/c", "/return//b", "/Return/a/b", "return/a/b", "/"] {
            assert_eq!(texts(other), None, "{other}");
        }
    }

    #[test]
    fn packages_and_functions_are_found_with_and_without_a_version() {
        assert_eq!(place("/merchants"), Some((None, Package::Merchants, None)));
        assert_eq!(place("/sdk/check-status"), Some((None, Package::Sdk, Some("check-status"))));
        assert_eq!(place("/2025-04-01/merchants/x"), Some((Some("2025-04-01"), Package::Merchants, Some("x"))));
        assert_eq!(place("/v9/admin"), Some((Some("v9"), Package::Admin, None)));
        assert_eq!(place("/merchants/"), Some((None, Package::Merchants, None)));
        assert_eq!(place("/2025-04-01/sdk/"), Some((Some("2025-04-01"), Package::Sdk, None)));
    }

    #[test]
    fn the_documents_for_people_are_found() {
        assert_eq!(locate("/"), Some(ParsedPath::Root));
        assert_eq!(locate("/openapi.json"), Some(ParsedPath::OpenApi));
        assert_eq!(locate("/docs"), Some(ParsedPath::Pages(None)));
        assert_eq!(locate("/docs/"), Some(ParsedPath::Pages(Some(""))));
        assert_eq!(locate("/docs/swagger-ui.css"), Some(ParsedPath::Pages(Some("swagger-ui.css"))));
        assert_eq!(locate("/docsx"), None);
    }

    #[test]
    fn nothing_is_at_a_path_of_another_spelling() {
        for path in [
            "",
            "//",
            "*",
            "merchants",
            "/merchants//",
            "/merchants/x/",
            "//merchants",
            "//merchants/x",
            "/merchants//x",
            "/%6Derchants",
            "/Merchants",
            "/merchants/x/y",
            "/2025-04-01/merchants/x/y",
            "/2025-04-01//merchants/x",
            "/2025-04-01/",
            "/a/b/merchants/x",
            "/2025%2D04-01/merchants",
            "/favicon.ico",
            "/metrics/",
            "/health",
            "/2025-04-01/metrics",
        ] {
            assert_eq!(locate(path), None, "{path}");
        }
    }

    #[test]
    fn probes_stand_at_their_own_paths() {
        assert_eq!(locate("/health/ready"), Some(ParsedPath::Probe(Probe::Ready)));
        assert_eq!(locate("/metrics"), Some(ParsedPath::Probe(Probe::Metrics)));
    }
}
