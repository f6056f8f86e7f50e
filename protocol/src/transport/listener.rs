//! Serves a dispatcher on a socket.
//!
//! actix-web's own server accepts only its own socket type, and decodes everything that has arrived on a connection. So
//! this module serves its application on a socket of our own, in the same way as that server does.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_http::body::BoxBody;
use actix_http::error::DispatchError;
use actix_http::{HttpService, KeepAlive};
use actix_service::{ServiceFactory, ServiceFactoryExt, map_config};
use actix_web::App;
use actix_web::dev::{AppConfig, Payload, Server, ServiceRequest, ServiceResponse, fn_service};
use actix_web::rt::net::TcpStream;
use futures_util::FutureExt;
use rustls::ServerConfig;
use tokio::net::TcpSocket;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::pulse::Pulse;
use super::send_bounds::{self, STALLED_MAX};
use super::socket::{DISCONNECT_TIMEOUT, Socket, Transport, send_last};
use crate::connection::{ConnectionLimits, ConnectionTable, ForwardedHeader, OpenConnection};
use crate::dispatch::{
    AuthenticatedCaller, Dispatcher, Entrance, HEAD_ARRIVAL_MAX, SLICE_BYTES, answer_to_refused_connection,
};

/// Seconds for which a stopping server waits for the calls in progress.
const DRAIN_SECONDS_MAX: u64 = 30;

/// The time limit for a TLS handshake. Until its end the caller holds a connection and nothing else.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// The limit of connections in the system's queue that are not accepted yet.
const WAITING_MAX: u32 = 1024;

/// The limit of refused connections that are answered at the same time. Further ones are closed without an answer.
const REFUSALS_MAX: usize = 64;

/// The settings of a listener.
#[derive(Clone)]
pub struct ListenerSettings {
    /// The listener's name in metrics.
    pub name: &'static str,
    /// Called at the beginning of each of its threads, with its number.
    pub begin_thread: fn(usize),
    /// Threads that take requests.
    pub workers: usize,
    /// The limits of its connections.
    pub connections: ConnectionLimits,
    /// The header in which proxies name the address of a caller; no header is trusted when absent.
    pub forwarded: Option<ForwardedHeader>,
    /// Its certificates and keys; HTTP without TLS when absent.
    pub tls: Option<ServerConfig>,
    /// The watchdog's record of the threads that run; None without a watchdog.
    pub pulse: Option<Arc<Pulse>>,
}

/// A bound address that does not accept connections yet.
pub struct ReservedAddress(TcpSocket);

impl ReservedAddress {
    /// Reserves an address; port 0 stands for any free one.
    ///
    /// # Errors
    /// Fails when it is in use, does not belong to this machine, or is not permitted to this user.
    pub fn reserve(address: SocketAddr) -> io::Result<ReservedAddress> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        send_bounds::set(&socket, STALLED_MAX)?;
        socket.bind(address)?;
        Ok(ReservedAddress(socket))
    }
}

/// A bound listener. It serves once `server` is awaited.
pub struct Listener {
    /// The server; its handle stops it.
    pub server: Server,
    /// The address that was bound.
    pub address: SocketAddr,
}

/// The parts that serve every connection of a listener.
struct Serve<C> {
    dispatcher: Arc<Dispatcher<C>>,
    entrance: Entrance,
    table: Arc<ConnectionTable>,
    refusals: Semaphore,
    tls: Option<TlsAcceptor>,
    pulse: Option<Arc<Pulse>>,
    begin_thread: fn(usize),
    threads_started: AtomicUsize,
}

impl Listener {
    /// Accepts connections at a reserved address from now on, and prepares the server. Signals are left to the caller.
    /// It must be called where tasks can be spawned.
    ///
    /// # Errors
    /// Fails when another process has bound the same address in the meantime.
    pub fn listen<C: AuthenticatedCaller>(
        reserved: ReservedAddress,
        dispatcher: Arc<Dispatcher<C>>,
        settings: &ListenerSettings,
    ) -> io::Result<Listener> {
        let (workers, limits) = (settings.workers.max(1), &settings.connections);
        let socket = reserved.0.listen(WAITING_MAX)?.into_std()?;
        let address = socket.local_addr()?;
        let server = Server::build()
            .workers(workers)
            .max_concurrent_connections(sockets_of(limits.in_all).div_ceil(workers))
            .shutdown_timeout(DRAIN_SECONDS_MAX)
            .disable_signals();
        let (is_secure, forwarded) = (settings.tls.is_some(), settings.forwarded.clone());
        let table = Arc::new(ConnectionTable::new(limits.clone(), settings.name, dispatcher.counters()));
        let serve = Arc::new(Serve {
            dispatcher,
            entrance: Entrance { is_secure, host: address.to_string(), forwarded },
            table,
            refusals: Semaphore::new(REFUSALS_MAX),
            tls: settings.tls.clone().map(acceptor),
            pulse: settings.pulse.clone(),
            begin_thread: settings.begin_thread,
            threads_started: AtomicUsize::new(0),
        });
        let stopping = server.graceful_shutdown_signal();
        let stopping = move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        };
        let server = server.listen("till", socket, move || Arc::clone(&serve).connections(stopping.clone()))?;
        Ok(Listener { server: server.run(), address })
    }
}

