//! The address that the merchants' webhooks have.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use tokio::net::TcpSocket;

use super::receiver::WebhookReceiver;
use crate::plan::Webhooks;

/// The endpoint of all webhooks of a command.
pub(crate) enum WebhookTarget {
    /// There are no webhooks.
    None,
    /// A receiver in this process.
    Receiver(WebhookReceiver),
    /// A port that is reserved so that no other program gets it, and that refuses connections.
    Dead(TcpSocket),
}

impl WebhookTarget {
    /// Opens an endpoint on this machine.
    pub(crate) fn open(webhooks: Webhooks) -> anyhow::Result<WebhookTarget> {
        match webhooks {
            Webhooks::None => Ok(WebhookTarget::None),
            Webhooks::Receiver => Ok(WebhookTarget::Receiver(WebhookReceiver::start()?)),
            Webhooks::Dead => {
                let socket = TcpSocket::new_v4().context("failed to open a socket")?;
                socket.bind(any_port()).context("failed to keep a port at which nobody listens")?;
                Ok(WebhookTarget::Dead(socket))
            }
        }
    }

    /// The address, when there are webhooks.
    pub(crate) fn address(&self) -> anyhow::Result<Option<SocketAddr>> {
        match self {
            WebhookTarget::None => Ok(None),
            WebhookTarget::Receiver(receiver) => Ok(Some(receiver.address())),
            WebhookTarget::Dead(socket) => socket.local_addr().map(Some).context("failed to read the port of a socket"),
        }
    }

    /// The receiver, when there is one.
    pub(crate) const fn receiver(&self) -> Option<&WebhookReceiver> {
        match self {
            WebhookTarget::Receiver(receiver) => Some(receiver),
            WebhookTarget::None | WebhookTarget::Dead(_) => None,
        }
    }
}

/// A free port of this machine.
pub(super) fn any_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_dead_endpoint_refuses_connections_and_keeps_its_port() {
        let endpoint = WebhookTarget::open(Webhooks::Dead).unwrap_or_else(|error| panic!("{error}"));
        let address = endpoint.address().ok().flatten().unwrap_or_else(|| panic!("it has an address"));
        assert_eq!(TcpStream::connect(address).map_err(|error| error.kind()).err(), Some(ErrorKind::ConnectionRefused));
        assert_eq!(TcpListener::bind(address).map_err(|error| error.kind()).err(), Some(ErrorKind::AddrInUse));
    }
}
