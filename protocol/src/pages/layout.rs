//! The frame that all pages have: the head, and the list of the documents for the audience.

use super::guides::guides_for;
use super::page_file::Audience;

/// A whole page. `name` is that of the document shown, empty on the first page; `links` are further elements of the
/// head.
pub(super) fn page(audience: Audience, title: &str, name: &str, links: &str, content: &str) -> String {
    let navigation = navigation(audience, name);
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Till</title>
<link rel="icon" type="image/png" href="favicon-32x32.png">
{links}<link rel="stylesheet" href="pages.css">
</head>
<body>
{navigation}{content}</body>
</html>
"#
    )
}

/// The links to the first page and to each document; that of the page itself is marked.
fn navigation(audience: Audience, name: &str) -> String {
    let documents = guides_for(audience).map(|guide| (guide.name, guide.title));
    let links = std::iter::once(("", "Calls to try")).chain(documents).map(|(document, title)| {
        let current = if document == name { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"./{document}\"{current}>{title}</a>\n")
    });
    format!("<nav aria-label=\"Documents\">\n{}</nav>\n", links.collect::<String>())
}
