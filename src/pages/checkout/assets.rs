//! The files that the pages for customers load. Their names have a hash of their content.

use std::sync::LazyLock;

pub(super) use crate::pages::style::icon_path;

/// The style of checkout and frame.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| shortened(include_str!("checkout.css")));

/// The script of the checkout page. Its first part is that of every page with card fields.
pub(super) static CHECKOUT_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    shortened(concat!(include_str!("card_form.js"), include_str!("hosted.js"), include_str!("checkout.js")))
});

/// The script of the checkout page in a frame.
pub(super) static MOUNTED_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    shortened(concat!(
        include_str!("card_form.js"),
        include_str!("shop_port.js"),
        include_str!("mounted.js"),
        include_str!("checkout.js")
    ))
});

/// The script of the frame without a checkout.
pub(super) static FRAME_SCRIPT: LazyLock<String> = LazyLock::new(|| {
    shortened(concat!(include_str!("card_form.js"), include_str!("shop_port.js"), include_str!("frame.js")))
});

/// The script that a shop's page loads.
pub(super) const TILL_SCRIPT: &str = include_str!("till.js");

static STYLE_HASH: LazyLock<String> = LazyLock::new(|| hash(&STYLE));
static STYLE_PATH: LazyLock<String> = LazyLock::new(|| path("assets/checkout-", &STYLE, "css"));
static CHECKOUT_PATH: LazyLock<String> = LazyLock::new(|| path("assets/checkout-", &CHECKOUT_SCRIPT, "js"));
static MOUNTED_PATH: LazyLock<String> = LazyLock::new(|| path("assets/mounted-", &MOUNTED_SCRIPT, "js"));
static FRAME_PATH: LazyLock<String> = LazyLock::new(|| path("assets/frame-", &FRAME_SCRIPT, "js"));
static TILL_PATH: LazyLock<String> = LazyLock::new(|| path("js/till.", TILL_SCRIPT, "js"));

/// A file without comments that have lines of their own, and without indents: nobody but its authors needs them.
fn shortened(source: &str) -> String {
    let begins_comment = |line: &str| ["//", "/*", "* ", "*/"].iter().any(|sign| line.starts_with(sign));
    let is_needed = |line: &&str| !matches!(*line, "" | "*") && !begins_comment(line);
    source.lines().map(str::trim).filter(is_needed).collect::<Vec<_>>().join("\n")
}

fn path(beginning: &str, content: &str, ending: &str) -> String {
    format!("/{beginning}{}.{ending}", hash(content))
}

fn hash(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex()[..16].to_owned()
}

/// The hash of the style.
pub(super) fn style_hash() -> &'static str {
    &STYLE_HASH
}

/// The path of the style.
pub(super) fn style_path() -> &'static str {
    &STYLE_PATH
}

/// The path of the checkout's script.
pub(super) fn checkout_path() -> &'static str {
    &CHECKOUT_PATH
}

/// The path of the checkout's script in a frame.
pub(super) fn mounted_path() -> &'static str {
    &MOUNTED_PATH
}

/// The path of the frame's script.
pub(super) fn frame_path() -> &'static str {
    &FRAME_PATH
}

/// The path of the shop's script that never changes its content.
pub(super) fn till_path() -> &'static str {
    &TILL_PATH
}
