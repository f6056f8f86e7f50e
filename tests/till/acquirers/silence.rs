//! An acquirer that answers nobody delays no payment of another merchant.
//!
//! `TILL_ACQUIRER_SILENCE_SECONDS` sets the length of the silence, and of the time before it,
//! `TILL_ACQUIRER_DIVISOR` by which the times of calls are divided.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::json;

use super::account::{Account, AtStripe, DIVISOR};
use crate::harness::{CARD, SetOnDrop, Shop, first_answer, from_environment};

/// The payments of the account in a second.
const PAYMENTS_PER_SECOND: u32 = 5;
/// The most that another merchant's payments may take longer, at their 99th percentile.
const LONGER_MAX: Duration = Duration::from_millis(50);
/// A machine that does much else is measured again.
const ATTEMPTS_MAX: usize = 3;
/// The time in which all payments of the account end after the silence.
const ENDED_WITHIN: Duration = Duration::from_secs(120);
const MINOR: u64 = 20_000;

#[test]
fn a_silent_acquirer_delays_no_payment_of_another_merchant() {
    let seconds: u64 = from_environment("TILL_ACQUIRER_SILENCE_SECONDS", 5);
    let divisor: u64 = from_environment("TILL_ACQUIRER_DIVISOR", DIVISOR);
    let at = AtStripe::with(|start| start.with("TILL_ACQUIRER_TIMES_DIVIDED_BY", &divisor.to_string()), "NUMBER");
    let other = at.server.shop();
    other.pay(MINOR);
    for attempt in 1..=ATTEMPTS_MAX {
        let (before, payments) = loaded(&at.account, &other, seconds);
        all_end(&at.account, &payments);
        at.fake.control("POST", "silence", &json!({ "seconds": seconds }));
        let (during, payments) = loaded(&at.account, &other, seconds);
        let waiting = payments.iter().filter(|id| at.account.shop.payment(id)["status"] == "PENDING").count();
        all_end(&at.account, &payments);
        println!("attempt {attempt}: p99 {before:?} before, {during:?} in {seconds} s of silence, {waiting} pending");
        if during <= before + LONGER_MAX {
            return;
        }
    }
    panic!("another merchant's payments took longer each time");
}

/// The 99th percentile of the other merchant's payments, from the call to the record, while the account's payments go
/// on, and these.
fn loaded(account: &Account, other: &Shop, seconds: u64) -> (Duration, Vec<String>) {
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let paying = scope.spawn(|| pay_until(account, &ended));
        let end = SetOnDrop(&ended);
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut times = Vec::new();
        while Instant::now() < until {
            times.push(time_of(other));
        }
        drop(end);
        times.sort_unstable();
        (times[times.len() * 99 / 100], paying.join().expect("it has said what was wrong"))
    })
}

fn pay_until(account: &Account, ended: &AtomicBool) -> Vec<String> {
    let mut payments = Vec::new();
    while !ended.load(Ordering::Relaxed) {
        let due = Instant::now() + Duration::from_secs(1) / PAYMENTS_PER_SECOND;
        payments.push(account.begin(CARD, MINOR, &json!({})));
        sleep(due.saturating_duration_since(Instant::now()));
    }
    payments
}

fn time_of(shop: &Shop) -> Duration {
    let session = shop.session(MINOR);
    let begun = Instant::now();
    let payment = shop.initiate(&session, MINOR, &json!({})).id();
    shop.settled(&payment);
    begun.elapsed()
}

fn all_end(account: &Account, payments: &[String]) {
    let until = Instant::now() + ENDED_WITHIN;
    for id in payments {
        let left = until.saturating_duration_since(Instant::now());
        let is_ended = |payment: &serde_json::Value| payment["status"] != "PENDING";
        first_answer(left, "still pending", || account.shop.payment(id), is_ended);
    }
}
