//! The pages of documents.

use actix_web::web::Bytes;

use super::guides::{Guide, guides_for};
use super::page_file::{Audience, PageFile};
use super::{layout, markdown};

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
