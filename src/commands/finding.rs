//! `till payment find`, `till key find` and `till key list`: tables for people, and JSON for programs.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::screen::{columns, money, text, time};

/// Calls about payments of any merchant.
#[derive(Debug, Subcommand)]
pub enum PaymentCall {
    /// Finds payments of any merchant by id, by the merchant's own identifier, or by the card's last digits
    Find(FindPayments),
}

/// The payments that are looked for.
#[derive(Debug, Args)]
pub struct FindPayments {
    #[command(flatten)]
    clue: PaymentClueOption,
    /// Only payments of this merchant
    #[arg(long)]
    merchant_id: Option<String>,
    /// When they were initiated: 2026-01-31, today, 2026-01.. and so on, in the named merchant's time zone, else in UTC
    #[arg(long)]
    created_at: Option<String>,
    #[command(flatten)]
    page: PageOptions,
    #[command(flatten)]
    output: OutputOption,
}

/// The property by which a payment is looked for.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PaymentClueOption {
    /// The payment
    #[arg(long)]
    payment_id: Option<String>,
    /// The identifier that its merchant gave it
    #[arg(long)]
    external_id: Option<String>,
    /// The last four digits of its card; needs --created-at or --merchant-id
    #[arg(long)]
    last_digits: Option<String>,
}

/// A page of a list.
#[derive(Debug, Args)]
pub struct PageOptions {
    /// Entries on the page
    #[arg(long)]
    pub(super) per_page: Option<u16>,
    /// Start after this id
    #[arg(long)]
    pub(super) after: Option<String>,
    /// End before this id
    #[arg(long)]
    pub(super) before: Option<String>,
}

/// The form of what is printed.
#[derive(Debug, Args)]
struct OutputOption {
    /// Prints the answer as JSON
    #[arg(long)]
    json: bool,
}

/// The name of an API key.
#[derive(Debug, Args)]
pub struct NamedKey {
    /// The key's uid, as the log's lines name it
    #[arg(value_name = "KEY_ID", required_unless_present = "key_id")]
    key: Option<String>,
    /// The same
    #[arg(long, value_name = "KEY_ID", conflicts_with = "key")]
    key_id: Option<String>,
}

/// The key that is looked for.
#[derive(Debug, Args)]
pub struct FindKey {
    #[command(flatten)]
    key: NamedKey,
    #[command(flatten)]
    output: OutputOption,
}

/// The keys that are listed.
#[derive(Debug, Args)]
pub struct ListKeys {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
    #[command(flatten)]
    page: PageOptions,
    #[command(flatten)]
    output: OutputOption,
}

/// An answer as a table.
pub(super) type Table = fn(&Value) -> String;

impl NamedKey {
    /// The key's uid.
    pub(super) fn id(&self) -> Option<&str> {
        self.key.as_deref().or(self.key_id.as_deref())
    }
}

impl OutputOption {
    fn table(&self, table: Table) -> Option<Table> {
        (!self.json).then_some(table)
    }
}

impl FindPayments {
    pub(super) fn body(&self) -> Value {
        let FindPayments { clue, merchant_id, created_at, page, output: _ } = self;
        json!({
            "payment_id": clue.payment_id,
            "external_id": clue.external_id,
            "last_digits": clue.last_digits,
            "merchant_id": merchant_id,
            "created_at": created_at,
            "per_page": page.per_page,
            "after": page.after,
            "before": page.before,
        })
    }

    pub(super) fn table(&self) -> Option<Table> {
        self.output.table(payments)
    }
}

impl FindKey {
    pub(super) fn body(&self) -> Value {
        json!({ "key_id": self.key.id() })
    }

    pub(super) fn table(&self) -> Option<Table> {
        self.output.table(|key| keys(std::slice::from_ref(key)))
    }
}

impl ListKeys {
    pub(super) fn body(&self) -> Value {
        let PageOptions { per_page, after, before } = &self.page;
        json!({ "merchant_id": self.merchant_id, "per_page": per_page, "after": after, "before": before })
    }

    pub(super) fn table(&self) -> Option<Table> {
        self.output.table(|page| with_pages(page, keys(entries(page))))
    }
}

fn payments(page: &Value) -> String {
    let heads =
        ["PAYMENT", "STATUS", "FAILURE", "AMOUNT", "METHOD", "CREATED", "EXTERNAL ID", "MERCHANT", "MERCHANT'S NAME"];
    let row = |payment: &Value| {
        [
            text(&payment["payment_id"]),
            text(&payment["status"]),
            text(&payment["failure_code"]),
            money(&payment["amount"], &payment["currency"]),
            text(&payment["payment_method"]),
            time(&payment["created_at"]),
            text(&payment["external_id"]),
            text(&payment["merchant_id"]),
            text(&payment["merchant_name"]),
        ]
    };
    let rows: Vec<_> = entries(page).iter().map(row).collect();
    if rows.is_empty() { "no such payment".to_owned() } else { with_pages(page, columns(heads, &rows)) }
}

fn keys(keys: &[Value]) -> String {
    let heads = ["KEY", "PREFIX", "NAME", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "MERCHANT", "MERCHANT'S NAME"];
    let row = |key: &Value| {
        [
            text(&key["key_id"]),
            text(&key["prefix"]),
            text(&key["name"]),
            time(&key["created_at"]),
            time(&key["last_used_at"]),
            time(&key["expires_at"]),
            time(&key["revoked_at"]),
            text(&key["merchant_id"]),
            text(&key["merchant_name"]),
        ]
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    if rows.is_empty() { "no keys".to_owned() } else { columns(heads, &rows) }
}

fn entries(page: &Value) -> &[Value] {
    page["page"].as_array().map_or(&[], Vec::as_slice)
}

/// A table of a page, with the options that lead to the pages beside it.
fn with_pages(page: &Value, table: String) -> String {
    let option = |member: &str, cursor: &str| {
        let id = page[member][cursor].as_str()?;
        Some(format!("{} with --{cursor} {id}", if cursor == "after" { "older ones" } else { "newer ones" }))
    };
    let beside = [option("previous", "before"), option("next", "after")];
    [Some(table)].into_iter().chain(beside).flatten().collect::<Vec<String>>().join("\n")
}
