//! A page of somebody who is signed in: its frame, with the navigation that this person may use, around sections.

use askama::Template;
use till_protocol::api_error::Code;
use till_protocol::dispatch::{IDEMPOTENCY_FIELD, PageReply};

use super::assets;
use super::cell::Labelled;
use super::field::Field;
use super::lists::ListPage;
use super::seat::Seat;
use super::table::{Link, Table};
use super::visit::Visit;
use crate::pages::checkout::QrDrawing;

/// The name in the query of a form's call that has just succeeded.
pub(in crate::pages) const DONE: &str = "done";

/// A part of a page.
pub(in crate::pages) enum Section {
    /// A few values in large letters.
    Figures(Vec<Labelled>),
    /// The members of one object.
    Details(Vec<Labelled>),
    Table(Table),
    Form(Form),
    Qr(QrDrawing),
    /// What another template made.
    Part(String),
}

/// A form.
pub(in crate::pages) struct Form {
    /// True when it changes nothing, and is sent as a query.
    pub(in crate::pages) is_query: bool,
    pub(in crate::pages) fields: Vec<Field>,
    /// The text above the fields.
    pub(in crate::pages) text: &'static str,
    pub(in crate::pages) button: &'static str,
    /// The page that takes it; None for the one that it is on.
    pub(in crate::pages) action: Option<String>,
    /// The way back without it.
    pub(in crate::pages) leave: Option<Link>,
    pub(in crate::pages) idempotency_key: String,
}

impl Form {
    /// A form that changes something, once for each time that it is shown.
    pub(in crate::pages) fn new(fields: Vec<Field>, button: &'static str, leave: Option<Link>) -> Form {
        Form { is_query: false, fields, text: "", button, action: None, leave, idempotency_key: form_key() }
    }

    /// True for the first field with a fault, which takes the focus.
    fn is_focus(&self, field: &Field) -> bool {
        self.fields.iter().find(|field| field.fault.is_some()).is_some_and(|first| first.name == field.name)
    }
}

/// A page.
#[derive(Template)]
#[template(path = "parts/page.html")]
pub(in crate::pages) struct Page {
    /// The name above the navigation, with the path of the first page.
    first: Link,
    /// Who is signed in, and as what.
    visitor: (String, String),
    /// The first page, the lists that the visitor may see, and what follows them, and true for the present one.
    navigation: Vec<(Link, bool)>,
    title: String,
    /// The list that the page is below.
    above: Option<Link>,
    /// What can be done here.
    pub(in crate::pages) links: Vec<Link>,
    /// What was just done.
    pub(in crate::pages) done: Option<&'static str>,
    /// The refusal that the page tells, and what no field tells of it.
    pub(in crate::pages) refusal: Option<Code>,
    pub(in crate::pages) alert: Option<String>,
    pub(in crate::pages) sections: Vec<Section>,
}

impl Page {
    /// A page with this heading, without sections yet.
    pub(in crate::pages) fn new<S: Seat>(visit: &Visit<S>, title: &str) -> Page {
        let done = visit.request.query(DONE).and_then(|call| S::SITE.forms.iter().find(|form| form.call == call));
        let page = Page::of(&visit.seat, visit.request.path(), title, &|call| visit.seat.may(call));
        Page { done: done.map(|form| form.button), ..page }
    }

    /// A page at this path of somebody who may make some calls.
    pub(in crate::pages) fn of<S: Seat>(seat: &S, path: &str, title: &str, may: &dyn Fn(&str) -> bool) -> Page {
        let base = &seat.merchant().base;
        let rest = path.strip_prefix(base.as_str()).unwrap_or_default();
        let is_here = |page: &str| rest == page || (!page.is_empty() && rest.starts_with(&format!("{page}/")));
        let path_of = |list: &ListPage| list.page.pattern.strip_prefix(S::SITE.base).unwrap_or_default();
        // Everybody may list the entries of one payment.
        let judged = |list: &ListPage| if list.call == "balance-history" { "get-balance" } else { list.call };
        let lists = S::SITE.lists.iter().filter(|list| may(judged(list)) && !list.is_search);
        let lists = lists.map(|list| (list.title, path_of(list)));
        let pages = [(S::SITE.first, "")].into_iter().chain(lists).chain(S::SITE.last.iter().copied());
        let link = |label: &str, page: &str| Link::new(label, format!("{base}{page}"));
        let navigation: Vec<_> = pages.map(|(label, page)| (link(label, page), is_here(page))).collect();
        let above = navigation.iter().find(|(link, is_here)| *is_here && link.href != path);
        let (above, title, first) = (above.map(|(link, _)| link.clone()), title.to_owned(), link(seat.name(), ""));
        let (name, role) = seat.signed_in_as();
        let visitor = (name.to_owned(), role.to_owned());
        let (links, sections) = (Vec::new(), Vec::new());
        Page { first, visitor, navigation, title, above, links, done: None, refusal: None, alert: None, sections }
    }

    /// The same with another section.
    pub(in crate::pages) fn with(mut self, section: Section) -> Page {
        self.sections.push(section);
        self
    }

    /// The page as an answer.
    pub(in crate::pages) fn reply(&self) -> PageReply {
        let reply = PageReply::html(self.render().expect("a template into a text cannot fail"));
        match self.refusal {
            Some(code) => reply.with_refusal(code),
            None => reply,
        }
    }
}

/// The Idempotency-Key of a form.
pub(in crate::pages) fn form_key() -> String {
    let mut random = [0; 16];
    getrandom::fill(&mut random).expect("the operating system gives randomness once it is up");
    format!("{:032x}", u128::from_be_bytes(random))
}
