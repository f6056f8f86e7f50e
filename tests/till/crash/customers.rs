//! Customers beside the load, whose payments ask them to act. After each crash, what a customer was acknowledged is
//! kept and never doubled: each success is captured once or given back once, in the ledger and in the sandbox's book.

use std::collections::BTreeMap;
use std::thread;

use serde_json::Value;

use crate::harness::{Server, Shop, TestDice};

use super::customer::Customer;
use super::customer_book;
use super::customer_story::{End, Story};
use super::inspection::assert_same;

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
        self.at_once(|customer| {
            let mut stories = std::mem::take(&mut customer.stories);
            stories.iter_mut().filter(|story| story.end.is_none()).for_each(|story| check_end(customer, story));
            check_events(&customer.shop, &stories);
            check_ledger(&customer.shop, &stories);
            check_activity(&customer.shop, &stories);
            customer.stories = stories;
        });
        let customers = self.0.iter().map(|customer| (&customer.shop, &customer.stories[..]));
        customer_book::check(server.data(), customers);
    }

    fn at_once(&mut self, work: impl Fn(&mut Customer) + Sync) {
        let work = &work;
        thread::scope(|scope| self.0.iter_mut().for_each(|customer| drop(scope.spawn(move || work(customer)))));
    }

    /// A short description for the report.
    pub(super) fn report(&self) -> String {
        let mut ends: BTreeMap<String, usize> = BTreeMap::new();
        for end in self.0.iter().flat_map(|customer| &customer.stories).filter_map(|story| story.end.as_ref()) {
            let late = if end.is_late { " and paid late" } else { "" };
            *ends.entry(format!("{}{late}", end.status)).or_default() += 1;
        }
        let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        format!("customers were asked: {}", ends.join(", "))
    }
}

/// Checks that a payment ended as it may have, and that its customer is sent to the shop.
fn check_end(customer: &Customer, story: &mut Story) {
    let end = End::of(&customer.shop.payment(story.id()));
    assert!(story.ends().contains(&end), "{end:?} of {story:?}");
    if end.is_late {
        customer.returned(story);
    }
    let shop = format!("https://shop.example/done?payment_id={}", story.id());
    assert_eq!(customer.sent_to(story), Some(shop), "{story:?}");
    story.end = Some(end);
}

fn end(story: &Story) -> &End {
    story.end.as_ref().expect("it was checked")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The shop was told of everything once.
fn check_events(shop: &Shop, stories: &[Story]) {
    let events = shop.all("list-events");
    let mut found: Vec<[String; 2]> =
        events.iter().map(|event| [text(&event["payment_id"]), text(&event["event"])]).collect();
    found.sort();
    let mut expected: Vec<[String; 2]> = stories.iter().flat_map(expected_events).collect();
    expected.sort();
    assert_same("events of payments that ask their customers", &found, &expected);
}

fn expected_events(story: &Story) -> Vec<[String; 2]> {
    let end = end(story);
    let last = match end.status.as_str() {
        "AUTHORIZED" => "payment_authorized",
        "VOIDED" => "payment_voided",
        "EXPIRED" => "payment_expired",
        _ => "payment_completed",
    };
    let authorized = end.is_voided_authorization().then_some("payment_authorized");
    let names = ["payment_action_required", last].into_iter().chain(authorized);
    let names = names.chain(end.is_late.then_some("payment_returned"));
    names.map(|name| [story.id().to_owned(), name.to_owned()]).collect()
}

/// One entry for each success, and no other; the balance is their sum.
fn check_ledger(shop: &Shop, stories: &[Story]) {
    let entries = shop.all("balance-history");
    let posted = |entry: &Value| (text(&entry["payment_id"]), text(&entry["type"]), entry["amount"].as_u64());
    let mut found: Vec<_> = entries.iter().map(posted).collect();
    found.sort();
    let paid = stories.iter().filter(|story| end(story).status == "SUCCESSFUL");
    let mut expected: Vec<_> =
        paid.map(|story| (story.id().to_owned(), "PAYMENT".to_owned(), Some(story.minor))).collect();
    expected.sort();
    assert_same("entries of payments that ask their customers", &found, &expected);
    let balance = shop.balance();
    let amounts = ["available", "pending"].map(|member| balance[member].as_u64().expect("an amount"));
    let sum: u64 = expected.iter().filter_map(|(_, _, minor)| *minor).sum();
    assert_eq!(amounts.iter().sum::<u64>(), sum, "{balance}");
}

/// One activity for each success and each void, and no other.
fn check_activity(shop: &Shop, stories: &[Story]) {
    let activities = shop.all("list-activity-logs");
    let mut found: Vec<[String; 2]> =
        activities.iter().map(|entry| [text(&entry["object_id"]), text(&entry["activity_type"])]).collect();
    found.sort();
    let expected = |story: &Story| match end(story).status.as_str() {
        "SUCCESSFUL" => Some([story.id().to_owned(), "PAYMENT_CAPTURED".to_owned()]),
        "VOIDED" => Some([story.id().to_owned(), "PAYMENT_VOIDED".to_owned()]),
        _ => None,
    };
    let mut expected: Vec<[String; 2]> = stories.iter().filter_map(expected).collect();
    expected.sort();
    assert_same("activity of payments that ask their customers", &found, &expected);
}
