//! The pages of the public listener.

use crate::protocol::dispatch::{BrowserPages, PageAsset, browser_page};
use crate::service::Shared;

use super::{checkout, refusal, returning, sandbox, style};

/// The files that pages load.
static ASSETS: [PageAsset; 5] = {
    let [checkout_style, checkout_script, frame_script, till_script] = checkout::ASSETS;
    [style::ASSET, checkout_style, checkout_script, frame_script, till_script]
};

/// All pages of the public listener. The first pattern that matches is taken.
pub fn browser_pages(service: &Shared) -> BrowserPages {
    let mut pages = sandbox::pages(service);
    pages.push(browser_page(&returning::RETURNING, service.clone(), returning::open));
    pages.extend(checkout::files());
    pages.push(browser_page(&checkout::PAYING, service.clone(), checkout::open));
    pages.push(browser_page(&checkout::FRAMED, service.clone(), checkout::framed));
    pages.push(browser_page(&checkout::QR_PICTURE, service.clone(), checkout::qr_picture));
    BrowserPages { pages, assets: &ASSETS, refusal: refusal::page }
}
