//! Measures the cost of a page of a list, by the depth of the page and by the filter of the list. The calls go over
//! HTTP to the real binary, on a store with `TILL_BENCH_ENTRIES` activity entries of one merchant (by default a
//! million).
//!
//! Every case is measured once in each round, so that other work of the machine slows all cases alike. The result of a
//! case is the ratio of its median to the median of the first page of the same list without a filter.
//!
//! `TILL_BENCH_ROUNDS` is the number of rounds. `TILL_BENCH_DATA` names a directory in which the store is kept; a store
//! that is there already is used again. In a store with several merchants, `TILL_BENCH_MERCHANT` names the merchant to
//! measure, and `TILL_BENCH_ENTRIES` is the number of entries of that merchant.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};
use till_domain::ids::{ActivityId, Id, IdPosition, MerchantId, RawId};
use ureq::Agent;

mod server;

use server::{ADMIN_TOKEN, BenchServer, agent, post, program, temporary};

/// The default number of entries of a store.
const ENTRIES: u64 = 1_000_000;
/// The default number of rounds.
const ROUNDS: usize = 200;
/// The number of warm-up rounds, whose times are not counted.
const WARM_ROUNDS: usize = 5;
/// The number of activity entries of a generated store for each hundred of its payments: 96 captures, 2 lapsed
/// authorizations, and 70 changes of the team and the plan.
const ENTRIES_PER_100_PAYMENTS: u64 = 168;
/// The number of changes of the team and the plan for each payment.
const TEAM_SHARE: &str = "0.7";
/// The number of entries before the page for which the target is set.
const TARGET_DEPTH: u64 = 1_000_000;
/// The largest ratio that meets the target.
const TARGET: f64 = 1.5;

/// A call that is measured.
struct Case {
    name: String,
    endpoint: &'static str,
    body: Value,
    /// The number of entries in the answer.
    entries: usize,
    times: Vec<Duration>,
}

/// The merchant whose lists are read.
struct LargeMerchant<'a> {
    server: &'a BenchServer,
    agent: Agent,
    id: String,
    key: String,
}

