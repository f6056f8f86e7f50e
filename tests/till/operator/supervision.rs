//! The service manager's side: a test that plays systemd with a datagram socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::harness::{Server, Start};

/// How long the manager waits for a word before the test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service manager that listens.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(socket: UnixDatagram) -> Manager {
        socket.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
        Manager { socket, heard: Vec::new() }
    }

    /// Listens until a message has this line.
    fn hear(&mut self, line: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < until, "{line} was not said, but {:?}", self.heard);
            let mut bytes = [0; 4096];
            let length =
                self.socket.recv(&mut bytes).unwrap_or_else(|error| panic!("{line}: {error}: {:?}", self.heard));
            let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
            let is_it = message.lines().any(|said| said == line);
            self.heard.push(message);
            if is_it {
                return;
            }
        }
    }

    fn said(&self, line: &str) -> usize {
        self.heard.iter().flat_map(|message| message.lines()).filter(|said| *said == line).count()
    }
}

fn watched(name: &str) -> Start {
    Start::default().with("NOTIFY_SOCKET", name).with("WATCHDOG_USEC", "2000000")
}

#[test]
fn the_manager_hears_that_the_server_is_ready_that_it_lives_and_that_it_stops() {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let path = directory.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).expect("a socket can be bound"));
    let mut server = watched(&path.display().to_string()).server();
    manager.hear("READY=1");
    assert_eq!(manager.heard.first().map(String::as_str), Some("STATUS=starting"), "{:?}", manager.heard);
    assert_eq!(manager.said("WATCHDOG=1"), 0, "nobody says that it lives before it is ready");
    let began = Instant::now();
    for _ in 0..3 {
        manager.hear("WATCHDOG=1");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "some three seconds, and a busy machine");
    server.shop().pay(100);
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!((manager.said("READY=1"), manager.said("STATUS=stopping")), (1, 1), "{:?}", manager.heard);
}

#[test]
fn a_manager_in_the_abstract_name_space_is_told_too_and_one_without_watchdog_hears_no_beats() {
    let name = format!("till-supervision-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let mut manager = Manager::new(UnixDatagram::bind_addr(&address).expect("a socket can be bound"));
    let mut server = Start::default().with("NOTIFY_SOCKET", &format!("@{name}")).server();
    manager.hear("READY=1");
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!(manager.said("WATCHDOG=1"), 0);
}

#[test]
fn a_server_whose_manager_cannot_be_reached_serves_all_the_same() {
    let server = watched("/nonexistent/notify").server();
    server.shop().pay(100);
}

#[test]
fn a_process_that_was_started_by_the_watched_one_does_not_beat_for_it() {
    let directory = TempDir::new().expect("a temporary directory can be made");
    let path = directory.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).expect("a socket can be bound"));
    let mut server: Server = watched(&path.display().to_string()).with("WATCHDOG_PID", "1").server();
    manager.hear("READY=1");
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!(manager.said("WATCHDOG=1"), 0);
}
