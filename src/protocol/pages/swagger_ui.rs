//! Swagger UI, served from the binary: pages on which a person reads the interface and tries it.
//!
//! The files come from a crate that contains the published archive. They are unpacked in memory at the first request.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::OnceLock;

use actix_web::web::Bytes;

/// The folder of the archive that is served.
const SERVED: &str = "/dist/";

/// The script that tells the pages the document's address.
const INITIALIZER: &str = r##"window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: "StandaloneLayout",
  });
};
"##;

/// A file of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocsFile {
    /// Its content.
    pub(super) bytes: Bytes,
    pub(super) media_type: &'static str,
}

/// The file of this name; the first page when it is empty.
pub(super) fn page(name: &str) -> Option<DocsFile> {
    static FILES: OnceLock<BTreeMap<String, Bytes>> = OnceLock::new();
    let name = if name.is_empty() { "index.html" } else { name };
    if name == "swagger-initializer.js" {
        return Some(DocsFile { bytes: Bytes::from_static(INITIALIZER.as_bytes()), media_type: media_type(name) });
    }
    let files = FILES.get_or_init(|| unpack().unwrap_or_default());
    files.get(name).map(|bytes| DocsFile { bytes: bytes.clone(), media_type: media_type(name) })
}

fn unpack() -> Option<BTreeMap<String, Bytes>> {
    let archive = Cursor::new(utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED);
    let mut archive = zip::ZipArchive::new(archive).ok()?;
    let mut files = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).ok()?;
        let name = file.name().ok()?.split_once(SERVED).map(|(_, name)| name.to_owned());
        if let Some(name) = name.filter(|name| is_shown(name)) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).ok()?;
            files.insert(name, Bytes::from(bytes));
        }
    }
    Some(files)
}

/// True for a file that the pages need: not source maps, not module builds.
fn is_shown(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or("");
    matches!(ending, "html" | "css" | "js" | "png") && !name.contains("-es-")
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("png") => "image/png",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_and_what_they_load_are_there() {
        let first = page("").expect("the first page");
        assert_eq!(first.media_type, "text/html; charset=utf-8");
        let html = String::from_utf8(first.bytes.to_vec()).expect("text");
        for name in
            ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-initializer.js"]
        {
            assert!(html.contains(name), "{name}");
            assert!(page(name).is_some_and(|page| !page.bytes.is_empty()), "{name}");
        }
        assert_eq!(page("../Cargo.toml"), None);
        assert_eq!(page("swagger-ui.css.map"), None);
    }
}
