//! The files that a listener serves below `/docs`. Each is made once, at its first request.

use actix_web::web::Bytes;

use super::page_file::{Audience, PageFile};
use super::{guide_page, swagger_ui};

/// The style of all pages.
const STYLE: &str = include_str!("pages.css");

/// The file of this name; the first page when it is empty.
pub(crate) fn page(name: &str, audience: Audience) -> Option<PageFile> {
    if name == "pages.css" {
        return Some(PageFile::of(name, Bytes::from_static(STYLE.as_bytes())));
    }
    swagger_ui::page(name, audience).or_else(|| guide_page::page(name, audience))
}
