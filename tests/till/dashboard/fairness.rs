//! Wrong attempts of many addresses beside a member.

use std::sync::atomic::{AtomicBool, Ordering};

use super::seat::{Seat, Visitor};
use crate::harness::Server;

/// Connections that sign in wrongly, each from an address of its own.
const GUESSERS: u8 = 24;

#[test]
fn a_member_signs_in_beside_addresses_that_guess() {
    let (server, shop, _) = Server::with_shops();
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
        let answer = seat.sign_in_with(&visitor, seat.fresh_code());
        ends.store(true, Ordering::Relaxed);
        assert_eq!(answer.status, 303, "{answer:?}");
    });
}
