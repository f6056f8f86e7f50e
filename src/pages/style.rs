//! The style of all pages, a file whose name has a hash of its content.

use std::sync::LazyLock;

use crate::protocol::dispatch::PageAsset;

const STYLE: &[u8] = include_bytes!("style.css");

static PATH: LazyLock<String> = LazyLock::new(|| format!("/assets/style-{}.css", &blake3::hash(STYLE).to_hex()[..16]));

/// The file of the style.
pub(super) const ASSET: PageAsset =
    PageAsset { path, bytes: STYLE, media_type: "text/css; charset=utf-8", is_shared: false };

/// The path of the style.
pub(super) fn path() -> &'static str {
    &PATH
}
