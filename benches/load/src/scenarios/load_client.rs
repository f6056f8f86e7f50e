//! The state of one connection of a run.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::sessions::AskingPayment;
use crate::chance::SeededDice;
use crate::client::Connection;
use crate::recording::{MeasuredStep, Recorder};

/// A connection with the state that it keeps between its calls.
pub(crate) struct LoadClient {
    pub(crate) connection: Connection,
    pub(crate) recorder: Rc<RefCell<Recorder>>,
    /// The time at which the current operation was meant to begin.
    pub(crate) intended: Instant,
    pub(super) dice: SeededDice,
    /// The payment of the last operation, when its customer acts after the operation.
    pub(super) asking: Option<AskingPayment>,
    /// The buffer for a request.
    pub(super) request: Vec<u8>,
    /// The number of the connection among those of all threads.
    pub(super) number: usize,
    /// The number of operations so far, so that no two items are the same.
    pub(super) done: u64,
}

impl LoadClient {
    pub(crate) fn new(connection: Connection, number: usize, recorder: Rc<RefCell<Recorder>>) -> LoadClient {
        // The generator mixes its seed, so that connections with neighbouring numbers draw unrelated numbers.
        let seed = u64::try_from(number).expect("a number of connections fits");
        LoadClient {
            connection,
            recorder,
            intended: Instant::now(),
            dice: SeededDice::new(seed.wrapping_mul(0xA076_1D64_78BD_642F)),
            asking: None,
            request: Vec::new(),
            number,
            done: 0,
        }
    }

    /// Records the latency of a step of the current operation.
    pub(super) fn step(&self, step: MeasuredStep, latency: Duration) {
        let mut recorder = self.recorder.borrow_mut();
        if recorder.counts(self.intended) {
            recorder.step(step, latency);
        }
    }
}
