//! The documents that are served as pages, and who reads them.

use std::sync::OnceLock;

use actix_web::web::Bytes;

use super::layout;
use super::markdown;
use super::served::{Audience, PageFile};

/// A document of the repository that is a page, too.
#[derive(Debug)]
pub(super) struct Guide {
    /// Its name in addresses.
    pub(super) name: &'static str,
    /// Its name in the list of documents that each page has.
    pub(super) title: &'static str,
    /// Its file in the repository, which other documents link to.
    file: &'static str,
    text: &'static str,
    /// True when it is for operators alone.
    is_internal: bool,
    for_merchants: OnceLock<Bytes>,
    for_operators: OnceLock<Bytes>,
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
static GUIDES: [Guide; 11] = [
    guide!("operations", "Operations", "docs/operations.md", is_internal: true),
    guide!("admin-api", "The operator's API", "docs/admin-api.md", is_internal: true),
    guide!("repair", "Repair", "docs/repair.md", is_internal: true),
    guide!("export", "Export", "docs/export.md", is_internal: true),
    guide!("limits", "Limits", "docs/limits.md", is_internal: true),
    guide!("build-a-shop", "Build a shop", "docs/build-a-shop.md", is_internal: false),
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

/// The page of the document with this name.
pub(super) fn page(name: &str, audience: Audience) -> Option<PageFile> {
    let guide = guides_for(audience).find(|guide| guide.name == name)?;
    let page = match audience {
        Audience::Merchants => &guide.for_merchants,
        Audience::Operators => &guide.for_operators,
    };
    let bytes = page.get_or_init(|| Bytes::from(guide.page(audience)));
    Some(PageFile::of(name, bytes.clone()))
}

impl Guide {
    fn page(&self, audience: Audience) -> String {
        let content = markdown::to_html(self.text, |link| self.target(link, audience));
        layout::page(audience, self.title, self.name, "", &format!("<main>\n{content}</main>\n"))
    }

    /// The address of a link of the document on these pages. None when it leads to a file that is no page for the
    /// audience.
    fn target(&self, link: &str, audience: Audience) -> Option<String> {
        if link.starts_with('#') || link.contains("://") {
            return Some(link.to_owned());
        }
        let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
        let file = self.file_at(path);
        let guide = guides_for(audience).find(|guide| guide.file == file)?;
        Some(heading.map_or(guide.name.to_owned(), |heading| format!("{}#{heading}", guide.name)))
    }

    /// The file in the repository at a path relative to this document.
    fn file_at(&self, path: &str) -> String {
        match (path.strip_prefix("../"), self.file.rsplit_once('/')) {
            (Some(path), _) => path.to_owned(),
            (None, Some((folder, _))) => format!("{folder}/{path}"),
            (None, None) => path.to_owned(),
        }
    }
}
