//! A file of the pages, and its audience.

use actix_web::web::Bytes;

/// A file of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageFile {
    /// Its content.
    pub(crate) bytes: Bytes,
    pub(crate) media_type: &'static str,
}

/// The people for whom a listener's pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Engineers of merchants, on the public listener.
    Merchants,
    /// Operators, on the admin listener.
    Operators,
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
