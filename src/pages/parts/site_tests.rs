//! What holds for the pages of every kind of visitors, for the tests of each.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use till_protocol::declaration::{Argument, Declaration, ObjectType, ValueType};

use super::cell::state;
use super::field::Field;
use super::forms::{FormPage, argument};
use super::given::{Faults, Given};
use super::page::{Form, Page, Section};
use super::seat::{Seat, Site};
use super::table::{Link, Table};

pub(in crate::pages) const HOSTILE: &str = "</td><script>alert('1')</script>\"&{{7}}";

/// The calls of lists and parts, with their columns and the argument of a part.
fn listed(site: &'static Site) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lists = site.lists.iter().map(|list| (list.call, list.columns, ""));
    lists.chain(site.parts.iter().map(|part| (part.call, part.columns, part.by)))
}

/// Every column is a member of what its call lists, and every form asks for arguments of its call, for all that it
/// needs, and is offered by one of these pages or by a list.
pub(in crate::pages) fn names_are_declared(site: &'static Site, pages: &[&str]) {
    for (call, columns, by) in listed(site) {
        let object = site.object_of(call).unwrap_or_else(|_| panic!("{call} is not declared"));
        let members: Vec<&str> = object.attributes.iter().map(|member| member.name).collect();
        for column in columns.split(' ') {
            assert!(members.contains(&column), "{call}: {column}");
        }
        let declaration = site.declaration(call).expect("declared");
        assert!(by.is_empty() || declaration.position(by).is_some(), "{call}: {by}");
    }
    for form in site.forms {
        let declaration = site.declaration(form.call).unwrap_or_else(|_| panic!("{} is not declared", form.call));
        form_fits(form, declaration, site.base);
        let is_of_list = site.lists.iter().any(|list| list.page.pattern == form.of);
        assert!(is_of_list || pages.contains(&form.of), "{}: {}", form.call, form.of);
    }
}

fn form_fits(form: &FormPage, declaration: &'static Declaration, base: &str) {
    let below = form.page.pattern.strip_prefix(base).expect("below the first page");
    let asked: Vec<&str> = form.fields.split_whitespace().chain(below.split('/').filter_map(argument)).collect();
    for name in &asked {
        assert!(declaration.position(name).is_some(), "{}: {name}", form.call);
    }
    for argument in declaration.arguments.iter().filter(|argument| argument.required) {
        let is_asked = asked.contains(&argument.name) || argument.name == "currency";
        assert!(is_asked, "{}: {}", form.call, argument.name);
    }
}

/// No page stands at an address of one before it.
pub(in crate::pages) fn no_page_hides_another(site: &'static Site, pages: &[&'static str]) {
    let patterns: Vec<&str> = site.forms.iter().map(|form| form.page.pattern).chain(pages.iter().copied()).collect();
    let is_of = |path: &str, pattern: &str| {
        let (path, pattern): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
        path.len() == pattern.len() && path.iter().zip(pattern).all(|(a, b)| b.starts_with('{') || *a == b)
    };
    for (place, pattern) in patterns.iter().enumerate() {
        let before = patterns.iter().take(place).find(|before| is_of(pattern, before));
        assert_eq!(before, None, "{pattern}");
    }
}

/// Every word of a status has a colour. Answers the number of words.
pub(in crate::pages) fn states_have_colours(site: &'static Site) -> usize {
    let mut words = 0;
    for call in listed(site).map(|(call, _, _)| call).collect::<BTreeSet<_>>() {
        let attributes = site.object_of(call).expect("declared").attributes.iter();
        for word in attributes.filter(|member| member.name == "status").flat_map(|it| it.value_type.choices()) {
            assert_ne!(state(word), "", "{call}: {word}");
            words += 1;
        }
    }
    words
}

pub(in crate::pages) fn rendered(page: &Page) -> String {
    askama::Template::render(page).expect("a text")
}

/// An example of an object in which each text is hostile.
fn hostile(of: &ObjectType) -> Value {
    let mut object = of.example();
    for member in of.attributes {
        object[member.name] = match member.value_type {
            ValueType::Integer(_) | ValueType::Boolean => object[member.name].clone(),
            ValueType::Object(within) => hostile(within),
            ValueType::Array(ValueType::Object(within)) => json!([hostile(within)]),
            ValueType::Array(_) => json!([HOSTILE]),
            _ => json!(HOSTILE),
        };
    }
    object
}

fn is_escaped(text: &str) {
    assert!(!text.contains("<script") && !text.contains("'1'") && !text.contains("\"&{"), "{text}");
}

/// Nothing that a caller wrote is markup on any page.
pub(in crate::pages) fn objects_are_no_markup<S: Seat>(seat: &S) {
    let merchant = seat.merchant();
    for list in S::SITE.lists {
        let of = S::SITE.object_of(list.call).expect("declared");
        let object = hostile(of);
        let row = merchant.members(of, list.columns, &object);
        let mut page = Page::of(seat, list.page.pattern, HOSTILE, &|_| true);
        page.alert = Some(HOSTILE.to_owned());
        page.links = vec![Link::new(HOSTILE, HOSTILE)];
        let page = page
            .with(Section::Figures(merchant.members(of, list.columns, &object)))
            .with(Section::Table(Table::new(HOSTILE, HOSTILE, [row].into_iter())))
            .with(Section::Table(Table::new(HOSTILE, HOSTILE, std::iter::empty())))
            .with(Section::Details(merchant.details(of, &object)));
        let text = rendered(&page);
        is_escaped(&text);
        assert!(text.contains("&#60;script&#62;"), "{}", list.call);
    }
}

/// What was entered is no markup, and each fault stands beside its field.
pub(in crate::pages) fn faults_stand_beside_fields<S: Seat>(seat: &S) {
    for form in S::SITE.forms {
        let declaration = S::SITE.declaration(form.call).expect("declared");
        let asked = declaration.arguments.iter().filter(|argument| form.asks_for(argument.name));
        let faults: Faults = asked.clone().map(|argument| (argument.name.to_owned(), HOSTILE.to_owned())).collect();
        let entered = |argument: &Argument| format!("{}=%3Cscript%3E'1'", argument.name);
        let given = Given::of_query(&asked.clone().map(entered).collect::<Vec<_>>().join("&"));
        let fields = asked.map(|argument| Field::of(argument, seat.merchant(), &given, &faults)).collect();
        let page = Page::of(seat, S::SITE.base, form.title, &|_| true);
        let text = rendered(&page.with(Section::Form(Form::new(fields, form.button, Some(Link::new("Cancel", "/"))))));
        is_escaped(&text);
        for name in faults.keys() {
            assert!(text.contains(&format!("{name}-fault\">&#60;/td")), "{name}: {text}");
        }
        assert_eq!(text.matches(" autofocus").count(), usize::from(!faults.is_empty()), "{}", form.call);
    }
}
