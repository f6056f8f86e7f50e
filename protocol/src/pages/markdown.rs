//! Documents in Markdown as HTML: headings can be linked to, and wide tables scroll.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The HTML of a document. `target` gives the address of a link; a link without one becomes plain text.
pub(super) fn to_html(markdown: &str, target: impl Fn(&str) -> Option<String>) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    name_headings(&mut events);
    lead_links(&mut events, target);
    let mut text = String::new();
    html::push_html(&mut text, events.into_iter().flat_map(in_frame));
    text
}

/// Gives each heading the name under which it is linked to.
fn name_headings(events: &mut [Event<'_>]) {
    for at in 0..events.len() {
        let (before, after) = events.split_at_mut(at + 1);
        if let Some(Event::Start(Tag::Heading { id, .. })) = before.last_mut() {
            *id = Some(anchor(&title(after)).into());
        }
    }
}

/// The text of the heading that has just begun.
fn title(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// The name under which a heading is linked to, as repositories show it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' '));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Replaces the addresses of links, and removes links without one. Links do not contain links.
fn lead_links(events: &mut Vec<Event<'_>>, target: impl Fn(&str) -> Option<String>) {
    let mut leads = true;
    events.retain_mut(|event| match event {
        Event::Start(Tag::Link { dest_url, .. }) => {
            let found = target(dest_url);
            leads = found.is_some();
            found.into_iter().for_each(|found| *dest_url = found.into());
            leads
        }
        Event::End(TagEnd::Link) => leads,
        _ => true,
    });
}

/// An event, and around a table the element in which it scrolls.
fn in_frame(event: Event<'_>) -> Vec<Event<'_>> {
    match event {
        Event::Start(Tag::Table(_)) => vec![Event::Html("<div class=\"table\">".into()), event],
        Event::End(TagEnd::Table) => vec![event, Event::Html("</div>\n".into())],
        _ => vec![event],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(markdown: &str) -> String {
        to_html(markdown, |link| link.strip_suffix(".md").map(str::to_owned))
    }

    #[test]
    fn a_heading_has_the_name_under_which_it_is_linked_to() {
        assert_eq!(
            html_of("### POST /sdk/check-status"),
            "<h3 id=\"post-sdkcheck-status\">POST /sdk/check-status</h3>\n"
        );
        assert_eq!(html_of("## A shop's `x`"), "<h2 id=\"a-shops-x\">A shop's <code>x</code></h2>\n");
    }

    #[test]
    fn a_link_without_an_address_is_plain_text() {
        let html = html_of("[one](a.md), [**two**](b.rs), [three](c.md)");
        assert_eq!(html, "<p><a href=\"a\">one</a>, <strong>two</strong>, <a href=\"c\">three</a></p>\n");
    }

    #[test]
    fn a_table_scrolls_by_itself() {
        let html = html_of("| a |\n|---|\n| b |\n");
        assert!(html.starts_with("<div class=\"table\"><table>") && html.ends_with("</table>\n</div>\n"), "{html}");
    }
}
