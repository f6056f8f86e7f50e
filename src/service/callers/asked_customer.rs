//! Customers who are asked to act on a page of the sandbox: contract, section 9.5.

use std::collections::BTreeSet;

use till_domain::customer_action::CustomerStep;
use till_domain::records::{Checkouts, CustomerActions, Payments, Profiles, Rows, Single};
use till_protocol::api_error::{ApiError, Code};
use till_sandbox::ShownAction;

use super::return_url::origin_of;
use crate::service::lists::open_action;
use crate::service::submission::Service;

/// A customer who is asked to act.
#[derive(Debug, PartialEq, Eq)]
pub struct AskedCustomer {
    /// The name of the shop.
    pub merchant: String,
    /// The origins of the shop's pages that the customer may come back to.
    pub shop_origins: BTreeSet<String>,
    /// False when the customer has acted or given up, and after the deadline by the merchant's time.
    pub is_open: bool,
}

impl Service {
    /// True when the log has this path as the address at which the customer of an action must act. The sandbox's book
    /// of a restored store gave an action that is newer than its checkpoint another id.
    ///
    /// # Errors
    /// `UNAVAILABLE` when rows cannot be read.
    pub async fn is_recorded_at(&self, action: &ShownAction, path: &str) -> Result<bool, ApiError> {
        let reader = self.reader(action.merchant).await?;
        let recorded = reader.get::<CustomerActions>(action.payment)?.map(|recorded| recorded.step);
        Ok(matches!(recorded, Some(CustomerStep::Redirect(address)) if address.as_str() == path))
    }

    /// The customer whom the sandbox asks to act.
    ///
    /// # Errors
    /// `NOT_FOUND` when the merchant has no such payment; `UNAVAILABLE` when rows cannot be read.
    pub async fn asked_customer(&self, action: &ShownAction) -> Result<AskedCustomer, ApiError> {
        let unknown = || ApiError::new(Code::NotFound, "No payment asks for this.");
        let reader = self.reader(action.merchant).await?;
        let payment = reader.get::<Payments>(action.payment)?.ok_or_else(unknown)?;
        let merchant = reader.get::<Profiles>(Single)?.ok_or_else(unknown)?.name.as_str().to_owned();
        let open = open_action(&reader, &payment, self.merchant_now(action.merchant)?)?;
        let checkout = payment.checkout_id.map_or(Ok(None), |id| reader.get::<Checkouts>(id))?;
        let of_checkout = checkout.iter().flat_map(|checkout| [&checkout.cancel_url, &checkout.page_url]).flatten();
        Ok(AskedCustomer {
            merchant,
            shop_origins: [&payment.return_url].into_iter().chain(of_checkout).filter_map(origin_of).collect(),
            is_open: action.is_open && open.is_some(),
        })
    }
}
