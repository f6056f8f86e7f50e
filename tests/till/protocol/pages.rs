//! The pages below `/docs`: each listener serves the documents for its readers, and their links lead somewhere.

use std::collections::BTreeMap;

use crate::harness::{Client, Server};

/// The pages of the public listener; the first is Swagger UI.
const OF_MERCHANTS: [&str; 8] = ["", "build-a-shop", "till-js", "a-shops-month", "api", "errors", "sandbox", "about"];
/// The pages that only the admin listener has besides.
const OF_OPERATORS: [&str; 10] = [
    "operations",
    "settings",
    "refused-starts",
    "alerts",
    "metrics",
    "postgresql",
    "admin-api",
    "repair",
    "export",
    "limits",
];

/// The HTML of these pages of a listener.
fn pages(base: &str, names: &[&str]) -> BTreeMap<String, String> {
    let client = Client::new(base);
    let html = |name: &&str| {
        let answer = client.get(&format!("/docs/{name}"));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html; charset=utf-8")), "{name}");
        assert!(answer.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'self'")));
        ((*name).to_owned(), answer.body.as_str().expect("a page is text").to_owned())
    };
    names.iter().map(html).collect()
}

/// The values of an attribute, in order.
fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
    let begin = format!(" {attribute}=\"");
    page.split(&begin).skip(1).map(|rest| rest.split_once('"').expect("a value ends").0).collect()
}

/// Checks that each page has this list of pages, and that each link leads to a page of the listener and to a heading.
fn check_links(base: &str, pages: &BTreeMap<String, String>) {
    for (name, page) in pages {
        for link in values(page, "href").into_iter().filter(|link| !link.starts_with("https://")) {
            let (target, heading) = link.split_once('#').map_or((link, None), |(target, id)| (target, Some(id)));
            let target = if target.is_empty() { name } else { target.trim_start_matches("./") };
            let Some(other) = pages.get(target) else {
                assert_eq!(Client::new(base).get(&format!("/docs/{target}")).status, 200, "{name}: {link}");
                continue;
            };
            assert!(heading.is_none_or(|id| values(other, "id").contains(&id)), "{name}: {link} names no heading");
        }
        let listed = |other: &String| page.contains(&format!("<a href=\"./{other}\""));
        assert!(pages.keys().all(listed), "{name} lists all pages");
        assert!(
            values(page, "src").iter().all(|source| !source.contains(':')),
            "{name} loads something from elsewhere"
        );
    }
}

#[test]
fn the_public_listener_serves_the_documents_of_merchants() {
    let server = Server::start();
    check_links(server.public(), &pages(server.public(), &OF_MERCHANTS));
    for name in OF_OPERATORS {
        assert_eq!(Client::new(server.public()).get(&format!("/docs/{name}")).status, 404, "{name}");
    }
}

#[test]
fn the_admin_listener_serves_all_documents() {
    let server = Server::start();
    let names = [&OF_MERCHANTS[..], &OF_OPERATORS].concat();
    check_links(server.admin_address(), &pages(server.admin_address(), &names));
}

#[test]
fn the_subjects_of_the_interface_begin_with_payments() {
    let document = Client::new(Server::start().public()).get("/openapi.json").ok();
    let names: Vec<&str> =
        document["tags"].as_array().expect("tags").iter().filter_map(|tag| tag["name"].as_str()).collect();
    assert_eq!(names[..3], ["merchants / payments", "sdk / cards", "sdk / sessions"]);
}
