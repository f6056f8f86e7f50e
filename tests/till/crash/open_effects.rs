//! Calls to the acquirer that a crash has left open are made by the next start.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::harness::{Server, TestDice};

use super::call_record::{CallClients, CallOutcome, CallRecord};
use super::caller::INITIATE;
use super::merchants::LoadedMerchant;
use super::recent_payments::Sale;
use super::round::Round;
use super::{load, sandbox};

/// Sales that each caller prepares.
const SALES_EACH: usize = 8;

/// The most acknowledgements before the server is killed.
const ACKNOWLEDGED_MAX: usize = load::CALLERS * SALES_EACH / 2;

/// The number of kills, some of which may miss the moment in which calls are open.
const TRIES: u64 = 40;

/// Sales with their sessions made, by merchant.
fn prepare(round: &mut Round, name: &str) -> (Vec<Vec<Sale>>, Vec<CallRecord>) {
    let callers = load::callers(&round.server, &round.merchants, name, &mut round.dice);
    let prepare = callers.into_iter().map(|mut caller| {
        let sales = (0..SALES_EACH).map(|_| caller.prepare_sale().expect("the server is there")).collect();
        (sales, caller.call_while(|| false))
    });
    let (sales, sessions): (Vec<Vec<Sale>>, Vec<Vec<CallRecord>>) = prepare.unzip();
    (sales, sessions.into_iter().flatten().collect())
}

/// Initiates from every caller at once, and kills the server as soon as `enough` payments are acknowledged.
fn initiate_and_kill(
    server: &mut Server,
    merchants: &[LoadedMerchant],
    sales: &[Vec<Sale>],
    enough: usize,
) -> Vec<CallRecord> {
    let acknowledged = AtomicUsize::new(0);
    let connections: Vec<_> = sales
        .iter()
        .enumerate()
        .map(|(caller, sales)| {
            let merchant = load::merchant_of(caller, merchants.len());
            (merchant, CallClients::new(server, &merchants[merchant].shop), sales)
        })
        .collect();
    thread::scope(|scope| {
        let calling: Vec<_> = connections
            .into_iter()
            .map(|(merchant, clients, sales)| {
                let acknowledged = &acknowledged;
                scope.spawn(move || {
                    let call_record = |sale: &Sale| {
                        let answer = clients.ask(&sale.call);
                        let outcome = sale.call.outcome(&answer);
                        acknowledged.fetch_add(usize::from(answer.status == 200), Ordering::Relaxed);
                        CallRecord { merchant, call: sale.call.clone(), outcome }
                    };
                    sales.iter().map(call_record).collect::<Vec<_>>()
                })
            })
            .collect();
        while acknowledged.load(Ordering::Relaxed) < enough {
            thread::yield_now();
        }
        server.kill();
        calling.into_iter().flat_map(|caller| caller.join().expect("a caller has said what was wrong")).collect()
    })
}

/// The number of acknowledged payments whose call the acquirer has not got.
fn open(server: &Server, call_records: &[CallRecord]) -> usize {
    let asked = sandbox::payments_of(&sandbox::open(server.data()));
    let acknowledged = call_records.iter().filter_map(|call_record| match &call_record.outcome {
        CallOutcome::Acknowledged(payment_id) if call_record.call.path == INITIATE => payment_id.as_str(),
        CallOutcome::Acknowledged(_) | CallOutcome::NotDone | CallOutcome::Unknown => None,
    });
    acknowledged.filter(|id| !asked.contains(*id)).count()
}

#[test]
fn acquirer_calls_left_open_by_a_kill_are_made_after_it() {
    let mut round = Round::begin(TestDice::seed("TILL_CRASH_SEED"));
    let mut call_records = Vec::new();
    let hit = (0..TRIES).find(|number| {
        let (sales, sessions) = prepare(&mut round, &format!("try{number}"));
        let enough = 1 + round.dice.index(ACKNOWLEDGED_MAX);
        let payments = initiate_and_kill(&mut round.server, &round.merchants, &sales, enough);
        let left_open = open(&round.server, &payments);
        println!("kill {number}: {left_open} acknowledged payments had not reached the acquirer");
        call_records.extend(sessions.into_iter().chain(payments));
        round.start_again();
        left_open > 0
    });
    assert!(hit.is_some(), "no kill hit a moment in which calls were open");
    round.check(&call_records);
    round.end();
}
