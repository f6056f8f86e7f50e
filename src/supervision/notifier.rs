//! The service manager's socket: one datagram a message, lines of `NAME=value`.
//!
//! Source: sd_notify(3) and sd_watchdog_enabled(3) of systemd.

use std::env;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

/// The environment variable with the path of the socket.
const SOCKET_VARIABLE: &str = "NOTIFY_SOCKET";
/// The variable with the interval within which the manager expects a heartbeat, in microseconds.
const WATCHDOG_VARIABLE: &str = "WATCHDOG_USEC";
/// The variable with the process id from which it expects heartbeats.
const WATCHDOG_PROCESS_VARIABLE: &str = "WATCHDOG_PID";

/// Sends messages to the service manager, if there is one.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    socket: Option<UnixDatagram>,
    /// True once the message was sent that the server stops, which is the last message.
    is_stopping: Mutex<bool>,
}

impl Notifier {
    /// The manager that the environment names; no messages are sent when it names none, or the socket cannot be
    /// reached.
    #[must_use]
    pub(crate) fn from_environment() -> Notifier {
        let Some(name) = env::var_os(SOCKET_VARIABLE).filter(|name| !name.is_empty()) else {
            return Notifier::default();
        };
        match connect(&name.into_vec()) {
            Ok(socket) => Notifier { socket: Some(socket), ..Notifier::default() },
            Err(error) => {
                tracing::warn!(%error, "the service manager's socket cannot be used: it gets no notifications");
                Notifier::default()
            }
        }
    }

    /// A manager at the other end of this socket.
    #[cfg(test)]
    pub(super) fn connected(socket: UnixDatagram) -> Notifier {
        Notifier { socket: Some(socket), ..Notifier::default() }
    }

    /// Reports that the server takes calls from now on.
    pub(crate) fn ready(&self) {
        self.send_unless_stopping("READY=1\nSTATUS=serving");
    }

    /// Reports that the server takes no more calls. No message follows it: after it the manager expects no heartbeats
    /// until the process has ended, and a further one would make it expect more.
    pub(crate) fn stopping(&self) {
        let mut is_stopping = self.lock();
        if !std::mem::replace(&mut *is_stopping, true) {
            self.send("STOPPING=1\nSTATUS=stopping");
        }
    }

    /// True once [`Notifier::stopping`] was called.
    #[must_use]
    pub(crate) fn is_stopping(&self) -> bool {
        *self.lock()
    }

    /// Sends a heartbeat.
    pub(crate) fn alive(&self) {
        self.send_unless_stopping("WATCHDOG=1\nSTATUS=serving");
    }

    /// Sends the status that the manager shows to people. It must not contain control characters.
    pub(crate) fn status(&self, text: &str) {
        self.send_unless_stopping(&format!("STATUS={text}"));
    }

    fn send_unless_stopping(&self, message: &str) {
        let is_stopping = self.lock(); // Locked during the send, so that no message follows the last one.
        if !*is_stopping {
            self.send(message);
        }
    }

    fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        if let Err(error) = socket.send(message.as_bytes()) {
            tracing::warn!(%error, "the service manager could not be notified");
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_stopping.lock()
    }
}

/// The interval within which the manager expects heartbeats of this process; None when it expects none.
#[must_use]
pub(super) fn watchdog_interval() -> Option<Duration> {
    let number = |variable| env::var(variable).ok().and_then(|text: String| text.parse::<u64>().ok());
    let is_meant = env::var_os(WATCHDOG_PROCESS_VARIABLE).is_none()
        || number(WATCHDOG_PROCESS_VARIABLE) == Some(u64::from(std::process::id()));
    number(WATCHDOG_VARIABLE).filter(|&micros| is_meant && micros > 0).map(Duration::from_micros)
}

/// A name that begins with `@` is in the abstract namespace; any other is a path.
fn connect(name: &[u8]) -> io::Result<UnixDatagram> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(Path::new(std::ffi::OsStr::from_bytes(name)))?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(name: &[u8], listening: &UnixDatagram) -> String {
        let notifier = Notifier::connected(connect(name).unwrap_or_else(|error| panic!("{error}")));
        notifier.ready();
        let mut bytes = [0; 200];
        let length = listening.recv(&mut bytes).unwrap_or_else(|error| panic!("{error}"));
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[test]
    fn a_socket_is_found_by_its_path_and_by_its_abstract_name() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let path = directory.path().join("notify");
        let by_path = UnixDatagram::bind(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(received(path.as_os_str().as_bytes(), &by_path), "READY=1\nSTATUS=serving");
        let name = format!("till-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap_or_else(|error| panic!("{error}"));
        let by_name = UnixDatagram::bind_addr(&address).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(received(format!("@{name}").as_bytes(), &by_name), "READY=1\nSTATUS=serving");
    }

    #[test]
    fn that_the_server_stops_is_said_once_and_nothing_behind_it() {
        let (ours, theirs) = UnixDatagram::pair().unwrap_or_else(|error| panic!("{error}"));
        let notifier = Notifier::connected(ours);
        assert!(!notifier.is_stopping());
        notifier.stopping();
        notifier.alive();
        notifier.status("serving");
        notifier.stopping();
        assert!(notifier.is_stopping() && theirs.set_nonblocking(true).is_ok());
        assert_eq!(theirs.recv(&mut [0; 200]).ok(), Some("STOPPING=1\nSTATUS=stopping".len()));
        assert!(theirs.recv(&mut [0; 200]).is_err());
    }

    #[test]
    fn a_missing_receiver_of_notifications_is_no_error() {
        assert!(connect(b"/nonexistent/notify").is_err());
        Notifier::default().ready();
    }
}