impl<'a> LargeMerchant<'a> {
    /// The merchant that `TILL_BENCH_MERCHANT` names, or else the only merchant of the store, with a new API key.
    fn find(server: &'a BenchServer) -> LargeMerchant<'a> {
        let agent = agent();
        let admin = |endpoint: &str, body: Value| {
            post(&agent, &format!("{}/admin/{endpoint}", server.admin), ADMIN_TOKEN, &body)
        };
        let id = std::env::var("TILL_BENCH_MERCHANT");
        let id = id.unwrap_or_else(|_| text(&admin("list-merchants", json!({}))["page"][0]["merchant_id"]));
        let key = text(&admin("generate-key", json!({ "merchant_id": id, "name": "bench" }))["key"]);
        LargeMerchant { server, agent, id, key }
    }

    fn call(&self, endpoint: &str, body: &Value) -> Value {
        post(&self.agent, &format!("{}/merchants/{endpoint}", self.server.public), &self.key, body)
    }

    fn case(&self, name: impl Into<String>, endpoint: &'static str, body: Value) -> Case {
        let entries = self.call(endpoint, &body)["page"].as_array().expect("a page").len();
        Case { name: name.into(), endpoint, body, entries, times: Vec::new() }
    }

    fn measure(&self, case: &Case) -> Duration {
        let start = Instant::now();
        let answer = self.call(case.endpoint, &case.body);
        let took = start.elapsed();
        assert_eq!(answer["page"].as_array().map(Vec::len), Some(case.entries), "{}", case.name);
        took
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

/// The span of time over which a generated store spreads the entries of a list evenly.
#[derive(Clone, Copy)]
struct EntrySpan {
    oldest_millis: u64,
    newest_millis: u64,
    entries: u64,
}

impl EntrySpan {
    /// The cursor for the page at a depth, as an id with this prefix. An id that belongs to no object is
    /// a cursor for the time in the id.
    fn id_at(self, prefix: &str, depth: u64) -> String {
        let span = u128::from(self.newest_millis - self.oldest_millis);
        let back = span * u128::from(depth.min(self.entries)) / u128::from(self.entries);
        let millis = u128::from(self.newest_millis) - back;
        let millis = u64::try_from(millis).expect("between two times");
        format!("{prefix}_{:?}", RawId::new(IdPosition { millis, counter: 0 }, 0))
    }
}

/// The time of an id, in milliseconds.
fn millis_of<I: Id + FromStr>(id: &str) -> u64 {
    let id: I = id.parse().unwrap_or_else(|_| panic!("{id} is no id of {}", I::PREFIX));
    id.to_raw().position().millis
}

/// The depths of the pages that are read in addition to the first page: in the middle of the list, near its end, and at
/// the depth of the target if the list has more than twice that number of entries.
fn depths(span: EntrySpan) -> Vec<(&'static str, u64)> {
    let all = [
        ("depth 1000000", TARGET_DEPTH),
        ("middle", span.entries / 2),
        ("near the end", span.entries - span.entries / 50),
    ];
    all.into_iter().filter(|(_, depth)| *depth != TARGET_DEPTH || span.entries > 2 * TARGET_DEPTH).collect()
}

/// The cases about activity logs. Each filter is measured on the first page, and deep in the entries that it selects.
fn activity_cases(merchant: &LargeMerchant<'_>, span: EntrySpan) -> Vec<Case> {
    const LIST: &str = "list-activity-logs";
    let after = |depth: u64| span.id_at("act", depth);
    let mut cases = vec![merchant.case("first page", LIST, json!({}))];
    for depth in [10, 100_000, 1_000_000] {
        let depth = depth.min(span.entries - 100);
        cases.push(merchant.case(format!("depth {depth}"), LIST, json!({ "after": after(depth) })));
    }
    cases.push(merchant.case("depth, backwards", LIST, json!({ "before": after(span.entries / 2) })));
    let deep = merchant.call(LIST, &json!({ "after": after(span.entries / 2), "activity_type": "payment_captured" }));
    let payment = text(&deep["page"][0]["object_id"]);
    let by_key = merchant.call(LIST, &json!({ "object_id": merchant.id, "activity_type": "plan_switched" }));
    let key_of = |entry: &&Value| entry["actor_key_id"].is_string();
    let key_id = text(&by_key["page"].as_array().expect("a page").iter().find(key_of).expect("a key")["actor_key_id"]);
    let day = day_of(span.newest_millis - (span.newest_millis - span.oldest_millis) / 2);
    for (name, filter) in [
        ("activity_type (half of all)", json!({ "activity_type": "payment_captured" })),
        ("activity_type (a tenth)", json!({ "activity_type": "user_invited" })),
        ("activity_type dispute (none)", json!({ "activity_type": "dispute" })),
        ("actor_email", json!({ "actor_email": "support@till.example" })),
        ("actor_key_id", json!({ "actor_key_id": key_id })),
        ("object_id of the merchant", json!({ "object_id": merchant.id })),
        ("object_id of a payment", json!({ "object_id": payment })),
        ("parent_id (none)", json!({ "parent_id": payment })),
        ("created_at, a day", json!({ "created_at": day })),
        ("created_at, up to a day", json!({ "created_at": format!("..{day}") })),
        ("terms, the merchant's id", json!({ "terms": merchant.id })),
        ("terms, a payment's id", json!({ "terms": payment })),
        ("terms, an address", json!({ "terms": "support@till.example" })),
        ("terms, a part of one address", json!({ "terms": "upport@til" })),
        ("terms, a part of an address of few entries", json!({ "terms": "person-17@" })),
        ("terms, a part of eleven addresses", json!({ "terms": "person-17" })),
        ("terms, a part of many addresses", json!({ "terms": "@shop.example" })),
        ("terms, a part of no address", json!({ "terms": "nobody@" })),
    ] {
        cases.extend(filter_cases(merchant, span, ("act", LIST, "activity_log_id"), name, &filter));
    }
    cases
}

/// The cases about payments and ledger entries.
fn other_cases(merchant: &LargeMerchant<'_>, span: EntrySpan) -> Vec<Case> {
    let mut cases = Vec::new();
    for (endpoint, prefix) in [("list-payments", "pay"), ("balance-history", "ent")] {
        cases.push(merchant.case(format!("{endpoint}: first page"), endpoint, json!({})));
        for (word, depth) in depths(span) {
            let body = json!({ "after": span.id_at(prefix, depth) });
            cases.push(merchant.case(format!("{endpoint}: {word}"), endpoint, body));
        }
        if endpoint == "list-payments" {
            cases.extend(payment_cases(merchant, span));
        }
    }
    cases
}

/// The cases about filters of payments. Each filter is measured on the first page, and deep in the payments that it
/// selects.
fn payment_cases(merchant: &LargeMerchant<'_>, span: EntrySpan) -> Vec<Case> {
    const LIST: &str = "list-payments";
    let after = |depth: u64| span.id_at("pay", depth);
    let middle = merchant.call(LIST, &json!({ "after": after(span.entries / 2), "per_page": 100 }));
    let payments = middle["page"].as_array().expect("a page");
    let one = payments.iter().find(|payment| payment["customer_id"].is_string()).expect("a payment of a customer");
    let amount = one["amount"].as_u64().expect("an amount");
    let day = day_of(span.newest_millis - (span.newest_millis - span.oldest_millis) / 2);
    let month = &day[.."2025-04".len()];
    let mut cases = Vec::new();
    for (name, filter) in [
        ("status SUCCESSFUL", json!({ "status": "SUCCESSFUL" })),
        ("status VOIDED", json!({ "status": "VOIDED" })),
        ("status PENDING (none)", json!({ "status": "PENDING" })),
        ("payment_method CARD", json!({ "payment_method": "CARD" })),
        ("payment_method INSTALLMENT", json!({ "payment_method": "INSTALLMENT" })),
        ("created_at, a month", json!({ "created_at": month })),
        ("captured_at, a day", json!({ "captured_at": day })),
        ("captured_at, a month", json!({ "captured_at": month })),
        ("captured_at, from a day on", json!({ "captured_at": format!("{day}..") })),
        ("amount", json!({ "amount": amount })),
        ("amount, a range of ten", json!({ "amount": format!("{}..{}", amount - 9, amount) })),
        ("amount, a wide range", json!({ "amount": format!("{}..", amount / 2) })),
        ("amount, a wide range, CARD", json!({ "amount": format!("{}..", amount / 2), "payment_method": "CARD" })),
        ("amount, a wide range, SUCCESSFUL", json!({ "amount": format!("{}..", amount / 2), "status": "SUCCESSFUL" })),
        ("status VOIDED, INSTALLMENT", json!({ "status": "VOIDED", "payment_method": "INSTALLMENT" })),
        ("contact_id", json!({ "contact_id": one["customer_id"] })),
        ("terms, an external_id", json!({ "terms": one["external_id"] })),
        ("terms, the beginning of every external_id", json!({ "terms": "order-" })),
        ("terms, a payment's id", json!({ "terms": one["payment_id"] })),
        ("terms, an address", json!({ "terms": one["customer_email"] })),
        ("terms, last digits", json!({ "terms": "4242" })),
        ("terms, last digits of no card", json!({ "terms": "0000" })),
    ] {
        cases.extend(filter_cases(merchant, span, ("pay", LIST, "payment_id"), name, &filter));
    }
    cases
}

/// The cases of one filter of a list: its first page, and pages deep in what it selects, with the cursors that pages in
/// the same list name.
fn filter_cases(
    merchant: &LargeMerchant<'_>,
    span: EntrySpan,
    (prefix, endpoint, id_field): (&str, &'static str, &str),
    name: &str,
    filter: &Value,
) -> Vec<Case> {
    let case = |word: &str, body| merchant.case(format!("{endpoint} {name}: {word}"), endpoint, body);
    let mut cases = vec![case("first page", filter.clone())];
    for (word, depth) in depths(span) {
        let mut body = filter.clone();
        body["after"] = json!(span.id_at(prefix, depth));
        body["per_page"] = json!(1);
        let found = merchant.call(endpoint, &body);
        if let Some(entry) = found["page"].as_array().and_then(|page| page.first()) {
            body["after"] = entry[id_field].clone();
        }
        body.as_object_mut().expect("arguments").remove("per_page");
        cases.push(case(word, body));
    }
    cases
}

/// The day of an instant in UTC, in the form that filters take.
fn day_of(millis: u64) -> String {
    let instant = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    instant.expect("a time of this century").strftime("%Y-%m-%d").to_string()
}

fn variable<T: FromStr>(name: &str, default: T) -> T {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}

/// Generates a store in a directory, unless the directory has a store already.
fn fill(data: &Path, entries: u64) {
    if data.join("db").exists() {
        return;
    }
    let payments = (entries * 100).div_ceil(ENTRIES_PER_100_PAYMENTS).to_string();
    let arguments = ["generate", "--payments", &payments, "--team-share", TEAM_SHARE];
    let status = program("till-bench").args(arguments).arg("--data").arg(data).status().expect("make bench builds it");
    assert!(status.success(), "the store is generated");
}

/// Measures every case once in each round. The order differs from round to round, so that a case does not always follow
/// the same other case.
fn measure(merchant: &LargeMerchant<'_>, cases: &mut [Case], rounds: usize) {
    for round in 0..WARM_ROUNDS + rounds {
        for turn in shuffled(cases.len(), round) {
            let took = merchant.measure(&cases[turn]);
            if round >= WARM_ROUNDS {
                cases[turn].times.push(took);
            }
        }
    }
}

/// The numbers below `count`, in a pseudo-random order that depends on the seed.
fn shuffled(count: usize, seed: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let key =
        |number: &usize| (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(2 * seed + 1);
    numbers.sort_by_key(key);
    numbers
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[expect(clippy::print_stdout, clippy::float_arithmetic, reason = "a benchmark prints its results")]
fn print(cases: &mut [Case]) {
    println!("{:<80} {:>7} {:>10} {:>7}", "case", "entries", "median us", "ratio");
    let (mut list, mut base) = ("", 1.0);
    for case in cases {
        let seconds = median(&mut case.times).as_secs_f64();
        if case.endpoint != list {
            (list, base) = (case.endpoint, seconds);
        }
        let ratio = seconds / base;
        let mark = if ratio > TARGET { " *" } else { "" };
        println!("{:<80} {:>7} {:>10.0} {ratio:>7.2}{mark}", case.name, case.entries, seconds * 1e6);
    }
    println!("* above the target of {TARGET}");
}

fn main() {
    let (entries, rounds) = (variable("TILL_BENCH_ENTRIES", ENTRIES), variable("TILL_BENCH_ROUNDS", ROUNDS));
    let temporary = temporary();
    let directory = std::env::var_os("TILL_BENCH_DATA").map_or(temporary.path().to_owned(), PathBuf::from);
    fill(&directory.join("data"), entries);
    let server = BenchServer::start_in(&directory);
    let merchant = LargeMerchant::find(&server);
    let newest = merchant.call("list-activity-logs", &json!({ "per_page": 1 }));
    let newest_millis = millis_of::<ActivityId>(&text(&newest["page"][0]["activity_log_id"]));
    let span = EntrySpan { oldest_millis: millis_of::<MerchantId>(&merchant.id), newest_millis, entries };
    let mut cases = activity_cases(&merchant, span);
    cases.extend(other_cases(&merchant, span));
    measure(&merchant, &mut cases, rounds);
    print(&mut cases);
}
