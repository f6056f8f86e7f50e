//! The pages of the listeners.

use std::sync::Arc;

use till_protocol::dispatch::{BrowserPages, PageAsset, browser_page};

use crate::access::{AdminToken, MerchantCaller, Operator};
use crate::endpoints::pages::{functions, operator_functions};
use crate::server_status::EngineObservation;
use crate::service::Shared;

use super::{checkout, dashboard, operator, parts, refusal, returning, sandbox, style};

/// The files that pages load.
static ASSETS: [PageAsset; 8] = {
    let [page_style, icon] = style::ASSETS;
    let [checkout_style, checkout_script, mounted_script, frame_script, till_script] = checkout::ASSETS;
    let dashboard_style = parts::assets::STYLE_ASSET;
    [page_style, icon, checkout_style, checkout_script, mounted_script, frame_script, till_script, dashboard_style]
};

/// All pages of the public listener, with the calls that only they make. The first pattern that matches is taken.
pub fn browser_pages(service: &Shared) -> BrowserPages<MerchantCaller> {
    let mut pages = sandbox::pages();
    pages.push(browser_page(&returning::RETURNING, (), returning::open));
    pages.push(browser_page(&style::USUAL_ICON, (), style::usual_icon));
    pages.extend(checkout::files());
    pages.push(browser_page(&checkout::PAY, (), checkout::pay));
    pages.push(browser_page(&checkout::FRAME, (), checkout::frame));
    pages.push(browser_page(&checkout::QR_FILE, (), checkout::qr_file));
    pages.extend(dashboard::pages());
    BrowserPages { pages, functions: functions(service), assets: &ASSETS, refusal: refusal::page }
}

/// The files that the operator's pages load.
static OPERATOR_ASSETS: [PageAsset; 3] = {
    let [page_style, icon] = style::ASSETS;
    [page_style, icon, parts::assets::STYLE_ASSET]
};

/// All pages of the admin listener, with the calls that only they make. The settings in force are shown as text.
pub(crate) fn operator_pages(
    service: &Shared,
    admin_token: &Arc<AdminToken>,
    observation: &Arc<EngineObservation>,
    settings: &str,
) -> BrowserPages<Operator> {
    let functions = operator_functions(service, admin_token, observation);
    BrowserPages { pages: operator::pages(settings), functions, assets: &OPERATOR_ASSETS, refusal: refusal::page }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The paths of all patterns below a directory of sources.
    fn patterns(directory: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("it lists").path();
            if path.is_dir() {
                patterns(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).expect("readable");
                let texts = source.split("{ pattern: \"").skip(1).filter_map(|rest| rest.split('"').next());
                found.extend(texts.map(str::to_owned));
            }
        }
    }

    /// A proxy that passes only the paths of the table on has every page.
    #[test]
    fn the_operators_table_of_listeners_has_the_path_of_each_page_and_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths: BTreeSet<String> = ASSETS.iter().map(|asset| (asset.path)().to_owned()).collect();
        patterns(&root.join("src/pages"), &mut paths);
        assert!(paths.len() > ASSETS.len() + 8, "{paths:?}");
        let document = fs::read_to_string(root.join("docs/operations.md")).expect("readable");
        let row = document.lines().find(|line| line.contains("| browsers of customers: [pages](#pages-for-customers)"));
        let row = row.expect("the row of the pages");
        let of_operator = document.lines().find(|line| line.contains("[the operator's pages]"));
        let of_operator = of_operator.expect("the row of the operator's pages");
        for path in paths {
            let first = path.split('/').nth(1).unwrap_or_default();
            let row = if first == "operator" { of_operator } else { row };
            assert!(row.contains(&format!("`/{first}/...`")) || row.contains(&format!("`{path}`")), "{path}: {row}");
        }
    }
}
