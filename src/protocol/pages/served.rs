//! The files that a listener serves below `/docs`. Each is made once, at its first request.

use actix_web::web::Bytes;

use super::{guides, swagger_ui};

/// The style of all pages.
const STYLE: &str = include_str!("pages.css");

/// A file of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::protocol) struct PageFile {
    /// Its content.
    pub(in crate::protocol) bytes: Bytes,
    pub(in crate::protocol) media_type: &'static str,
}

/// The people for whom a listener's pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::protocol) enum Audience {
    /// Engineers of merchants, on the public listener.
    Merchants,
    /// Operators, on the admin listener.
    Operators,
}

/// The file of this name; the first page when it is empty.
pub(in crate::protocol) fn page(name: &str, audience: Audience) -> Option<PageFile> {
    if name == "pages.css" {
        return Some(PageFile::of(name, Bytes::from_static(STYLE.as_bytes())));
    }
    swagger_ui::page(name, audience).or_else(|| guides::page(name, audience))
}

impl PageFile {
    /// A file, whose name says its media type. A name without an ending is that of a page.
    pub(super) fn of(name: &str, bytes: Bytes) -> PageFile {
        let media_type = match name.rsplit_once('.').map(|(_, ending)| ending) {
            None | Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("png") => "image/png",
            Some(_) => "application/octet-stream",
        };
        PageFile { bytes, media_type }
    }
}
