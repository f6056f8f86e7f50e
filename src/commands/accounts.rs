//! The accounts at acquirers of all merchants.

use serde_json::{Value, json};

use super::admin_client::{AdminCallError, AdminClient};

/// Entries of a page.
const PER_PAGE: u16 = 100;

/// A line for each account: what it is, and how it is compared. One call for each merchant.
pub(super) fn accounts(client: &AdminClient) -> Result<Vec<String>, AdminCallError> {
    let mut lines = Vec::new();
    for merchant in every(client, "list-merchants", json!({}))? {
        let merchant_id = merchant["merchant_id"].as_str().unwrap_or_default();
        for account in every(client, "list-acquirers", json!({ "merchant_id": merchant_id }))? {
            let text = |name: &str| account[name].as_str().unwrap_or_default();
            let (id, acquirer, mode, name) = (text("acquirer_id"), text("acquirer"), text("mode"), text("name"));
            lines.push(format!(
                "{acquirer} is called again for {name} ({mode}). To compare: till reconcile \
                 --merchant-id {merchant_id} --acquirer-id {id} --from DATE --to DATE"
            ));
        }
    }
    Ok(lines)
}

/// All entries of a list, of which `body` asks for a page.
fn every(client: &AdminClient, list: &str, mut body: Value) -> Result<Vec<Value>, AdminCallError> {
    body["per_page"] = json!(PER_PAGE);
    let mut entries = Vec::new();
    while !body.is_null() {
        let mut answer = client.call_admin(list, &body, None)?;
        if let Value::Array(page) = answer["page"].take() {
            entries.extend(page);
        }
        body = answer["next"].take();
    }
    Ok(entries)
}
