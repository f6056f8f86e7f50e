//! Wrong attempts of many addresses beside a member and a merchant's calls.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::seat::{Seat, Visitor};
use crate::harness::Server;

/// Connections that sign in wrongly, each from an address of its own.
const GUESSERS: u8 = 200;

#[test]
fn a_member_signs_in_within_five_seconds_beside_200_addresses_that_guess() {
    let (server, shop, other) = Server::with_shops();
    let (seat, _) = Seat::owner(&server, &shop);
    let (ends, visitor) = (AtomicBool::new(false), Visitor::of(&server));
    std::thread::scope(|scope| {
        for last in 20..20 + GUESSERS {
            let (path, email, ends, server) = (seat.path(), seat.email.clone(), &ends, &server);
            scope.spawn(move || {
                let guesser = Visitor::of(server).from(last);
                while !ends.load(Ordering::Relaxed) {
                    let fields = [("email", &*email), ("password", "guess"), ("code", "1")];
                    if guesser.post(&path, &fields).status == 429 {
                        return;
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        let answer = seat.sign_in_with(&visitor, seat.fresh_code());
        let signed_in = begun.elapsed();
        let mut calls: Vec<Duration> =
            (0..100).map(|_| timed(|| drop(other.call("list-payments", &json!({}))))).collect();
        ends.store(true, Ordering::Relaxed);
        calls.sort_unstable();
        assert_eq!(answer.status, 303, "{answer:?}");
        assert!(signed_in < Duration::from_secs(5), "{signed_in:?}");
        assert!(calls[90] < Duration::from_millis(250), "another merchant's calls wait: {:?}", &calls[90..]);
        println!("signed in after {signed_in:?}; calls {:?}, {:?}, {:?}", calls[50], calls[90], calls[98]);
    });
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}
