//! A page of the dashboard: its frame, with the navigation that the member's role may use, around sections.

use askama::Template;
use till_protocol::api_error::Code;
use till_protocol::dispatch::{IDEMPOTENCY_FIELD, PageReply};

use super::assets;
use super::cell::Labelled;
use super::chart::Chart;
use super::field::Field;
use super::forms::{FORMS, below};
use super::lists::{LISTS, ListPage};
use super::session::{Member, form_key};
use super::table::{Link, Table};
use super::visit::Visit;
use crate::pages::checkout::QrDrawing;

/// The pattern of the first page.
pub(super) const HOME: &str = below!("");

/// The name in the query of a form's call that has just succeeded.
pub(super) const DONE: &str = "done";

/// A part of a page.
pub(super) enum Section {
    /// A few values in large letters.
    Figures(Vec<Labelled>),
    /// The members of one object.
    Details(Vec<Labelled>),
    Table(Table),
    Form(Form),
    Chart(Chart),
    Qr(QrDrawing),
    /// What another template made.
    Part(String),
}

/// A form.
pub(super) struct Form {
    /// True when it changes nothing, and is sent as a query.
    pub(super) is_query: bool,
    pub(super) fields: Vec<Field>,
    /// The text above the fields.
    pub(super) text: &'static str,
    pub(super) button: &'static str,
    /// The way back without it.
    pub(super) leave: Link,
    pub(super) idempotency_key: String,
}

impl Form {
    /// A form that changes something, once for each time that it is shown.
    pub(super) fn new(fields: Vec<Field>, button: &'static str, leave: Link) -> Form {
        Form { is_query: false, fields, text: "", button, leave, idempotency_key: form_key() }
    }

    /// True for the first field with a fault, which takes the focus.
    fn is_focus(&self, field: &Field) -> bool {
        self.fields.iter().find(|field| field.fault.is_some()).is_some_and(|first| first.name == field.name)
    }
}

/// A page.
#[derive(Template)]
#[template(path = "dashboard/page.html")]
pub(super) struct Page<'v> {
    member: &'v Member,
    /// Home, the lists that the member may see, and Account, and true for the present one.
    navigation: Vec<(Link, bool)>,
    title: String,
    /// The list that the page is below.
    above: Option<Link>,
    /// What can be done here.
    pub(super) links: Vec<Link>,
    /// What was just done.
    pub(super) done: Option<&'static str>,
    /// The refusal that the page tells, and what no field tells of it.
    pub(super) refusal: Option<Code>,
    pub(super) alert: Option<String>,
    pub(super) sections: Vec<Section>,
}

