//! Payments that ask their customers to act, and the requests of the customers of one merchant.

use serde_json::json;

use super::prepare::{Lines, check_accepted};
use crate::chance::SeededDice;
use crate::client::Template;

/// The payment methods that ask the customer, beside cards that do.
const METHODS: [(&str, AskingMethod); 2] =
    [("MOBILE_BANKING", AskingMethod::MobileBanking), ("PROMPTPAY", AskingMethod::PromptPay)];

/// The way in which a payment asks its customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskingMethod {
    /// A card whose issuer asks for 3-D Secure, on a page.
    Challenge,
    /// A page of the bank.
    MobileBanking,
    /// A QR code that leads to a page of the wallet.
    PromptPay,
}

/// The requests of customers of one merchant.
pub(super) struct CustomerRequests {
    /// The methods that ask, each with its selection: the card's first.
    pub(super) selections: Vec<(AskingMethod, Vec<u8>)>,
    /// The card of a flow.
    pub(super) tokenize: Vec<u8>,
    pub(super) discover: Template,
    pub(super) redirect_url: Template,
    pub(super) qr_data: Template,
    pub(super) check_status: Template,
}

impl CustomerRequests {
    /// Draws a method, each equally often, with its selection.
    pub(super) fn draw(&self, dice: &mut SeededDice) -> &(AskingMethod, Vec<u8>) {
        &self.selections[dice.index(self.selections.len())]
    }
}

/// Enables the methods that ask, beside cards, for a merchant that was made for the run.
pub(super) async fn enable(lines: &mut Lines, merchant_id: &str) -> anyhow::Result<()> {
    for (method, _) in METHODS {
        let body = json!({
            "merchant_id": merchant_id, "payment_method": method, "acquirer": "sandbox", "enabled": true,
            "authorizes_without_capture": false,
        });
        lines.operator("enable a payment method", "configure-payment-method", &body).await?;
    }
    Ok(())
}

/// Asks which of these methods a merchant has, each with its name.
pub(super) async fn enabled(lines: &mut Lines, settings: &[u8]) -> anyhow::Result<Vec<(&'static str, AskingMethod)>> {
    let answer = check_accepted("read the settings of the installation", lines.public.call(settings).await)?.json();
    let listed = answer["payment_methods"].as_array().map_or(&[][..], Vec::as_slice);
    let has = |name: &str| listed.iter().any(|method| method["name"] == name);
    Ok(METHODS.into_iter().filter(|(name, _)| has(name)).collect())
}
