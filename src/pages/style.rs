//! The style of all pages, a file whose name has a hash of its content.

use std::sync::LazyLock;

use crate::protocol::dispatch::PageAsset;

const STYLE: &[u8] = include_bytes!("style.css");

static PATH: LazyLock<String> = LazyLock::new(|| format!("/assets/style-{}.css", &blake3::hash(STYLE).to_hex()[..16]));

/// The files that pages load.
pub(super) static ASSETS: [PageAsset; 1] = [PageAsset { path, bytes: STYLE, media_type: "text/css; charset=utf-8" }];

/// The path of the style.
pub(super) fn path() -> &'static str {
    &PATH
}
