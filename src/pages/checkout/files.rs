//! The files of checkout and frame, and the script of a shop's own page with its integrity.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use sha2::{Digest, Sha384};
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::{BrowserPage, PageAsset, PageDeclaration, PageReply, browser_page};

use super::{assets, color};
use crate::access::MerchantCaller;
use crate::pages::answered::Request;

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files whose names have a hash of their content.
pub(in crate::pages) const ASSETS: [PageAsset; 5] = [
    PageAsset { path: assets::style_path, bytes: || assets::STYLE.as_bytes(), media_type: STYLE, is_shared: false },
    PageAsset {
        path: assets::checkout_path,
        bytes: || assets::CHECKOUT_SCRIPT.as_bytes(),
        media_type: SCRIPT,
        is_shared: false,
    },
    PageAsset {
        path: assets::mounted_path,
        bytes: || assets::MOUNTED_SCRIPT.as_bytes(),
        media_type: SCRIPT,
        is_shared: false,
    },
    PageAsset {
        path: assets::frame_path,
        bytes: || assets::FRAME_SCRIPT.as_bytes(),
        media_type: SCRIPT,
        is_shared: false,
    },
    PageAsset {
        path: assets::till_path,
        bytes: || assets::TILL_SCRIPT.as_bytes(),
        media_type: SCRIPT,
        is_shared: true,
    },
];

static NEWEST_SCRIPT: PageDeclaration = PageDeclaration { pattern: "/js/v1/till.js", has_form: false };
static INTEGRITY: PageDeclaration = PageDeclaration { pattern: "/js/v1/integrity", has_form: false };
static COLOR: PageDeclaration = PageDeclaration { pattern: "/pay/color/{color}", has_form: false };

/// The files that may change, or are made of their address.
pub(in crate::pages) fn files() -> [Arc<dyn BrowserPage<MerchantCaller>>; 3] {
    [
        browser_page(&NEWEST_SCRIPT, (), newest_script),
        browser_page(&INTEGRITY, (), integrity),
        browser_page(&COLOR, (), color_sheet),
    ]
}

async fn newest_script((): (), _: Request) -> Result<PageReply, ApiError> {
    Ok(PageReply::text(assets::TILL_SCRIPT.to_owned(), SCRIPT).shared().with_caching())
}

/// The address of the script that never changes, with its digest for Subresource Integrity.
async fn integrity((): (), request: Request) -> Result<PageReply, ApiError> {
    let digest = STANDARD.encode(Sha384::digest(assets::TILL_SCRIPT.as_bytes()));
    let url = [request.origin(), assets::till_path()].concat();
    let body = json!({ "url": url, "integrity": format!("sha384-{digest}") });
    Ok(PageReply::text(body.to_string(), "application/json").shared().with_caching())
}

/// The style sheet of a merchant's colour.
async fn color_sheet((): (), request: Request) -> Result<PageReply, ApiError> {
    let unknown = || ApiError::new(Code::NotFound, "There is no such colour.");
    Ok(PageReply::text(color::sheet(request.text(0)).ok_or_else(unknown)?, STYLE).with_caching())
}
