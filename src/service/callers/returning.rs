//! Customers who come back from the page on which they acted: contract, section 9.4.

use till_domain::checkout::CheckoutStatus;
use till_domain::customer_action::CustomerStep;
use till_domain::ids::{MerchantId, SessionId};
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Checkouts, MerchantDirectory, Payments, Profiles, Rows, Sessions, Single};
use till_protocol::api_error::{ApiError, Code};

use super::checkout_address::parse_with_secret;
use super::return_url::{framed_at, given_up_to, in_ascii, returned_to};
use crate::service::lists::open_action;
use crate::service::submission::{Reader, Service};

/// The way on of a customer who comes back.
#[derive(Debug, PartialEq, Eq)]
pub enum Returning {
    /// To the shop, at this address in ASCII, or to the page of a checkout that can still be paid.
    ToShop(String),
    /// The payment has no outcome yet.
    Waiting(WaitingCustomer),
}

/// A customer whose payment has no outcome yet.
#[derive(Debug, PartialEq, Eq)]
pub struct WaitingCustomer {
    /// The name of the shop.
    pub merchant: String,
    /// The address of the shop, in ASCII.
    pub shop: String,
    /// The address at which the customer must still act.
    pub acts_at: Option<String>,
}

impl Service {
    /// The way on of the customer of a session. `way_back` is the session's id, with the secret of this way back or
    /// alone: an id alone does not lead to a checkout's address.
    ///
    /// # Errors
    /// `NOT_FOUND` when no payment used such a session of the merchant, or with another secret; `UNAVAILABLE` when rows
    /// cannot be read.
    pub async fn returning(&self, merchant_id: MerchantId, way_back: &str) -> Result<Returning, ApiError> {
        let unknown = || ApiError::new(Code::NotFound, "No payment was made at this address.");
        let (session_id, secret) = parse_with_secret::<SessionId>(way_back).ok_or_else(unknown)?;
        if secret.is_some_and(|secret| !self.is_way_back(merchant_id, session_id, secret)) {
            return Err(unknown());
        }
        let reader = self.reader(merchant_id).await?;
        reader.get::<MerchantDirectory>(merchant_id)?.ok_or_else(unknown)?;
        let payment_id = reader.get::<Sessions>(session_id)?.and_then(|session| session.payment_id);
        let payment = reader.get::<Payments>(payment_id.ok_or_else(unknown)?)?.ok_or_else(unknown)?;
        let shop = in_ascii(&returned_to(&payment));
        if payment.status != PaymentStatus::Pending {
            let again = self.checkout_to_try_again(&reader, &payment, secret.is_some())?;
            return Ok(Returning::ToShop(again.unwrap_or(shop)));
        }
        let merchant = reader.get::<Profiles>(Single)?.ok_or_else(unknown)?.name.as_str().to_owned();
        let action = open_action(&reader, &payment, self.merchant_now(merchant_id)?)?;
        let acts_at = action.and_then(|action| match action.step {
            CustomerStep::Redirect(address) => Some(in_ascii(address.as_str())),
            CustomerStep::DisplayQr(_) => None,
        });
        Ok(Returning::Waiting(WaitingCustomer { merchant, shop, acts_at }))
    }

    /// The page at which the customer of a failed payment can still pay its checkout: that of the shop, or of this
    /// server for whoever may have its address.
    fn checkout_to_try_again(
        &self,
        reader: &Reader<'_>,
        payment: &Payment,
        may_open: bool,
    ) -> Result<Option<String>, ApiError> {
        let has_failed =
            matches!(payment.status, PaymentStatus::Failed | PaymentStatus::Expired | PaymentStatus::Voided);
        let Some(checkout_id) = payment.checkout_id.filter(|_| has_failed) else { return Ok(None) };
        let now = self.merchant_now(reader.merchant_id())?;
        let checkout = reader.get::<Checkouts>(checkout_id)?;
        let open = checkout.filter(|checkout| checkout.status_at(now) == CheckoutStatus::Open);
        Ok(open.map(|checkout| match framed_at(&checkout) {
            Some(page) => in_ascii(&page),
            None if may_open => self.checkout_path(reader.merchant_id(), checkout_id),
            None => in_ascii(&given_up_to(&checkout)),
        }))
    }
}
