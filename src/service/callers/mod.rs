//! Callers: the installation that a call of an SDK names, the time of each key's last use, the page that a customer
//! comes back to, and the customers who act on pages or come back.

mod checkout;
mod checkout_address;
mod installation;
mod plan_terms;
mod return_url;
#[cfg(feature = "pages")]
mod returning;
#[cfg(feature = "pages")]
mod asked_customer;
#[cfg(feature = "pages")]
mod shown_checkout;

#[cfg(feature = "pages")]
pub(crate) use asked_customer::AskedCustomer;
pub(crate) use checkout::OfferedCheckout;
pub(crate) use checkout_address::CheckoutReference;
pub(crate) use installation::{NamedInstallation, SdkCaller};
pub(crate) use plan_terms::{PlanTerms, plan_terms};
#[cfg(feature = "pages")]
pub(crate) use return_url::in_ascii;
pub(crate) use return_url::{given_up_to, returned_to};
#[cfg(feature = "pages")]
pub(crate) use returning::{Returning, WaitingCustomer};
#[cfg(feature = "pages")]
pub(crate) use shown_checkout::{ShownCheckout, ShownForm};
