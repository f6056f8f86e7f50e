//! Tags: the subjects by which people find operations.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::protocol::declaration::{Declaration, Package};

/// The tag of an operation.
pub(super) fn tag(declaration: &Declaration) -> String {
    name(declaration.package, declaration.group)
}

/// All tags, each once, by name.
pub(super) fn tags(declarations: &[&Declaration]) -> Vec<Value> {
    let subjects: BTreeSet<(Package, &str)> =
        declarations.iter().map(|declaration| (declaration.package, declaration.group)).collect();
    let described = subjects.into_iter().map(|(package, group)| {
        let docs = description(package, group).unwrap_or(group);
        json!({ "name": name(package, group), "description": docs })
    });
    described.collect()
}

/// The tag of a subject of an interface.
pub(super) fn name(package: Package, group: &str) -> String {
    format!("{} / {group}", package.segment())
}

/// The description of the operations of a subject.
fn description(package: Package, group: &str) -> Option<&'static str> {
    Some(match (package, group) {
        (Package::Merchants, "activity") => "Records of all changes, with their actors.",
        (Package::Merchants, "balance") => "The merchant's money, and the ledger entries that make it up.",
        (Package::Merchants, "cards") => "The cards that the merchant's customers saved.",
        (Package::Merchants, "contacts") => "The merchant's customers.",
        (Package::Merchants, "disputes") => "Payments whose customers ask for their money back at their bank.",
        (Package::Merchants, "keys") => "The API keys that the merchant's programs call with.",
        (Package::Merchants, "metadata") => "Values of the merchant's own under keys of its own, and sets in them.",
        (Package::Merchants, "payments") => "Payments, from their initiation on.",
        (Package::Merchants, "payouts") => "Money of the balance that is paid out to the merchant.",
        (Package::Merchants, "plans") => "The subscription plan that the merchant has.",
        (Package::Merchants, "refunds") => "Money of payments that is paid back.",
        (Package::Merchants, "statements") => {
            "The months of the merchant's balance that are over, and their documents."
        }
        (Package::Merchants, "team") => "The people of the merchant's team, and invitations to it.",
        (Package::Merchants, "topups") => "Money that was added to the merchant's balance.",
        (Package::Merchants, "webhooks") => "Events, and the merchant's endpoints that receive them.",
        (Package::Merchants, "versions") => "The versions of this API.",
        (Package::Sdk, "cards") => "Cards of customers, before they pay.",
        (Package::Sdk, "installations") => "The settings of an installation.",
        (Package::Sdk, "sessions") => "Payment sessions: the choice of a payment method, and what follows from it.",
        (Package::Admin, "balances") => "Merchants' balances, and money that is added to them.",
        (Package::Admin, "checkpoints") => "Copies of the whole data, and servers that were restored from one.",
        (Package::Admin, "disputes") => "Disputes about payments of the sandbox, whose part the operator plays.",
        (Package::Admin, "installations") => "The sites, apps and terminals in which merchants' customers pay.",
        (Package::Admin, "keys") => "Merchants' API keys.",
        (Package::Admin, "merchants") => "Merchants, and whether they may call.",
        (Package::Admin, "payment methods") => "The acquirers and the fees of merchants' payments.",
        (Package::Admin, "payouts") => "Payouts that wait for the sandbox, whose part the operator plays.",
        (Package::Admin, "refunds") => "Refunds that wait for the sandbox, whose part the operator plays.",
        (Package::Admin, "secrets") => "Keys, tokens and certificates of this server.",
        (_, "pipelining") => "Several calls in one request, of which later ones refer to answers of earlier ones.",
        (_, _) => return None,
    })
}
