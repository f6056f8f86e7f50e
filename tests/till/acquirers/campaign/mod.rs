//! The campaign: payments of all kinds at the fake of Stripe, while both processes are killed again and again, answers
//! and requests are lost, and notices come twice, late or not at all. At the end the money of both is the same.
//!
//! `TILL_ACQUIRER_PAYMENTS` sets the number of payments, `TILL_ACQUIRER_KILLS` that of kills of each process,
//! `TILL_ACQUIRER_DIVISOR` by which the times of calls are divided, `TILL_ACQUIRER_SEED` repeats the choices of a seed.

mod field;
mod story;
mod killer;
mod books;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use crate::harness::{SetOnDrop, TestDice, from_environment};
use field::Field;

/// Stories at a time, and at most a third of them, so that the kills are spread over them.
const AT_A_TIME_MAX: u64 = 96;

/// The pause between two looks for refunds that wait for their customers.
const CLAIMED_EVERY: Duration = Duration::from_millis(500);

/// The extent of a campaign.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) payments: u64,
    /// Kills of each of the two processes.
    pub(super) kills: u64,
    /// Times of calls are divided by this.
    pub(super) divisor: u64,
}

#[test]
fn nothing_is_charged_or_given_back_twice_whatever_is_lost() {
    let extent = Extent {
        payments: from_environment("TILL_ACQUIRER_PAYMENTS", 36),
        kills: from_environment("TILL_ACQUIRER_KILLS", 2),
        divisor: from_environment("TILL_ACQUIRER_DIVISOR", 30),
    };
    let seed = TestDice::seed("TILL_ACQUIRER_SEED");
    println!("{extent:?}, seed {seed}");
    let begun = Instant::now();
    let mut field = Field::open(extent, seed);
    run(&field, seed);
    field.end_faults();
    field.settle();
    println!("{} in {} s", field.report(), begun.elapsed().as_secs());
    books::agree(&field);
    field.verify();
}

/// Plays all stories, while the processes are killed.
fn run(field: &Field, seed: u64) {
    let (next, mut dice) = (AtomicU64::new(0), TestDice::new(seed));
    let payments = field.extent.payments;
    thread::scope(|scope| {
        let ended = SetOnDrop(&field.ended);
        let (next, killing) = (&next, dice.fork());
        scope.spawn(move || killer::kill(field, next, killing));
        scope.spawn(move || {
            while !field.ended.load(Ordering::Relaxed) {
                // The fake may be down.
                let _claimed = field.claim_refunds();
                sleep(CLAIMED_EVERY);
            }
        });
        let customers: Vec<_> = (0..AT_A_TIME_MAX.min(payments.div_ceil(3)))
            .map(|_| {
                scope.spawn(move || {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= payments {
                            break;
                        }
                        story::play(field, number, TestDice::new(seed.wrapping_add(number)));
                    }
                })
            })
            .collect();
        for customer in customers {
            customer.join().expect("a customer has said what was wrong");
        }
        drop(ended);
    });
}