impl<'v> Page<'v> {
    /// A page with this heading, without sections yet.
    pub(super) fn new(visit: &'v Visit, title: &str) -> Page<'v> {
        let done = visit.request.query(DONE).and_then(|call| FORMS.iter().find(|form| form.call == call));
        let page = Page::of(&visit.member, visit.request.path(), title, &|call| visit.may(call));
        Page { done: done.map(|form| form.button), ..page }
    }

    /// A page at this path of a member who may make some calls.
    fn of(member: &'v Member, path: &str, title: &str, may: &dyn Fn(&str) -> bool) -> Page<'v> {
        let rest = path.strip_prefix(&member.merchant.base).unwrap_or_default();
        let is_here = |page: &str| rest == page || (!page.is_empty() && rest.starts_with(&format!("{page}/")));
        let path_of = |list: &ListPage| list.page.pattern.strip_prefix(HOME).unwrap_or_default();
        // Everybody may list the entries of one payment.
        let judged = |list: &ListPage| if list.call == "balance-history" { "get-balance" } else { list.call };
        let lists = LISTS.iter().filter(|list| may(judged(list))).map(|list| (list.title, path_of(list)));
        let pages = [("Home", "")].into_iter().chain(lists).chain([("Account", "/account")]);
        let link = |label: &str, page: &str| Link::new(label, format!("{}{page}", member.merchant.base));
        let navigation: Vec<_> = pages.map(|(label, page)| (link(label, page), is_here(page))).collect();
        let above = navigation.iter().find(|(link, is_here)| *is_here && link.href != path);
        let (above, title) = (above.map(|(link, _)| link.clone()), title.to_owned());
        let (links, sections) = (Vec::new(), Vec::new());
        Page { member, navigation, title, above, links, done: None, refusal: None, alert: None, sections }
    }

    /// The same with another section.
    pub(super) fn with(mut self, section: Section) -> Page<'v> {
        self.sections.push(section);
        self
    }

    /// The page as an answer.
    pub(super) fn reply(&self) -> PageReply {
        let reply = PageReply::html(self.render().expect("a template into a text cannot fail"));
        match self.refusal {
            Some(code) => reply.with_refusal(code),
            None => reply,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use till_domain::ids::{MerchantId, UserId};
    use till_domain::role::Role;
    use till_protocol::declaration::{Argument, ObjectType, ValueType};

    use super::super::cell::Merchant;
    use super::super::chart::CountedPayment;
    use super::super::given::{Faults, Given};
    use super::super::visit::object_of;
    use super::*;
    use crate::access::MerchantCaller;
    use crate::endpoints::pages::declared;

    const HOSTILE: &str = "</td><script>alert('1')</script>\"&{{7}}";

    /// A member of a merchant with this name, whose own address is the same text.
    fn member(name: &str) -> Member {
        let (merchant_id, user_id, role) = (MerchantId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Role::Owner);
        Member {
            caller: MerchantCaller::member(merchant_id, user_id, role, None),
            email: name.to_owned(),
            role,
            merchant: Merchant {
                base: "/dashboard/mer_1".to_owned(),
                name: name.to_owned(),
                currency: "THB".parse().expect("an ISO code"),
                zone: jiff::tz::TimeZone::UTC,
            },
        }
    }

    fn rendered(page: &Page<'_>) -> String {
        page.render().expect("a text")
    }

    /// An example of an object in which each text is this one.
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

    #[test]
    fn nothing_that_a_caller_wrote_is_markup_on_any_page() {
        let member = member(HOSTILE);
        let merchant = &member.merchant;
        for list in &LISTS {
            let of = object_of(list.call).expect("declared");
            let object = hostile(of);
            let row = merchant.members(of, list.columns, &object);
            let mut page = Page::of(&member, "/dashboard/mer_1/payments", HOSTILE, &|_| true);
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

    #[test]
    fn what_was_entered_is_no_markup_and_each_fault_stands_beside_its_field() {
        let member = member("Tea house");
        for form in &FORMS {
            let (declaration, _) = declared(form.call).expect("declared");
            let names: Vec<&str> = form.fields.split(' ').collect();
            let asked = declaration.arguments.iter().filter(|argument| names.contains(&argument.name));
            let faults: Faults = asked.clone().map(|argument| (argument.name.to_owned(), HOSTILE.to_owned())).collect();
            let entered = |argument: &Argument| format!("{}=%3Cscript%3E'1'", argument.name);
            let given = Given::of_query(&asked.clone().map(entered).collect::<Vec<_>>().join("&"));
            let fields = asked.map(|argument| Field::of(argument, &member.merchant, &given, &faults)).collect();
            let page = Page::of(&member, "/dashboard/mer_1", form.title, &|_| true);
            let text = rendered(&page.with(Section::Form(Form::new(fields, form.button, Link::new("Cancel", "/")))));
            is_escaped(&text);
            for name in faults.keys() {
                assert!(text.contains(&format!("{name}-fault\">&#60;/td")), "{name}: {text}");
            }
            assert_eq!(text.matches(" autofocus").count(), usize::from(!faults.is_empty()), "{}", form.call);
        }
    }

    #[test]
    fn the_navigation_has_what_the_member_may_see_and_names_the_present_page() {
        let member = member("Tea house");
        let all = rendered(&Page::of(&member, "/dashboard/mer_1/payments/pay_1", "pay_1", &|_| true));
        assert!(all.contains("href=\"/dashboard/mer_1/payments\" aria-current=\"page\">Payments"), "{all}");
        assert_eq!((all.matches("aria-current").count(), all.matches("<li>").count()), (1, LISTS.len() + 2));
        let few = rendered(&Page::of(&member, "/dashboard/mer_1", "Home", &|call| call == "list-payments"));
        assert_eq!(few.matches("<li>").count(), 3, "Home, Payments and Account");
        assert!(few.contains("href=\"/dashboard/mer_1\" aria-current=\"page\">Home"), "{few}");
    }

    #[test]
    fn the_picture_has_a_bar_for_each_day_and_a_table_behind_it() {
        let member = member("Tea house");
        let day = 86_400;
        let of = |time: i64, authorized: Option<i64>| {
            let payment = json!({ "amount": 1_050, "created_at": time, "authorized_at": authorized, "other": 1 });
            serde_json::from_value::<CountedPayment>(payment).expect("a payment")
        };
        let payments = [of(2 * day + 5, Some(1)), of(2 * day, None), of(0, Some(1))];
        let chart = Chart::of(&payments, &member.merchant).expect("a picture");
        assert_eq!((chart.payments, chart.since.to_string(), chart.bars.len()), (3, "1970-01-01".to_owned(), 21));
        let bars: Vec<_> = chart.bars[18..].iter().map(|bar| (bar.height, bar.height_succeeded)).collect();
        assert_eq!(bars, [(50, 50), (0, 0), (100, 50)]);
        let texts = |row: &super::super::table::Row| row.cells.iter().map(|(_, cell)| cell.text.clone()).collect();
        let rows: Vec<Vec<String>> = chart.table.rows.iter().map(texts).collect();
        let expected = [["1970-01-03", "2", "THB\u{a0}21.00", "50 %"], ["1970-01-01", "1", "THB\u{a0}10.50", "100 %"]];
        assert_eq!(rows, expected);
        let page = Page::of(&member, "/dashboard/mer_1", "Home", &|_| true);
        let text = rendered(&page.with(Section::Chart(chart)));
        assert!(text.contains("role=\"img\"") && text.contains("aria-label=\"Payments by day\""), "{text}");
        assert!(!text.contains("style="), "the content security policy forbids it");
        assert!(Chart::of(&[], &member.merchant).is_none());
    }
}
