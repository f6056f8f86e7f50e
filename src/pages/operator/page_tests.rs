//! Tests of the operator's pages: what holds for the pages of all visitors.

use serde_json::json;

use super::merchant::MERCHANT;
use super::seat::{OPERATOR, OperatorSeat};
use super::tables::{FIRST, LISTS, OBJECTS};
use crate::pages::parts::Page;
use crate::pages::parts::site_tests::{
    HOSTILE, faults_stand_beside_fields, names_are_declared, no_page_hides_another, objects_are_no_markup, rendered,
    states_have_colours,
};

fn seat() -> OperatorSeat {
    OperatorSeat::new(FIRST, &json!({ "name": HOSTILE, "currency": "THB", "time_zone": "Asia/Bangkok" }))
}

#[test]
fn every_page_is_of_what_is_declared() {
    let objects: Vec<&str> = OBJECTS.iter().map(|object| object.page.pattern).chain([MERCHANT.pattern]).collect();
    let lists = LISTS.iter().map(|list| list.page.pattern);
    let offering: Vec<&str> = objects.iter().copied().chain([FIRST]).collect();
    names_are_declared(&OPERATOR, &offering);
    no_page_hides_another(&OPERATOR, &lists.chain(objects).collect::<Vec<_>>());
    assert!(states_have_colours(&OPERATOR) > 5);
}

#[test]
fn nothing_that_a_caller_wrote_is_markup_on_any_page() {
    objects_are_no_markup(&seat());
    faults_stand_beside_fields(&seat());
}

#[test]
fn the_navigation_has_three_pages() {
    let page = rendered(&Page::of(&seat(), "/operator/merchants/mer_1", "Tea house", &|_| true));
    let names: Vec<&str> = page.split("<li>").skip(1).filter_map(|item| item.split(['>', '<']).nth(2)).collect();
    assert_eq!(names, ["Overview", "Merchants", "Sandbox"]);
    assert!(page.contains("href=\"/operator/merchants\" aria-current=\"page\""), "{page}");
}
