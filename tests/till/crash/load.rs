//! Load from many connections until something ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::harness::{Dice, Server};

use super::caller::Caller;
use super::deed::Deed;
use super::merchants::Merchant;

/// Threads that call; each has a connection to every face of the server.
pub(super) const CALLERS: usize = 32;

/// The merchant of a caller: half of them are the hot one's.
pub(super) fn merchant_of(caller: usize, merchants: usize) -> usize {
    if caller.is_multiple_of(2) { 0 } else { 1 + caller / 2 % (merchants - 1) }
}

/// The callers of a load. `name` is nobody else's.
pub(super) fn callers(server: &Server, merchants: &[Merchant], name: &str, dice: &mut Dice) -> Vec<Caller> {
    let caller = |number: usize| {
        let merchant = merchant_of(number, merchants.len());
        Caller::new(server, merchant, merchants, format!("{name}-{number}"), dice.fork())
    };
    (0..CALLERS).map(caller).collect()
}

/// Loads a server until `end` has ended it, and tells all that was asked and what came back.
pub(super) fn until(server: &mut Server, callers: Vec<Caller>, end: impl FnOnce(&mut Server)) -> Vec<Deed> {
    let ended = AtomicBool::new(false);
    let go_on = || !ended.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let running: Vec<_> = callers.into_iter().map(|caller| scope.spawn(|| caller.call_while(go_on))).collect();
        end(server);
        ended.store(true, Ordering::Relaxed);
        running.into_iter().flat_map(|caller| caller.join().expect("a caller has said what was wrong")).collect()
    })
}
