//! A start that accepts a loss, as the refusal before it says: every record before the damage is there, and nothing is
//! wrong with what is there.

use std::sync::Arc;

use serde_json::Value;

use super::image::{Copy, Image, start};
use super::restored::run;
use crate::crash::exported_log;

/// The words before the number with which a refused start may be repeated.
const ACCEPTS: &str = "accept_loss_up_to = ";

/// Accepts the loss, when the refusal says how: when it does not, the damage is not of a log or
/// took everything, and a restore helps.
pub(super) fn check(image: &Image, copy: &Copy, refusal: &str, damage: &str) {
    let Some(accepted) = number_after(refusal, ACCEPTS) else {
        let is_all_gone = refusal.contains("acknowledged commits 1 to ") && refusal.contains("nothing is left");
        return assert!(is_all_gone || !refusal.contains("acknowledged"), "{damage}: {refusal}");
    };
    // A record that is read without end loses nothing when its type was all that was damaged.
    let first = number_after(refusal, "acknowledged commits ").unwrap_or(accepted + 1);
    let accepting = start().with("TILL_ACCEPT_LOSS_UP_TO", &accepted.to_string());
    let started = accepting.try_server_on(&copy.data(), Some(Arc::clone(&copy.directory)));
    let mut server = started.unwrap_or_else(|message| panic!("{damage}: {refusal}: then {message}"));
    assert!(server.stop(), "{damage}: a stop ends well");
    drop(server);
    let verified = run(&["verify", "--json"], copy, damage);
    let json = verified.text.find('{').and_then(|begins| verified.text.get(begins..=verified.text.rfind('}')?));
    let report: Value = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    assert!(report["fault_count"].is_u64(), "{damage}: no report: {}", verified.text);
    assert_eq!(report["fault_count"], report["harmless_count"], "{damage}: {report}");
    assert_log(image, copy, first, damage);
}

/// Checks that every merchant's log has the records of the commits before `first`.
fn assert_log(image: &Image, copy: &Copy, first: u64, damage: &str) {
    let before = exported_log::read(&image.copy().data());
    let after = exported_log::read(&copy.data());
    for (merchant_id, records) in before {
        let kept: Vec<_> = records.iter().take_while(|record| record["commit"].as_u64() < Some(first)).collect();
        let found = after.get(&merchant_id).map_or(&[][..], Vec::as_slice);
        let found: Vec<_> = found.iter().take(kept.len()).collect();
        assert_eq!(found, kept, "{damage}: the log of {merchant_id}");
    }
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let rest = text.split_once(words)?.1;
    rest[..rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}
