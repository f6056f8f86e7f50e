//! Tags: the subjects by which people find operations.

use serde_json::{Value, json};

use crate::declaration::{Declaration, Package};

/// The subjects, each with its description, in the order in which people need them: a payment first, then what a shop
/// needs beside it.
const SUBJECTS: [(Package, &str, &str); 38] = [
    (Package::Merchants, "payments", "Payments, from their initiation on."),
    (Package::Sdk, "cards", "Cards of customers, before they pay."),
    (Package::Sdk, "sessions", "Payment sessions: the choice of a payment method, and what follows from it."),
    (Package::Merchants, "checkouts", "Pages on which a customer pays one amount, in as many attempts as it takes."),
    (Package::Sdk, "checkouts", "What a checkout's page shows and does."),
    (Package::Sdk, "installations", "The settings of an installation."),
    (Package::Merchants, "refunds", "Money of payments that is paid back."),
    (Package::Merchants, "webhooks", "Events, and the merchant's endpoints that receive them."),
    (Package::Merchants, "contacts", "The merchant's customers."),
    (Package::Merchants, "cards", "The cards that the merchant's customers saved."),
    (Package::Merchants, "disputes", "Payments whose customers ask for their money back at their bank."),
    (Package::Merchants, "balance", "The merchant's money, and the ledger entries that make it up."),
    (Package::Merchants, "payouts", "Money of the balance that is paid out to the merchant."),
    (Package::Merchants, "topups", "Money that was added to the merchant's balance."),
    (Package::Merchants, "statements", "The months of the merchant's balance that are over, and their documents."),
    (Package::Merchants, "activity", "Records of all changes, with their actors."),
    (Package::Merchants, "metadata", "Values of the merchant's own under keys of its own, and sets in them."),
    (Package::Merchants, "keys", "The API keys that the merchant's programs call with."),
    (Package::Merchants, "team", "The people of the merchant's team, and invitations to it."),
    (Package::Merchants, "plans", "The subscription plan that the merchant has."),
    (Package::Merchants, "versions", "The versions of this API."),
    (Package::Admin, "server", "The server itself."),
    (Package::Admin, "payments", "Payments of any merchant, as the operator looks for them."),
    (Package::Admin, "merchants", "Merchants, and whether they may call."),
    (Package::Admin, "keys", "Merchants' API keys."),
    (Package::Admin, "team", "The people of merchants' teams."),
    (Package::Admin, "installations", "The sites, apps and terminals in which merchants' customers pay."),
    (Package::Admin, "payment methods", "The acquirers and the fees of merchants' payments."),
    (Package::Admin, "acquirers", "The accounts of merchants at acquirers."),
    (Package::Admin, "balances", "Merchants' balances, and money that is added to them."),
    (Package::Admin, "disputes", "Disputes about payments of the sandbox, whose part the operator plays."),
    (Package::Admin, "refunds", "Refunds that wait for the sandbox, whose part the operator plays."),
    (Package::Admin, "payouts", "Payouts that wait for the sandbox, whose part the operator plays."),
    (Package::Admin, "checkpoints", "Copies of the whole data, and servers that were restored from one."),
    (Package::Admin, "secrets", "Keys, tokens and certificates of this server."),
    (Package::Merchants, PIPELINING, PIPELINES),
    (Package::Sdk, PIPELINING, PIPELINES),
    (Package::Admin, PIPELINING, PIPELINES),
];

const PIPELINING: &str = "pipelining";
const PIPELINES: &str = "Several calls in one request, of which later ones refer to answers of earlier ones.";

/// The tag of an operation.
pub(super) fn tag(declaration: &Declaration) -> String {
    name(declaration.package, declaration.group)
}

/// The tags of these operations, each once, in the order in which pages show them.
pub(super) fn tags(declarations: &[&Declaration]) -> Vec<Value> {
    let is_used = |(package, group): (Package, &str)| {
        declarations.iter().any(|declaration| (declaration.package, declaration.group) == (package, group))
    };
    let used = SUBJECTS.iter().filter(|(package, group, _)| is_used((*package, group)));
    used.map(|(package, group, docs)| json!({ "name": name(*package, group), "description": docs })).collect()
}

/// The tag of a subject of an interface.
pub(super) fn name(package: Package, group: &str) -> String {
    format!("{} / {group}", package.segment())
}
