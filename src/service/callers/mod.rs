//! Callers: the installation that a call of an SDK names, what the customer of a checkout is offered, and the pages
//! that customers come back to.

mod card_page;
mod checkout;
mod checkout_address;
mod credentials_link;
mod installation;
mod plan_terms;
mod return_url;

pub(crate) use card_page::card_page;
pub(crate) use checkout::OfferedCheckout;
pub(crate) use checkout_address::CheckoutReference;
#[cfg(feature = "pages")]
pub(crate) use checkout_address::parse_with_secret;
pub(crate) use installation::{NamedInstallation, SdkCaller};
pub(crate) use plan_terms::{PlanTerms, plan_terms};
#[cfg(feature = "pages")]
pub(crate) use return_url::{framed_at, in_ascii, origin_of};
pub(crate) use return_url::{given_up_to, returned_to};
