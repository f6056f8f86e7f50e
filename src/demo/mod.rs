//! A ready merchant to try the server with, and the first session to paste.

mod first_session;
mod merchant;

use std::net::SocketAddr;
use std::path::Path;

use crate::service::Shared;

/// Makes the demo merchant at the first start, finds it at later ones, and prints a session to paste.
///
/// # Errors
/// When the merchant can neither be made nor found.
pub async fn prepare_and_print(service: &Shared, data: &Path, public: SocketAddr) -> anyhow::Result<()> {
    let demo = merchant::find_or_make(service, data).await?;
    first_session::print(&demo, public);
    Ok(())
}
