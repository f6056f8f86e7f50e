//! The documents that are served as pages, and who reads them.

use std::sync::OnceLock;

use actix_web::web::Bytes;

use super::page_file::Audience;

/// A document of the repository that is a page, too.
#[derive(Debug)]
pub(super) struct Guide {
    /// Its name in addresses.
    pub(super) name: &'static str,
    /// Its name in the list of documents that each page has.
    pub(super) title: &'static str,
    /// Its file in the repository, which other documents link to.
    pub(super) file: &'static str,
    pub(super) text: &'static str,
    /// True when it is for operators alone.
    is_internal: bool,
    pub(super) for_merchants: OnceLock<Bytes>,
    pub(super) for_operators: OnceLock<Bytes>,
}

macro_rules! guide {
    ($name:literal, $title:literal, $file:literal, is_internal: $is_internal:literal) => {
        Guide {
            name: $name,
            title: $title,
            file: $file,
            text: include_str!(concat!("../../../", $file)),
            is_internal: $is_internal,
            for_merchants: OnceLock::new(),
            for_operators: OnceLock::new(),
        }
    };
}

/// All of them, in the order in which pages list them.
static GUIDES: [Guide; 18] = [
    guide!("operations", "Operations", "docs/operations.md", is_internal: true),
    guide!("settings", "Settings", "docs/settings.md", is_internal: true),
    guide!("refused-starts", "Refused starts", "docs/refused-starts.md", is_internal: true),
    guide!("alerts", "Alerts", "docs/alerts.md", is_internal: true),
    guide!("metrics", "Metrics", "docs/metrics.md", is_internal: true),
    guide!("postgresql", "The log in PostgreSQL", "docs/postgresql.md", is_internal: true),
    guide!("admin-api", "The operator's API", "docs/admin-api.md", is_internal: true),
    guide!("repair", "Repair", "docs/repair.md", is_internal: true),
    guide!("export", "Export", "docs/export.md", is_internal: true),
    guide!("limits", "Limits", "docs/limits.md", is_internal: true),
    guide!("build-a-shop", "Build a shop", "docs/build-a-shop.md", is_internal: false),
    guide!("dashboard", "The dashboard", "docs/dashboard.md", is_internal: false),
    guide!("till-js", "Till.mount", "docs/till-js.md", is_internal: false),
    guide!("a-shops-month", "A shop's month", "docs/a-shops-month.md", is_internal: false),
    guide!("api", "The API", "docs/api.md", is_internal: false),
    guide!("errors", "Errors", "docs/errors.md", is_internal: false),
    guide!("sandbox", "The sandbox", "docs/sandbox.md", is_internal: false),
    guide!("about", "About Till", "README.md", is_internal: false),
];

/// The documents for an audience.
pub(super) fn guides_for(audience: Audience) -> impl Iterator<Item = &'static Guide> {
    GUIDES.iter().filter(move |guide| audience == Audience::Operators || !guide.is_internal)
}
