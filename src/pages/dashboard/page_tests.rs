//! Tests of the pages of the dashboard: what holds for the pages of all visitors, the navigation, and the picture.

use serde_json::json;
use till_domain::ids::{MerchantId, UserId};
use till_domain::role::Role;

use super::chart::{Chart, CountedPayment};
use super::lists::{LISTS, OBJECTS};
use super::payment::PAYMENT;
use super::seat::DASHBOARD;
use super::session::Member;
use crate::access::MerchantCaller;
use crate::pages::parts::site_tests::{
    HOSTILE, faults_stand_beside_fields, names_are_declared, no_page_hides_another, objects_are_no_markup, rendered,
    states_have_colours,
};
use crate::pages::parts::{Merchant, Page, Section};

/// A member of a merchant with this name, whose own address is the same text.
fn member(name: &str) -> Member {
    let (merchant_id, user_id, role) = (MerchantId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Role::Owner);
    Member {
        caller: MerchantCaller::member(merchant_id, user_id, role, None),
        email: name.to_owned(),
        role,
        merchant: Merchant {
            base: "/dashboard/mer_1".to_owned(),
            pages: &[],
            name: name.to_owned(),
            currency: "THB".parse().expect("an ISO code"),
            zone: jiff::tz::TimeZone::UTC,
        },
    }
}

/// The patterns of objects.
fn objects() -> Vec<&'static str> {
    OBJECTS.iter().map(|object| object.page.pattern).chain([PAYMENT.pattern]).collect()
}

#[test]
fn every_page_is_of_what_is_declared() {
    names_are_declared(&DASHBOARD, &objects());
    no_page_hides_another(&DASHBOARD, &objects());
}

#[test]
fn every_state_has_a_colour() {
    let words = states_have_colours(&DASHBOARD);
    assert!(words > 30, "{words}");
}

#[test]
fn nothing_that_a_caller_wrote_is_markup_on_any_page() {
    objects_are_no_markup(&member(HOSTILE));
}

#[test]
fn what_was_entered_is_no_markup_and_each_fault_stands_beside_its_field() {
    faults_stand_beside_fields(&member("Tea house"));
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
    let cells = chart.table.rows.iter().map(|row| row.cells.iter().map(|(_, cell)| cell.text.clone()).collect());
    let rows: Vec<Vec<String>> = cells.collect();
    let expected = [["1970-01-03", "2", "THB\u{a0}21.00", "50 %"], ["1970-01-01", "1", "THB\u{a0}10.50", "100 %"]];
    assert_eq!(rows, expected);
    let page = Page::of(&member, "/dashboard/mer_1", "Home", &|_| true);
    let text = rendered(&page.with(Section::Part(chart.markup())));
    assert!(text.contains("role=\"img\"") && text.contains("aria-label=\"Payments by day\""), "{text}");
    assert!(!text.contains("style="), "the content security policy forbids it");
    assert!(Chart::of(&[], &member.merchant).is_none());
}
