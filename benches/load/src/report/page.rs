//! The page of a report: one static page over its JSON, which the page's own script shows.

use serde_json::json;

use super::compare::Comparison;
use super::document::Document;
use super::terminal;

/// The page; a report takes the place of [`PLACE`].
const TEMPLATE: &str = include_str!("page.html");

/// The place of a report in the page.
const PLACE: &str = "{{data}}";

/// The page of one report.
#[must_use]
pub fn run_page(document: &Document) -> String {
    page(&document.to_json())
}

/// The page of a comparison.
#[must_use]
pub fn comparison_page(comparison: &Comparison) -> String {
    let tables: Vec<_> = terminal::compared_tables(comparison)
        .into_iter()
        .map(|(name, rows)| json!({ "name": name, "rows": rows }))
        .collect();
    let page_data = json!({
        "title": format!("compare: {}", comparison.title()), "sides": terminal::sides(comparison),
        "notes": comparison.notes(), "tables": tables,
    });
    page(&page_data.to_string())
}

/// No text of the report can end the element that it is in.
fn page(data: &str) -> String {
    TEMPLATE.replacen(PLACE, &data.replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::super::examples::document;
    use super::*;

    /// The JSON that a page contains.
    fn data(page: &str) -> serde_json::Value {
        let (before, after) = TEMPLATE.split_once(PLACE).unwrap_or_default();
        let data = page.strip_prefix(before).and_then(|page| page.strip_suffix(after)).unwrap_or_default();
        assert!(!data.contains('<'), "it stays in its element");
        serde_json::from_str(data).unwrap_or_default()
    }

    #[test]
    fn a_page_contains_the_whole_report_and_fetches_nothing() {
        let report = Document { notes: vec!["</script><script>alert(1)</script>".to_owned()], ..document() };
        let page = run_page(&report);
        assert_eq!(data(&page), json!(report));
        let foreign = ["<link", "<img", "src=", "href=", "url(", "@import", "fetch(", "import("];
        assert!(foreign.iter().all(|sign| !page.contains(sign)), "it needs nothing else");
    }

    #[test]
    fn a_page_of_a_comparison_contains_its_tables_and_notes() {
        let comparison = Comparison::new(vec![document()], vec![document()]).unwrap_or_else(|fault| panic!("{fault}"));
        let data = data(&comparison_page(&comparison));
        assert_eq!(
            data["tables"][0]["rows"][1],
            json!(["rate/s", "50.0", "50.0 to 50.0", "50.0", "50.0 to 50.0", "+0.0 %", "no difference shown"])
        );
        assert_eq!(data["notes"], json!(comparison.notes()));
    }
}
