//! Puts load on a server from many connections until the server ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{Server, TestDice};

use super::call_record::CallRecord;
use super::caller::LoadCaller;
use super::merchants::LoadedMerchant;

/// The number of threads that make calls. Each thread has a connection to every interface of the server.
pub(super) const CALLERS: usize = 32;

/// The index of a caller's merchant. Half of the callers have the hot merchant, whose index is 0.
pub(super) fn merchant_of(caller: usize, merchants: usize) -> usize {
    if caller.is_multiple_of(2) { 0 } else { 1 + caller / 2 % (merchants - 1) }
}

/// Makes the callers of a load. `name` must differ from the names of all other loads on the same data.
pub(super) fn callers(
    server: &Server,
    merchants: &[LoadedMerchant],
    name: &str,
    dice: &mut TestDice,
) -> Vec<LoadCaller> {
    let plans = plans(server, merchants);
    let mut has_one = vec![false; merchants.len()];
    let caller = |number: usize| {
        let merchant = merchant_of(number, merchants.len());
        // Only one caller of each merchant selects plans, so that the order of the merchant's plans is known.
        let is_first = !std::mem::replace(&mut has_one[merchant], true);
        let plans = if is_first { plans.clone() } else { Vec::new() };
        LoadCaller::new(server, (merchant, merchants), (format!("{name}-{number}"), plans), dice.fork())
    };
    (0..CALLERS).map(caller).collect()
}

/// The ids of all plans. They are the same for all merchants.
fn plans(server: &Server, merchants: &[LoadedMerchant]) -> Vec<String> {
    let plans = merchants[0].shop.on(server).call("list-plans", &json!({})).ok();
    let id = |plan: &Value| plan["plan_id"].as_str().expect("an id").to_owned();
    plans.as_array().expect("an array").iter().map(id).collect()
}

/// Puts load on a server until `end` has ended the server, and returns all calls with their results.
pub(super) fn until(server: &mut Server, callers: Vec<LoadCaller>, end: impl FnOnce(&mut Server)) -> Vec<CallRecord> {
    let ended = AtomicBool::new(false);
    let go_on = || !ended.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let running: Vec<_> = callers.into_iter().map(|caller| scope.spawn(|| caller.call_while(go_on))).collect();
        end(server);
        ended.store(true, Ordering::Relaxed);
        running.into_iter().flat_map(|caller| caller.join().expect("a caller has said what was wrong")).collect()
    })
}
