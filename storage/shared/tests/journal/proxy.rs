//! A proxy before the database, which can lose what it is given.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
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
}

/// A proxy on a port of its own.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// The treatment of each connection. A new one is passed on, until the next change.
    treatments: Arc<parking_lot::Mutex<Vec<Arc<AtomicU8>>>>,
}

impl Proxy {
    pub(crate) fn before(database_port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let treatments: Arc<parking_lot::Mutex<Vec<Arc<AtomicU8>>>> = Arc::default();
        let open = Arc::clone(&treatments);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(database) = TcpStream::connect(("127.0.0.1", database_port)) else { continue };
                let treatment = Arc::new(AtomicU8::new(Treatment::Pass as u8));
                open.lock().push(Arc::clone(&treatment));
                pass(&client, &database, &treatment, Treatment::Dark);
                pass(&database, &client, &treatment, Treatment::Swallow);
            }
        });
        Proxy { port, treatments }
    }

    /// From now on the connections that are open are treated so.
    pub(crate) fn treat_open(&self, treatment: Treatment) {
        for open in self.treatments.lock().iter() {
            open.store(treatment as u8, Ordering::SeqCst);
        }
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
            if now < swallows as u8 && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _closed_already = to.shutdown(Shutdown::Both);
        let _closed_already = from.shutdown(Shutdown::Both);
    });
}
