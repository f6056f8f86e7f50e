//! The pages of the public listener.

use crate::protocol::dispatch::{BrowserPages, browser_page};
use crate::service::Shared;

use super::{refusal, returning, sandbox, style};

/// All pages of the public listener.
pub fn browser_pages(service: &Shared) -> BrowserPages {
    let mut pages = sandbox::pages(service);
    pages.push(browser_page(&returning::RETURNING, service.clone(), returning::open));
    BrowserPages { pages, assets: &style::ASSETS, refusal: refusal::page }
}
