//! A proxy before the database, which can lose what it is given.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// The treatment of the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Treatment {
    /// It passes them on.
    Pass = 0,
    /// It passes on what the client says, and swallows the answers.
    Swallow = 1,
    /// It swallows everything.
    Dark = 2,
    /// It closes them.
    Reset = 3,
    /// It passes on what the client says, swallows the answer, and says that the server has panicked, as one does whose
    /// disk fails after it has written a commit.
    Panic = 4,
}

/// The message of a server that panics (PostgreSQL, "Message Formats", `ErrorResponse`).
const PANIC: &[u8] = b"E\0\0\0\x34SPANIC\0VPANIC\0C58030\0Mcould not fdatasync file\0\0";

/// A proxy on a port of its own.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// The treatment of each connection.
    treatments: Arc<Mutex<Vec<Arc<AtomicU8>>>>,
    /// The treatment of a new one, until the next change.
    of_new: Arc<AtomicU8>,
    database_port: Arc<AtomicU16>,
}

impl Proxy {
    pub(crate) fn before(database_port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let treatments: Arc<Mutex<Vec<Arc<AtomicU8>>>> = Arc::default();
        let (database_port, of_new) = (Arc::new(AtomicU16::new(database_port)), Arc::new(AtomicU8::new(0)));
        let (open, before, begins) = (Arc::clone(&treatments), Arc::clone(&database_port), Arc::clone(&of_new));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let port = before.load(Ordering::SeqCst);
                let Ok(database) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                let treatment = Arc::new(AtomicU8::new(begins.load(Ordering::SeqCst)));
                open.lock().expect("no panic").push(Arc::clone(&treatment));
                pass(&client, &database, &treatment, Treatment::Dark);
                pass(&database, &client, &treatment, Treatment::Swallow);
            }
        });
        Proxy { port, treatments, of_new, database_port }
    }

    /// From now on new connections lead to another database.
    pub(crate) fn lead_to(&self, database_port: u16) {
        self.database_port.store(database_port, Ordering::SeqCst);
    }

    /// From now on the connections that are open are treated so.
    pub(crate) fn treat_open(&self, treatment: Treatment) {
        for open in self.treatments.lock().expect("no panic").iter() {
            open.store(treatment as u8, Ordering::SeqCst);
        }
    }

    /// From now on new connections are treated so.
    pub(crate) fn treat_new(&self, treatment: Treatment) {
        self.of_new.store(treatment as u8, Ordering::SeqCst);
    }
}

/// Passes bytes on in one direction until the treatment is at least `swallows`.
fn pass(from: &TcpStream, to: &TcpStream, treatment: &Arc<AtomicU8>, swallows: Treatment) {
    let (mut from, mut to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
    let treatment = Arc::clone(treatment);
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let now = treatment.load(Ordering::SeqCst);
            if now == Treatment::Reset as u8 {
                break;
            }
            let panics = now == Treatment::Panic as u8;
            if panics && swallows == Treatment::Swallow {
                let _closed_already = to.write_all(PANIC);
                break;
            }
            if (panics || now < swallows as u8) && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _closed_already = to.shutdown(Shutdown::Both);
        let _closed_already = from.shutdown(Shutdown::Both);
    });
}
