//! A dispatcher behind a socket.

use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::body::BoxBody;
use actix_http::error::DispatchError;
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{ServiceFactory, ServiceFactoryExt, fn_service};
use actix_tls::accept::rustls_0_23::{Acceptor, TlsStream};
use actix_tls::accept::{TlsError, max_concurrent_tls_connect};
use actix_web::rt::net::TcpStream;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpSocket;

use super::dispatch::{Caller, CompletedSocket, Connections, Dispatcher, Entrance, OverTcp, PacedSocket, SLICE_BYTES};
use super::serving::ServingFactory;
use crate::supervision::Pulse;

/// How long a request's head may take to arrive.
pub(super) const HEAD_ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// Handshakes at once on each thread. As many as there are connections: a lower number would let slow ones keep others
/// out, and it is one for the whole process, whichever listener says it last.
const HANDSHAKES_MAX: usize = usize::MAX;

/// How long a refused caller may go on sending its body, so that it reads the answer before the connection ends.
pub(super) const LINGER_MAX: Duration = Duration::from_secs(5);

/// How long a stopping server waits for the calls it is working on, in seconds.
const DRAIN_SECONDS_MAX: u64 = 30;

/// How long a caller may take to agree on keys. Until then it holds a connection and nothing else.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);

/// Connections that wait in the system's queue until they are accepted.
const WAITING_MAX: u32 = 1024;

/// Why a connection below TLS ended.
type TlsFailure = TlsError<io::Error, DispatchError>;

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

/// An address that is this process's own, where nobody can connect yet.
pub struct ReservedAddress(TcpSocket);

impl ReservedAddress {
    /// Reserves an address.
    ///
    /// # Errors
    /// When it is taken, is not this machine's, or may not be used by this user.
    pub fn reserve(address: SocketAddr) -> io::Result<ReservedAddress> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
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

/// What every connection of a listener is served with.
struct Serve<C> {
    dispatcher: Arc<Dispatcher<C>>,
    connections: Arc<Connections>,
    entrance: Entrance,
    idle_max: Duration,
    pulse: Option<Arc<Pulse>>,
    stopping: GracefulShutdownSignal,
}

impl Listener {
    /// Binds the address of the settings and prepares the server, as [`Listener::listen`] does.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind<C: Caller>(dispatcher: Arc<Dispatcher<C>>, settings: &ListenerSettings) -> io::Result<Listener> {
        Listener::listen(ReservedAddress::reserve(settings.address)?, dispatcher, settings)
    }

    /// Takes connections at a reserved address from now on, and prepares the server. Signals are left to the caller. To
    /// be called where tasks run.
    ///
    /// # Errors
    /// When another process took the same address at the same moment.
    pub fn listen<C: Caller>(
        reserved: ReservedAddress,
        dispatcher: Arc<Dispatcher<C>>,
        settings: &ListenerSettings,
    ) -> io::Result<Listener> {
        let workers = settings.workers.max(1);
        let socket = reserved.0.listen(WAITING_MAX)?.into_std()?;
        let address = socket.local_addr()?;
        let server = Server::build()
            .workers(workers)
            .max_concurrent_connections(settings.connections_max.div_ceil(workers))
            .shutdown_timeout(DRAIN_SECONDS_MAX)
            .disable_signals();
        let serve = Arc::new(Serve {
            dispatcher,
            // A connection that the web server has not ended by itself by then is neither idle nor used.
            connections: Arc::new(Connections::watch(settings.idle_max + HEAD_ARRIVAL_MAX)?),
            entrance: Entrance { is_secure: settings.tls.is_some(), host: address.to_string() },
            idle_max: settings.idle_max,
            pulse: settings.pulse.clone(),
            stopping: server.graceful_shutdown_signal(),
        });
        let server = match settings.tls.clone() {
            Some(tls) => {
                max_concurrent_tls_connect(HANDSHAKES_MAX);
                server.listen("till", socket, move || serve.below_tls(tls.clone()))?
            }
            None => server.listen("till", socket, move || serve.plain())?,
        };
        Ok(Listener { server: server.run(), address })
    }
}

impl<C: Caller> Serve<C> {
    fn plain(
        &self,
    ) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<C>
    {
        fn_service(|socket| ready(Ok(accepted(socket)))).and_then(self.http())
    }

    fn below_tls(
        &self,
        mut tls: ServerConfig,
    ) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = TlsFailure, InitError = ()> + use<C> {
        tls.alpn_protocols.insert(0, b"http/1.1".to_vec());
        let mut handshake = Acceptor::new(tls);
        handshake.set_handshake_timeout(HANDSHAKE_MAX);
        let handshake = handshake.map_err(TlsError::into_service_error).map(accepted::<TlsStream<TcpStream>>);
        handshake.and_then(self.http().map_err(TlsError::Service))
    }

    fn http<S: OverTcp + AsyncRead + AsyncWrite + Unpin + 'static>(
        &self,
    ) -> impl ServiceFactory<
        (PacedSocket<S>, Option<SocketAddr>),
        Config = (),
        Response = (),
        Error = DispatchError,
        InitError = (),
    > + use<C, S> {
        self.pulse.iter().for_each(|pulse| pulse.beat_here());
        let (stopping, connections) = (self.stopping.clone(), Arc::clone(&self.connections));
        let stopping = move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        };
        HttpService::<PacedSocket<S>, ServingFactory<C>, BoxBody>::build()
            .graceful_shutdown_signal(stopping)
            .client_request_timeout(HEAD_ARRIVAL_MAX)
            .client_disconnect_timeout(LINGER_MAX)
            .keep_alive(self.idle_max)
            .h1_write_buffer_size(SLICE_BYTES)
            .on_connect_ext(move |socket: &PacedSocket<S>, data| connections.open(socket, data))
            .h1(ServingFactory { dispatcher: Arc::clone(&self.dispatcher), entrance: self.entrance.clone() })
    }
}

/// A connection and who is at its other end.
fn accepted<S: OverTcp>(socket: S) -> (PacedSocket<CompletedSocket<S>>, Option<SocketAddr>) {
    let _as_it_was = socket.tcp().set_nodelay(true); // Else an answer's second slice waits until the first is acknowledged.
    let peer = socket.tcp().peer_addr().ok();
    (PacedSocket::new(CompletedSocket::new(socket)), peer)
}
