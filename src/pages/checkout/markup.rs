//! A reader of the HTML that the templates write, for tests: it knows tags, attributes and texts, and refuses what is
//! not well formed.

use std::collections::BTreeMap;

/// An element: its name, its attributes, and the text of all that is in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) text: String,
}

impl Element {
    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

/// Elements without an end tag.
const VOID: [&str; 5] = ["base", "meta", "link", "input", "img"];

/// Reads a page into its elements, in the order of their beginnings.
pub(super) fn elements(html: &str) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some((text, tail)) = rest.split_once('<') {
        for index in &open {
            elements[*index].text.push_str(&unescaped(text));
        }
        let end = end_of_tag(tail);
        let tag = &tail[..end];
        rest = &tail[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let index = open.pop().expect("an element is open");
            assert_eq!(elements[index].name, name, "an element ends before the one in it");
            continue;
        }
        let element = element(tag.trim_end_matches('/'));
        if !tag.ends_with('/') && !VOID.contains(&element.name.as_str()) {
            open.push(elements.len());
        }
        elements.push(element);
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "the page ends before its elements");
    elements
}

/// The place of the `>` that ends a tag: not one within a value.
fn end_of_tag(tail: &str) -> usize {
    let mut is_quoted = false;
    let end = tail.char_indices().find(|(_, character)| {
        is_quoted ^= *character == '"';
        !is_quoted && *character == '>'
    });
    end.map(|(place, _)| place).expect("a tag ends")
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (name, value, tail) = attribute(rest.trim_start());
        assert!(attributes.insert(name, value).is_none(), "an attribute is there twice: {tag}");
        rest = tail;
    }
    Element { name: name.to_owned(), attributes, text: String::new() }
}

fn attribute(text: &str) -> (String, String, &str) {
    let end = text.find([' ', '=']).unwrap_or(text.len());
    let (name, tail) = text.split_at(end);
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-:BB".contains(&byte)), "an odd attribute: {text}");
    match tail.strip_prefix("=\"") {
        Some(value) => {
            let (value, tail) = value.split_once('"').expect("a value ends");
            (name.to_owned(), unescaped(value), tail)
        }
        None => (name.to_owned(), String::new(), tail),
    }
}

fn unescaped(text: &str) -> String {
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}
