//! Messages to the service manager: a test in the place of systemd with a datagram socket.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{PATIENCE, Server, Start, Wire, temporary};

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
            let is_it = message.lines().any(|printed| printed == line);
            self.heard.push(message);
            if is_it {
                return;
            }
        }
    }

    /// Listens for this time, and collects all messages.
    fn listen_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.socket.set_read_timeout(Some(left)).expect("a time limit can be set");
            let mut bytes = [0; 4096];
            let Ok(length) = self.socket.recv(&mut bytes) else { continue };
            self.heard.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
        }
    }

    fn printed(&self, line: &str) -> usize {
        self.heard.iter().flat_map(|message| message.lines()).filter(|printed| *printed == line).count()
    }
}

fn watched(name: &str) -> Start {
    Start::default().with("NOTIFY_SOCKET", name).with("WATCHDOG_USEC", "2000000")
}

#[test]
fn the_manager_hears_of_readiness_heartbeats_and_the_stop() {
    let (_directory, [path]) = temporary(["notify"]);
    let mut manager = Manager::new(UnixDatagram::bind(&path).expect("a socket can be bound"));
    let mut server = watched(&path.display().to_string()).server();
    manager.hear("READY=1");
    assert_eq!(manager.heard.first().map(String::as_str), Some("STATUS=starting"), "{:?}", manager.heard);
    assert_eq!(manager.printed("WATCHDOG=1"), 0, "nobody says that it lives before it is ready");
    let began = Instant::now();
    for _ in 0..3 {
        manager.hear("WATCHDOG=1");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "some three seconds, and a busy machine");
    server.shop().pay(100);
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!((manager.printed("READY=1"), manager.printed("STATUS=stopping")), (1, 1), "{:?}", manager.heard);
}

#[test]
fn after_stopping_no_heartbeat_and_no_new_caller() {
    let (_directory, [path, log]) = temporary(["notify", "log"]);
    let mut manager = Manager::new(UnixDatagram::bind(&path).expect("a socket can be bound"));
    let mut server = watched(&path.display().to_string()).recording(&log).server();
    manager.hear("WATCHDOG=1");
    let calls = Wire::to(&server);
    let mut held = calls.connect();
    // A call without its body yet, for which the stop waits.
    let head = "POST /sdk/check-status HTTP/1.1\r\nHost: till\r\nContent-Type: application/json\r\n";
    write!(held, "{head}Content-Length: 2\r\n\r\n").expect("the server listens");
    thread::sleep(Duration::from_millis(200));
    server.signal("TERM");
    manager.hear("STOPPING=1");
    let before = manager.heard.len();
    manager.listen_for(Duration::from_secs(4));
    assert!(manager.heard[before..].is_empty(), "{:?}", manager.heard);
    assert!(server.ended().is_none(), "it waits for the call");
    let admin = server.admin_address().trim_start_matches("http://").to_owned();
    assert!(TcpStream::connect(admin).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused));
    drop(held);
    assert!(server.ended_by_itself(PATIENCE));
    assert_eq!(server.ended().and_then(|status| status.code()), Some(0));
    manager.listen_for(Duration::from_millis(100));
    assert!(manager.heard[before..].is_empty(), "{:?}", manager.heard);
    let log = std::fs::read_to_string(log).expect("the log is kept");
    assert!(!log.contains("does not answer"), "{log}");
}

#[test]
fn an_abstract_socket_works_and_without_watchdog_no_beats() {
    let name = format!("till-supervision-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let mut manager = Manager::new(UnixDatagram::bind_addr(&address).expect("a socket can be bound"));
    let mut server = Start::default().with("NOTIFY_SOCKET", &format!("@{name}")).server();
    manager.hear("READY=1");
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!(manager.printed("WATCHDOG=1"), 0);
}

#[test]
fn a_server_with_an_unreachable_manager_serves() {
    let server = watched("/nonexistent/notify").server();
    server.shop().pay(100);
}

#[test]
fn a_child_of_the_watched_process_sends_no_heartbeats() {
    let (_directory, [path]) = temporary(["notify"]);
    let mut manager = Manager::new(UnixDatagram::bind(&path).expect("a socket can be bound"));
    let mut server: Server = watched(&path.display().to_string()).with("WATCHDOG_PID", "1").server();
    manager.hear("READY=1");
    assert!(server.stop(), "exit code 0");
    manager.hear("STOPPING=1");
    assert_eq!(manager.printed("WATCHDOG=1"), 0);
}

/// The comment directly before a line of the unit.
fn reason(unit: &str, line: &str) -> String {
    let lines: Vec<&str> = unit.lines().collect();
    let at = lines.iter().position(|found| *found == line).unwrap_or_else(|| panic!("the unit has no {line}"));
    let comment = lines[..at].iter().rev().take_while(|line| line.starts_with('#'));
    comment.copied().collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_unit_yields_for_checkpoints_and_keeps_every_line() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/systemd/till.service");
    let unit = std::fs::read_to_string(unit).expect("it is there");
    assert!(reason(&unit, "SystemCallFilter=setpriority").contains("heckpoint"));
    assert!(reason(&unit, "LogRateLimitIntervalSec=0").contains("journal"));
    let at = |line: &str| unit.lines().position(|found| found == line);
    let forbidden = at("SystemCallFilter=~@privileged @resources");
    assert!(forbidden.is_some() && at("SystemCallFilter=setpriority") > forbidden, "the later line counts");
}
