//! The style of the pages that are no checkout, and the icon of all: files whose names have a hash of their content.

use std::sync::LazyLock;

use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{PageAsset, PageDeclaration, PageReply};

use super::answered::Request;

const STYLE: &[u8] = include_bytes!("style.css");

const ICON: &str = include_str!("icon.svg");

const ICON_TYPE: &str = "image/svg+xml";

static PATH: LazyLock<String> = LazyLock::new(|| format!("/assets/style-{}.css", &blake3::hash(STYLE).to_hex()[..16]));

static ICON_PATH: LazyLock<String> =
    LazyLock::new(|| format!("/assets/icon-{}.svg", &blake3::hash(ICON.as_bytes()).to_hex()[..16]));

/// The file of the style, and that of the icon.
pub(super) const ASSETS: [PageAsset; 2] = [
    PageAsset { path, bytes: || STYLE, media_type: "text/css; charset=utf-8", is_shared: false },
    PageAsset { path: icon_path, bytes: || ICON.as_bytes(), media_type: ICON_TYPE, is_shared: false },
];

/// The path of the style.
pub(super) fn path() -> &'static str {
    &PATH
}

/// The path of the icon.
pub(super) fn icon_path() -> &'static str {
    &ICON_PATH
}

/// The address at which browsers look for an icon before they have read a page.
pub(super) static USUAL_ICON: PageDeclaration = PageDeclaration { pattern: "/favicon.ico", has_form: false };

/// The icon.
pub(super) async fn usual_icon((): (), _: Request) -> Result<PageReply, ApiError> {
    Ok(PageReply::text(ICON.to_owned(), ICON_TYPE).with_caching())
}
