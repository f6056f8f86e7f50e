//! The style of the dashboard: a file whose name has a hash of its content.

use std::sync::LazyLock;

use till_protocol::dispatch::PageAsset;

pub(in crate::pages) use crate::pages::style::icon_path;

const STYLE: &[u8] = include_bytes!("dashboard.css");

static PATH: LazyLock<String> =
    LazyLock::new(|| format!("/assets/dashboard-{}.css", &blake3::hash(STYLE).to_hex()[..16]));

/// The file.
pub(in crate::pages) const STYLE_ASSET: PageAsset =
    PageAsset { path: style_path, bytes: || STYLE, media_type: "text/css; charset=utf-8", is_shared: false };

/// Its path.
pub(in crate::pages) fn style_path() -> &'static str {
    &PATH
}
