//! Swagger UI, served from the binary: the page on which a person reads the interface and tries it.
//!
//! The files come from a crate that contains the published archive. They are unpacked in memory at the first request.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::OnceLock;

use actix_web::web::Bytes;

use super::layout;
use super::page_file::{Audience, PageFile};

/// The folder of the archive that is served.
const SERVED: &str = "/dist/";

/// The files of that folder that the page loads.
const LOADED: [&str; 3] = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/// The script that starts the page with the listener's document.
const INITIALIZER: &str = include_str!("swagger-initializer.js");

/// The style sheet of Swagger UI, which ours follows.
const LINKS: &str = "<link rel=\"stylesheet\" href=\"swagger-ui.css\">\n";

/// The content of the page.
const CONTENT: &str = "<div id=\"swagger-ui\"></div>\n\
    <script src=\"swagger-ui-bundle.js\"></script>\n\
    <script src=\"swagger-initializer.js\"></script>\n";

/// The file of this name; the page itself when it is empty.
pub(super) fn page(name: &str, audience: Audience) -> Option<PageFile> {
    static FILES: OnceLock<BTreeMap<String, Bytes>> = OnceLock::new();
    match name {
        "" | "index.html" => Some(PageFile::of("index.html", first(audience))),
        "swagger-initializer.js" => Some(PageFile::of(name, Bytes::from_static(INITIALIZER.as_bytes()))),
        _ => {
            let files = FILES.get_or_init(|| unpack().unwrap_or_default());
            files.get(name).map(|bytes| PageFile::of(name, bytes.clone()))
        }
    }
}

fn first(audience: Audience) -> Bytes {
    static FIRST: [OnceLock<Bytes>; 2] = [const { OnceLock::new() }; 2];
    let [for_merchants, for_operators] = &FIRST;
    let (page, title) = match audience {
        Audience::Merchants => (for_merchants, "The API"),
        Audience::Operators => (for_operators, "The operator's API"),
    };
    page.get_or_init(|| Bytes::from(layout::page(audience, title, "", LINKS, CONTENT))).clone()
}

fn unpack() -> Option<BTreeMap<String, Bytes>> {
    let archive = Cursor::new(utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED);
    let mut archive = zip::ZipArchive::new(archive).ok()?;
    let mut files = BTreeMap::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).ok()?;
        let name = file.name().ok()?.split_once(SERVED).map(|(_, name)| name.to_owned());
        if let Some(name) = name.filter(|name| LOADED.contains(&name.as_str())) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).ok()?;
            files.insert(name, Bytes::from(bytes));
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_what_it_loads_are_there() {
        for audience in [Audience::Merchants, Audience::Operators] {
            let first = page("", audience).expect("the first page");
            assert_eq!(first.media_type, "text/html; charset=utf-8");
            let html = String::from_utf8(first.bytes.to_vec()).expect("text");
            for name in LOADED.into_iter().chain(["swagger-initializer.js"]) {
                assert!(html.contains(name), "{name}");
                assert!(page(name, audience).is_some_and(|page| !page.bytes.is_empty()), "{name}");
            }
            assert_eq!(page("../Cargo.toml", audience), None);
            assert_eq!(page("swagger-ui.css.map", audience), None);
        }
    }
}
