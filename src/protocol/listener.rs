//! A dispatcher behind a socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpServer;
use actix_web::dev::Server;
use rustls::ServerConfig;

use super::dispatch::{Caller, Connections, Dispatcher, SLICE_BYTES};
use super::serving::ServingFactory;
use crate::supervision::Pulse;

/// How long a request's head may take to arrive.
const HEAD_ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// Handshakes at once on each thread. As many as there are connections: a lower number would let slow ones keep others
/// out, and it is one for the whole process, whichever listener says it last.
const HANDSHAKES_MAX: usize = usize::MAX;

/// How long a refused caller may go on sending its body, so that it reads the answer before the connection ends.
const LINGER_MAX: Duration = Duration::from_secs(5);

/// How long a stopping server waits for the calls it is working on, in seconds.
const DRAIN_SECONDS_MAX: u64 = 30;

/// How long a caller may take to agree on keys. Until then it holds a connection and nothing else.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// Where and how to listen.
#[derive(Clone)]
pub struct ListenerSettings {
    /// The address; port 0 takes any free one.
    pub address: SocketAddr,
    /// Threads that take requests.
    pub workers: usize,
    /// Connections at once, over all workers.
    pub connections_max: usize,
    /// What it proves itself with; HTTP without TLS when absent.
    pub tls: Option<ServerConfig>,
    /// Where its threads show that they run, if anybody looks.
    pub pulse: Option<Arc<Pulse>>,
    /// How long a connection without a request is kept.
    pub idle_max: Duration,
}

/// A bound listener. It serves once `server` is awaited.
pub struct Listener {
    /// The server; its handle stops it.
    pub server: Server,
    /// The address that was bound.
    pub address: SocketAddr,
}

impl Listener {
    /// Binds the address, so that a taken one is known at once, and prepares the server. Signals are left to the
    /// caller.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind<C: Caller>(dispatcher: Arc<Dispatcher<C>>, settings: &ListenerSettings) -> io::Result<Listener> {
        let workers = settings.workers.max(1);
        let pulse = settings.pulse.clone();
        // A connection that the web server has not ended by itself by then is neither idle nor used.
        let connections = Connections::watch(settings.idle_max + HEAD_ARRIVAL_MAX)?;
        let server = HttpServer::new(move || {
            pulse.iter().for_each(|pulse| pulse.beat_here());
            ServingFactory(Arc::clone(&dispatcher))
        });
        let server = server
            .workers(workers)
            .max_connections(settings.connections_max.div_ceil(workers))
            .max_connection_rate(HANDSHAKES_MAX)
            .tls_handshake_timeout(HANDSHAKE_MAX)
            .client_request_timeout(HEAD_ARRIVAL_MAX)
            .client_disconnect_timeout(LINGER_MAX)
            .keep_alive(settings.idle_max)
            .h1_write_buffer_size(SLICE_BYTES)
            // An answer of several slices must not wait for the caller's system to acknowledge the first.
            .tcp_nodelay(true)
            .on_connect(move |socket, data| connections.open(socket, data))
            .shutdown_timeout(DRAIN_SECONDS_MAX)
            .disable_signals();
        let server = match &settings.tls {
            Some(tls) => server.bind_rustls_0_23(settings.address, tls.clone())?,
            None => server.bind(settings.address)?,
        };
        let address = server.addrs().first().copied().unwrap_or(settings.address);
        Ok(Listener { server: server.run(), address })
    }
}
