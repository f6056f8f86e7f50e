//! A ready merchant to try the server with, and the first session to paste.

#[cfg(feature = "pages")]
mod checkout;
mod first_session;
mod merchant;
#[cfg(feature = "pages")]
mod owner;

pub(crate) use merchant::{Demo, find};

use std::net::SocketAddr;

use crate::configuration::Configuration;
use crate::service::Shared;

/// Creates the demo merchant at the first start, finds it at later ones, and prints the addresses of a checkout and
/// of the dashboard to open in a browser, and a session to paste.
///
/// # Errors
/// Fails when the merchant can neither be created nor found.
pub(crate) async fn prepare_and_print(
    service: &Shared,
    configuration: &Configuration,
    public: SocketAddr,
) -> anyhow::Result<()> {
    let demo = merchant::find_or_make(service, &configuration.data).await?;
    let reached = first_session::Reached::by_address(configuration, public);
    #[cfg(feature = "pages")]
    checkout::start_and_print(service, &demo, &reached).await?;
    #[cfg(feature = "pages")]
    owner::invite_and_print(service, &demo, &reached).await?;
    first_session::print(&demo, &reached);
    Ok(())
}
