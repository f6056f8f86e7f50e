//! Notices of strangers, from many connections without a pause: see `heavy_load.rs`.

use super::closed_loop::PreparedRequest;
use super::heavy_load::{HeavyCalls, campaign};
use crate::harness::{Server, now_seconds};
use crate::notices::sender::NoticeSender;

/// Connections of strangers in a campaign, and in the suite.
const CONNECTIONS: [usize; 2] = [256, 32];

#[test]
fn large_notices_with_wrong_signatures_delay_no_light_calls() {
    let (server, shop) = Server::with_shop();
    let account = NoticeSender::add(&server, &shop.merchant_id, "first");
    let signature = format!("Stripe-Signature: t={},v1={}\r\n", now_seconds(), "0".repeat(64));
    let request = PreparedRequest::post(&account.path(), &signature, &" ".repeat(1 << 20));
    let connections = CONNECTIONS[usize::from(campaign().is_none())];
    let calls = HeavyCalls::alike("notices of 1 MiB with wrong signatures", &request, connections);
    HeavyCalls { expected: &[400], ..calls }.delay_no_light_calls(&server);
}
