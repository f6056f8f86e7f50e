//! Callers: the installation that a call of an SDK names, the time of each key's last use, the page that a customer comes
//! back to, and the customers who act on pages or come back.

mod installation;
mod last_used;
mod return_url;
#[cfg(feature = "pages")]
mod returning;
#[cfg(feature = "pages")]
mod asked_customer;

#[cfg(feature = "pages")]
pub use asked_customer::AskedCustomer;
pub use installation::{NamedInstallation, SdkCaller};
pub use last_used::LastUsed;
pub use return_url::returned_to;
#[cfg(feature = "pages")]
pub use returning::{Returning, WaitingCustomer};