/// The sockets of a listener with this limit of connections: as many, a quarter more for bursts of connections that
/// arrive faster than they are examined or ended, and those that are refused.
const fn sockets_of(connections: usize) -> usize {
    connections.saturating_add(connections.div_ceil(4)).saturating_add(REFUSALS_MAX)
}

/// The limit of connections for which this number of sockets suffices; at least one.
pub fn connections_within(sockets: u64) -> usize {
    let sockets = usize::try_from(sockets).unwrap_or(usize::MAX);
    (sockets.saturating_sub(REFUSALS_MAX) / 5 * 4).max(1)
}

fn acceptor(mut tls: ServerConfig) -> TlsAcceptor {
    tls.alpn_protocols.insert(0, b"http/1.1".to_vec());
    TlsAcceptor::from(Arc::new(tls))
}

impl<C: AuthenticatedCaller> Serve<C> {
    /// Serves connections on one thread.
    fn connections<S: Future<Output = ()> + 'static>(
        self: Arc<Self>,
        stopping: impl Fn() -> S + 'static,
    ) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> {
        (self.begin_thread)(self.threads_started.fetch_add(1, Ordering::Relaxed));
        self.pulse.iter().for_each(|pulse| pulse.beat_here());
        let serve = Arc::clone(&self);
        let accept = move |tcp| {
            let serve = Arc::clone(&serve);
            async move { serve.accept(tcp).await.map_err(DispatchError::Io) }
        };
        let app = App::new().default_service(fn_service(move |request| Arc::clone(&self).serve(request)));
        let http = HttpService::<Socket, _, BoxBody>::build()
            .graceful_shutdown_signal(stopping)
            .client_request_timeout(HEAD_ARRIVAL_MAX)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .keep_alive(KeepAlive::Os) // The socket ends idle connections by itself.
            .h1_write_buffer_size(SLICE_BYTES)
            .on_connect_ext(|socket: &Socket, data| drop(data.insert(Rc::clone(&socket.connection))))
            .h1(map_config(app, |()| AppConfig::default()));
        fn_service(accept).and_then(http)
    }

    /// Passes a request to the dispatcher.
    async fn serve(self: Arc<Self>, request: ServiceRequest) -> Result<ServiceResponse, actix_web::Error> {
        let (request, payload) = request.into_parts();
        let response = self.dispatcher.handle(&request, payload, &self.entrance).await;
        let mut answered = ServiceRequest::from_parts(request, Payload::None);
        // The web server reuses the request, and would keep the headers' whole buffer.
        answered.head_mut().headers.clear();
        Ok(answered.into_response(response))
    }

    /// Admits a connection, and performs the TLS handshake. The connection counts from the beginning.
    async fn accept(&self, tcp: TcpStream) -> io::Result<(Socket, Option<SocketAddr>)> {
        let peer = tcp.peer_addr()?;
        tcp.set_nodelay(true)?; // Otherwise an answer's second slice waits until the first is acknowledged.
        let Some(connection) = OpenConnection::admit(&self.table, peer.ip()) else {
            self.refuse(tcp).boxed_local().await;
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        let transport: Box<dyn Transport> = match &self.tls {
            None => Box::new(tcp),
            // In a box, since the task would otherwise keep memory for the handshake as long as the connection lasts.
            Some(tls) => Box::new(agreed(tls.accept(tcp), &connection).boxed_local().await?),
        };
        Ok((Socket::new(transport, Rc::new(connection)), Some(peer)))
    }

    /// Answers a caller without TLS that there are too many connections, unless too many callers are being answered so.
    async fn refuse(&self, tcp: TcpStream) {
        if let (None, Ok(_permit)) = (&self.tls, self.refusals.try_acquire()) {
            send_last(tcp, &answer_to_refused_connection(self.table.counters())).await;
        }
    }
}

/// The connection after the handshake, unless that takes too long or the connection is evicted.
async fn agreed<T>(handshake: impl Future<Output = io::Result<T>>, connection: &OpenConnection) -> io::Result<T> {
    tokio::select! {
        agreed = timeout(HANDSHAKE_MAX, handshake) => agreed?,
        () = poll_fn(|context| connection.eviction.poll(context)) => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}
