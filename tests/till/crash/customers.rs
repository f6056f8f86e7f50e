//! Customers beside the load, whose payments ask them to act. After each crash, what a customer was acknowledged is
//! kept and never doubled: each success is captured once or given back once, in the ledger and in the sandbox's book.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;

use serde_json::Value;
use till_sandbox::book::{BookLine, BookOperation, FollowUp, RocksBook};

use crate::harness::{Server, TestDice};

use super::customer::Customer;
use super::customer_story::{Heard, Story};
use super::inspection::{assert_same, check_activities};
use super::ledger_inspection;
use super::object_kind::PAYMENT;
use super::sandbox::{self, Extent};
use super::shown::{Shown, text};
use super::truth::Truth;

/// Customers at the same time.
const CUSTOMERS: usize = 6;

/// All customers.
pub(super) struct Customers(Vec<Customer>);

impl Customers {
    pub(super) fn begin(server: &Server, dice: &mut TestDice) -> Customers {
        Customers((0..CUSTOMERS).map(|_| Customer::begin(server, dice.fork())).collect())
    }

    /// Pays until the server no longer answers.
    pub(super) fn pay_until_unanswered(&mut self) {
        self.at_once(Customer::pay_until_unanswered);
    }

    /// Ends what is open on a restarted server: nothing waits for a customer afterwards.
    pub(super) fn finish(&mut self, server: &Server) {
        self.at_once(|customer| {
            customer.move_to(server);
            let mut stories = std::mem::take(&mut customer.stories);
            stories.iter_mut().filter(|story| story.end.is_none()).for_each(|story| customer.finish(story));
            customer.stories = stories;
        });
    }

    /// Checks every payment, once no call to the acquirer is open.
    pub(super) fn check(&mut self, server: &Server) {
        let book = sandbox::open(server.data());
        self.at_once(|customer| {
            let mut stories = std::mem::take(&mut customer.stories);
            stories.iter_mut().filter(|story| story.end.is_none()).for_each(|story| check_end(customer, story));
            customer.stories = stories;
            check_shown(customer, &book);
        });
    }

    fn at_once(&mut self, work: impl Fn(&mut Customer) + Sync) {
        let work = &work;
        thread::scope(|scope| self.0.iter_mut().for_each(|customer| drop(scope.spawn(move || work(customer)))));
    }

    /// A short description for the report.
    pub(super) fn report(&self) -> String {
        let mut ends: BTreeMap<String, usize> = BTreeMap::new();
        for end in self.0.iter().flat_map(|customer| &customer.stories).filter_map(|story| story.end.as_ref()) {
            let late = if end["late_success"].is_null() { "" } else { " and paid late" };
            *ends.entry(format!("{}{late}", text(end, "status"))).or_default() += 1;
        }
        let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        format!("customers were asked: {}", ends.join(", "))
    }
}

/// Checks that a payment ended as it may have, and that its customer is sent to the shop.
fn check_end(customer: &Customer, story: &mut Story) {
    let mut payment = customer.shop.payment(story.id());
    let status = text(&payment, "status").to_owned();
    assert!(story.may_end_as(&status), "{story:?}: {payment}");
    let is_paid = payment["amount_captured"] == story.minor;
    assert_eq!(is_paid, status == "SUCCESSFUL", "{story:?}: {payment}");
    let is_late = !payment["late_success"].is_null();
    assert!(is_late || story.late != Some(Heard::Done), "the late success of {story:?} is lost: {payment}");
    if is_late {
        payment = customer.wait_for_return(story);
    }
    let shop = format!("https://shop.example/done?payment_id={}", story.id());
    assert_eq!(customer.sent_to(story), Some(shop), "{story:?}");
    story.end = Some(payment);
}

/// Checks that each payment is there once, and its money as well; the shop was told of nothing twice.
fn check_shown(customer: &mut Customer, book: &RocksBook) {
    let shown = Shown::read(&customer.shop);
    shown.check_follows(&customer.shown, &BTreeSet::new());
    let mut made: Vec<&str> = customer.stories.iter().map(Story::id).collect();
    made.sort_unstable();
    assert_same("payments that ask their customers", &ids(&shown, |_| true), &made);
    check_activities(&shown, &Truth::default());
    ledger_inspection::check(&customer.shop, &shown, &Truth::default());
    let lines = sandbox::lines_of(book, &customer.shop);
    sandbox::check_money(&lines, &shown, Extent::Whole);
    check_given_back(&lines, &shown);
    let mut told = BTreeSet::new();
    for event in customer.shop.all("list-events") {
        assert!(told.insert((event["payment_id"].to_string(), event["event"].to_string())), "told twice: {event}");
    }
    customer.shown = shown;
}

/// Money was given back once for each success that came too late, and for each that was voided.
fn check_given_back(lines: &[BookLine], shown: &Shown) {
    let is_return = |line: &&BookLine| match &line.operation {
        BookOperation::FollowUp { what: FollowUp::Void | FollowUp::Refund, declined, .. } => declined.is_none(),
        _ => false,
    };
    let mut found: Vec<String> =
        lines.iter().filter(is_return).map(|line| line.payment.expect("a payment").to_string()).collect();
    found.sort();
    let is_released = |payment: &Value| {
        !payment["late_success"].is_null() || (payment["status"] == "VOIDED" && !payment["authorized_at"].is_null())
    };
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_same("money given back in the sandbox's book", &found, &ids(shown, is_released));
}

/// The sorted ids of the payments for which this holds.
fn ids(shown: &Shown, is_chosen: impl Fn(&Value) -> bool) -> Vec<&str> {
    let mut ids: Vec<&str> =
        shown.objects(&PAYMENT).filter(|payment| is_chosen(payment)).map(|payment| text(payment, PAYMENT.id)).collect();
    ids.reverse(); // They are listed newest first.
    ids
}
