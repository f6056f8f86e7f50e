//! Connections on which nothing goes on: a request whose head never ends, an answer that is not fetched. The web
//! server watches a connection before its first request and between two requests; this watches all of it.

use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use std::{io, thread};

use actix_http::Request;
use actix_tls::accept::rustls_0_23::TlsStream;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream as Socket;
use parking_lot::{Mutex, MutexGuard};

use super::pace::PacedSocket;

/// How often connections are looked at, within the time that they may be still.
const LOOKS: u32 = 4;

/// A connection as it was accepted, with or without TLS.
pub(crate) trait OverTcp {
    /// Its socket.
    fn tcp(&self) -> &Socket;
}

impl OverTcp for Socket {
    fn tcp(&self) -> &Socket {
        self
    }
}

impl OverTcp for TlsStream<Socket> {
    fn tcp(&self) -> &Socket {
        self.get_ref().0
    }
}

/// One connection. It goes with the web server's own.
pub(crate) struct Connection {
    /// A second handle of the socket, to end it by.
    socket: TcpStream,
    state: Mutex<Activity>,
}

#[derive(Debug, Clone, Copy)]
enum Activity {
    /// A request is being worked on.
    Busy,
    /// None has been since then.
    StillSince(Instant),
}

/// A request that is being worked on, until dropped.
pub(super) struct Busy(Arc<Connection>);

/// All connections of a listener. Dropping it ends the watch.
pub(crate) struct Connections {
    all: Arc<Mutex<Vec<Weak<Connection>>>>,
}

impl Connections {
    /// Watches connections: those on which no request has begun for `still_max`, while none is worked on, are ended.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn watch(still_max: Duration) -> io::Result<Connections> {
        let all: Arc<Mutex<Vec<Weak<Connection>>>> = Arc::default();
        let watched = Arc::downgrade(&all);
        let pause = (still_max / LOOKS).min(Duration::from_secs(5));
        thread::Builder::new().name("till-connections".to_owned()).spawn(move || {
            while let Some(all) = watched.upgrade() {
                end_still(&all, still_max, Instant::now());
                drop(all);
                thread::sleep(pause);
            }
        })?;
        Ok(Connections { all })
    }

    /// Takes a connection in; its requests find it in `data`.
    pub(crate) fn open<S: OverTcp>(&self, socket: &PacedSocket<S>, data: &mut Extensions) {
        data.insert(Rc::clone(socket.pace()));
        // Without a second handle the connection is not watched, as when there are too many open files.
        let Ok(socket) = socket.tcp().as_fd().try_clone_to_owned() else { return };
        let state = Mutex::new(Activity::StillSince(Instant::now()));
        let connection = Arc::new(Connection { socket: TcpStream::from(socket), state });
        locked(&self.all).push(Arc::downgrade(&connection));
        data.insert(connection);
    }
}

impl Connection {
    /// That of a request, where it is watched.
    pub(super) fn of(request: &Request) -> Option<&Arc<Connection>> {
        request.conn_data::<Arc<Connection>>()
    }

    /// A request has begun.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        *locked(&self.state) = Activity::Busy;
        Busy(Arc::clone(self))
    }

    fn end_if_still(&self, still_max: Duration, now: Instant) {
        let Activity::StillSince(since) = *locked(&self.state) else { return };
        if now.saturating_duration_since(since) >= still_max {
            let _gone = self.socket.shutdown(Shutdown::Both); // The other end may have ended it.
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *locked(&self.0.state) = Activity::StillSince(Instant::now());
    }
}

fn end_still(all: &Mutex<Vec<Weak<Connection>>>, still_max: Duration, now: Instant) {
    let open: Vec<Arc<Connection>> = {
        let mut all = locked(all);
        all.retain(|connection| connection.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).collect()
    };
    open.iter().for_each(|connection| connection.end_if_still(still_max, now));
}

/// Whole between any two steps, so a panic elsewhere has not broken it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}
