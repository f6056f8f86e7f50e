//! Kills of both processes, and ends of all keys, spread over the payments.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::field::Field;
use crate::harness::TestDice;

/// The ends of all keys.
const KEYS_ENDED: u64 = 2;
const PAUSE: Duration = Duration::from_millis(20);
/// The longest time for which a process is gone, in milliseconds.
const GONE_MS_MAX: u64 = 700;

#[derive(Debug, Clone, Copy)]
enum Blow {
    Till,
    Fake,
    Keys,
}

/// Strikes until all is struck or all stories have ended. `begun` counts the stories that have begun.
pub(super) fn kill(field: &Field, begun: &AtomicU64, mut dice: TestDice) {
    for (after, blow) in blows(field, &mut dice) {
        while begun.load(Ordering::Relaxed) < after {
            if field.ended.load(Ordering::Relaxed) {
                return;
            }
            sleep(PAUSE);
        }
        // In the middle of what the story does.
        sleep(Duration::from_millis(dice.between(0, GONE_MS_MAX)));
        strike(field, blow, Duration::from_millis(dice.between(0, GONE_MS_MAX)));
        field.count(format!("{blow:?} struck"));
    }
}

/// The blows, each with the number of stories that have begun before.
fn blows(field: &Field, dice: &mut TestDice) -> Vec<(u64, Blow)> {
    let kinds = [(Blow::Till, field.extent.kills), (Blow::Fake, field.extent.kills), (Blow::Keys, KEYS_ENDED)];
    let mut blows = Vec::new();
    for (blow, times) in kinds {
        blows.extend((0..times).map(|_| (dice.between(1, field.extent.payments + 1), blow)));
    }
    blows.sort_by_key(|(after, _)| *after);
    blows
}

fn strike(field: &Field, blow: Blow, gone: Duration) {
    match blow {
        Blow::Till => {
            let mut server = field.server.lock().expect("no panic");
            server.kill();
            sleep(gone);
            server.restart();
            drop(server);
            field.moved();
        }
        Blow::Fake => {
            let mut fake = field.fake.lock().expect("no panic");
            fake.kill();
            sleep(gone);
            fake.restart();
        }
        Blow::Keys => _ = field.fake.lock().expect("no panic").control("DELETE", "keys", &json!({})),
    }
}
