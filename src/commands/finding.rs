//! The answers of `till payment find`, `till key find` and `till key list` as tables for people.

use serde_json::Value;

use super::screen::{columns, money, text, time};

/// An answer as a table.
pub(super) type TextTable = fn(&Value) -> String;

/// The table of a page of payments.
pub(super) fn payments(page: &Value) -> String {
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

/// The table of one key.
pub(super) fn one_key(key: &Value) -> String {
    keys(std::slice::from_ref(key))
}

/// The table of a page of keys.
pub(super) fn keys_of_page(page: &Value) -> String {
    with_pages(page, keys(entries(page)))
}

fn keys(keys: &[Value]) -> String {
    let heads =
        ["KEY", "PREFIX", "ROLE", "NAME", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "MERCHANT", "MERCHANT'S NAME"];
    let row = |key: &Value| {
        [
            text(&key["key_id"]),
            text(&key["prefix"]),
            text(&key["role_id"]),
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
