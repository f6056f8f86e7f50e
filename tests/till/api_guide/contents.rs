//! The tables of contents of the guide, and the links of all documents: they are as the headings are.

use std::fs;
use std::path::Path;

use super::guide::{DOCUMENTS, headings, text_of};

/// The table of a document: a list of its chapters, each with links to its sections.
fn contents(document: &str) -> String {
    let mut lines = String::from("## Contents\n\n");
    for heading in headings(document) {
        let (signs, title) = heading.split_once(' ').unwrap_or_else(|| panic!("{document}: no title: {heading}"));
        let name = title.rsplit_once('/').filter(|_| title.starts_with("POST ")).map_or(title, |(_, name)| name);
        let link = format!("[{name}](#{})", anchor(title));
        match signs {
            "##" if title == "Contents" => {}
            "##" => lines += &format!("- {link}:\n"),
            "###" => lines += &format!("  {link},\n"),
            _ => {}
        }
    }
    lines.replace(",\n- ", "\n- ").replace(":\n- ", "\n- ").trim_end_matches([',', ':', '\n']).to_owned() + "\n\n"
}

/// The name under which a heading can be linked to.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' '));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The documents of the repository whose links are checked.
fn linking() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let documents = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    documents.chain(["README.md".to_owned()]).collect()
}

/// The targets of the links of a document to documents and headings of the repository.
fn links(document: &str) -> Vec<String> {
    let text = text_of(document);
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

/// The target of a link of a document: the path of the other document, and the heading.
fn target(document: &str, link: &str) -> (String, Option<String>) {
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, Some(heading.to_owned())),
        None => (link, None),
    };
    let folder = Path::new(document).parent().expect("it is a file");
    let path = match path {
        "" => document.to_owned(),
        path => match path.strip_prefix("../") {
            Some(path) => path.to_owned(),
            None => folder.join(path).display().to_string(),
        },
    };
    (path, heading)
}

#[test]
fn the_tables_of_contents_are_as_the_headings_are() {
    for document in DOCUMENTS {
        let expected = contents(document);
        assert!(text_of(document).contains(&expected), "{document} does not have this table:\n\n{expected}");
    }
}

#[test]
fn every_link_of_a_document_leads_to_a_heading_or_file() {
    for document in linking() {
        for link in links(&document) {
            let (path, heading) = target(&document, &link);
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path).exists(), "{document}: {link} leads nowhere");
            let Some(heading) = heading else { continue };
            let titles = headings(&path).into_iter().filter_map(|found| Some(found.split_once(' ')?.1.to_owned()));
            assert!(titles.into_iter().any(|title| anchor(&title) == heading), "{document}: no heading of {link}");
        }
    }
}
