//! Addresses and certificates of the listeners are taken before a start creates anything: an address in use, or a
//! certificate that cannot be used, leaves neither a store nor secrets.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use rustls::ServerConfig;
use till_protocol::transport::ReservedAddress;

use crate::configuration::{Configuration, TlsFiles};
use crate::counted::CERTIFICATE_ENDS;
use crate::service::Reloads;
use crate::tls::Certificates;

/// The reserved address of one listener, and its certificates.
pub(super) struct PreparedListener {
    /// The address; it is reserved, and refuses connections until the listener starts.
    pub(super) address: ReservedAddress,
    tls: Option<(&'static str, Arc<Certificates>)>,
}

impl PreparedListener {
    /// Prepares the public listener.
    pub(super) fn public(configuration: &Configuration) -> anyhow::Result<PreparedListener> {
        PreparedListener::of(("listen", configuration.listen), ("tls", configuration.tls.as_ref()))
    }

    /// Prepares the admin listener.
    pub(super) fn admin(configuration: &Configuration) -> anyhow::Result<PreparedListener> {
        PreparedListener::of(
            ("admin_listen", configuration.admin_listen),
            ("admin_tls", configuration.admin_tls.as_ref()),
        )
    }

    fn of(
        (setting, address): (&'static str, SocketAddr),
        (tls, files): (&'static str, Option<&TlsFiles>),
    ) -> anyhow::Result<PreparedListener> {
        let reserved = ReservedAddress::reserve(address).map_err(|error| cannot_listen(setting, address, &error))?;
        let read = |files| Certificates::read(files).with_context(|| format!("failed to serve {tls}"));
        let certificates = files.map(read).transpose()?;
        Ok(PreparedListener { address: reserved, tls: certificates.map(|certificates| (tls, certificates)) })
    }

    /// The TLS settings of the listener, if it has any. Its certificates are read again at each reload.
    pub(super) fn server_config(&self, reloads: &Reloads) -> Option<ServerConfig> {
        let (what, certificates) = self.tls.as_ref().map(|(what, certificates)| (*what, Arc::clone(certificates)))?;
        let config = certificates.server_config();
        show_end(what, &certificates);
        reloads.add(what, move || {
            certificates.read_anew().map_err(|error| format!("{:#}", anyhow::Error::new(error)))?;
            show_end(what, &certificates);
            Ok("connections from now on see it".to_owned())
        });
        Some(config)
    }
}

/// Exports the expiry of a listener's certificate as a metric; 0 when the certificate does not have one. Warns when it
/// is over.
fn show_end(listener: &str, certificates: &Certificates) {
    let end_seconds = certificates.end_seconds().unwrap_or(0);
    CERTIFICATE_ENDS.with_label_values(&[listener]).set(i64::try_from(end_seconds).unwrap_or(i64::MAX));
    let is_over = SystemTime::now().duration_since(UNIX_EPOCH).is_ok_and(|now| now.as_secs() >= end_seconds);
    if is_over && end_seconds > 0 {
        tracing::warn!(
            listener,
            end_seconds,
            "the certificate has ended: clients refuse it. Put a new one there, and reload"
        );
    }
}

/// An error that says why a listener cannot have its address, with advice.
fn cannot_listen(setting: &str, address: SocketAddr, error: &Error) -> anyhow::Error {
    let flag = setting.replace('_', "-");
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "another process listens there: stop it, or name another address",
        ErrorKind::PermissionDenied => {
            "ports below 1024 are not for every user: listen on a higher one behind a proxy, or give the service \
             CAP_NET_BIND_SERVICE (docs/operations.md, \"A public port\")"
        }
        ErrorKind::AddrNotAvailable => "this machine has no such address: name one that it has, or 0.0.0.0 for all",
        _ => "name another address",
    };
    anyhow!("failed to listen on {address}: {error}; {remedy}. The address is set by {setting} (--{flag})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_names_the_address_its_setting_and_a_remedy() {
        let address = SocketAddr::from(([192, 0, 2, 1], 443));
        for (kind, remedy) in [
            (ErrorKind::AddrInUse, "stop it"),
            (ErrorKind::PermissionDenied, "CAP_NET_BIND_SERVICE"),
            (ErrorKind::AddrNotAvailable, "0.0.0.0"),
            (ErrorKind::OutOfMemory, "another address"),
        ] {
            let message = cannot_listen("admin_listen", address, &kind.into()).to_string();
            for part in ["192.0.2.1:443", "admin_listen (--admin-listen)", remedy, &Error::from(kind).to_string()] {
                assert!(message.contains(part), "{part} is not in {message}");
            }
        }
    }
}
