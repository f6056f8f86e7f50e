//! Callers: the installation that a call of an SDK names, the time of each key's last use, the page that a customer comes
//! back to, and the customers who act on pages or come back.

mod checkout;
mod installation;
mod last_used;
mod return_url;
#[cfg(feature = "pages")]
mod returning;
#[cfg(feature = "pages")]
mod asked_customer;
#[cfg(feature = "pages")]
mod shown_checkout;

#[cfg(feature = "pages")]
pub use asked_customer::AskedCustomer;
pub use checkout::{OfferedCheckout, checkout_path};
pub use installation::{NamedInstallation, SdkCaller};
pub use last_used::LastUsed;
#[cfg(feature = "pages")]
pub use return_url::in_ascii;
pub use return_url::{given_up_to, returned_to};
#[cfg(feature = "pages")]
pub use returning::{Returning, WaitingCustomer};
#[cfg(feature = "pages")]
pub use shown_checkout::{ShownCheckout, ShownForm};
