//! Functions that generate the HTML elements of a report.

/// Escapes the special characters of HTML in a text, so that it can be used between tags or in a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A table whose first row is its header. On a narrow screen the first cell of a row has a line of its own. The last
/// cell also has a line of its own when its column has no name. The other cells share the width of the screen.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{cells}</tr>")
    };
    let Some((head, body)) = rows.split_first() else { return String::new() };
    let body: String = body.iter().map(|cells| row("td", cells)).collect();
    let ends_in_words = head.len() > 1 && head.last().is_some_and(String::is_empty);
    let class = if ends_in_words { "grid words" } else { "grid" };
    let columns = head.len().saturating_sub(if ends_in_words { 2 } else { 1 });
    let head = row("th", head);
    format!(
        "<div class=\"scroll\"><table class=\"{class}\" style=\"--columns:{columns}\"><thead>{head}</thead>\
         <tbody>{body}</tbody></table></div>\n"
    )
}

/// The most important figures, each with its name and its value.
pub(super) fn figures(figures: &[(&str, String)]) -> String {
    let one =
        |(name, value): &(&str, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
    format!("<dl class=\"figures\">{}</dl>\n", figures.iter().map(one).collect::<String>())
}

/// The remarks for the reader, one paragraph each. A remark that begins with a capital letter is shown as a warning,
/// unless it begins with `NOTE:`.
pub(super) fn remarks(remarks: &[String]) -> String {
    let is_warning = |text: &str| text.starts_with(|first: char| first.is_uppercase()) && !text.starts_with("NOTE:");
    let class = |text: &str| if is_warning(text) { "warning" } else { "remark" };
    remarks.iter().map(|text| format!("<p class=\"{}\">{}</p>\n", class(text), escaped(text))).collect()
}

/// A table of properties, each with its name and its value.
pub(super) fn properties(properties: &[(String, String)]) -> String {
    let one = |(name, value): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escaped(name), escaped(value))
    };
    let rows: String = properties.iter().map(one).collect();
    format!("<div class=\"scroll\"><table class=\"properties\"><tbody>{rows}</tbody></table></div>\n")
}

/// A complete HTML page.
pub(super) fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        include_str!("page.css")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_markup_is_escaped_in_titles_remarks_and_tables() {
        let text = "<script>alert('x & \"y\"')</script>".to_owned();
        let page = page(&text, &(remarks(std::slice::from_ref(&text)) + &table(&[vec![text.clone()]])));
        assert!(!page.contains("<script>"));
        assert_eq!(escaped("a'b"), "a&#39;b");
    }

    #[test]
    fn a_table_has_the_number_of_columns_that_share_a_narrow_screen() {
        let rows = |head: &[&str]| vec![head.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()];
        assert!(table(&rows(&["", "count", "p50"])).contains("class=\"grid\" style=\"--columns:2\""));
        assert!(table(&rows(&["rate/s", "p99", ""])).contains("class=\"grid words\" style=\"--columns:1\""));
    }

    #[test]
    fn a_remark_in_capitals_is_a_warning_unless_it_is_a_note() {
        let html = remarks(&["LAGS: a".to_owned(), "NOTE: b".to_owned(), "captures keep up".to_owned()]);
        assert_eq!((html.matches("\"warning\"").count(), html.matches("\"remark\"").count()), (1, 2), "{html}");
    }
}
