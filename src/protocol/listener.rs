//! A dispatcher behind a socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpRequest, HttpServer, web};

use super::dispatch::{Caller, Dispatcher};

/// How long a request's head may take to arrive.
const HEAD_ARRIVAL_MAX: Duration = Duration::from_secs(10);

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long a refused caller may go on sending its body, so that it reads the answer before the connection ends.
const LINGER_MAX: Duration = Duration::from_secs(5);

/// How long a stopping server waits for the calls it is working on, in seconds.
const DRAIN_SECONDS_MAX: u64 = 30;

/// Where and how to listen.
#[derive(Debug, Clone, Copy)]
pub struct ListenerSettings {
    /// The address; port 0 takes any free one.
    pub address: SocketAddr,
    /// Threads that take requests.
    pub workers: usize,
    /// Connections at once, over all workers.
    pub connections_max: usize,
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
        let server = HttpServer::new(move || {
            let dispatcher = Arc::clone(&dispatcher);
            App::new().default_service(web::to(move |request: HttpRequest, payload: web::Payload| {
                let dispatcher = Arc::clone(&dispatcher);
                async move { dispatcher.handle(request, payload).await }
            }))
        });
        let server = server
            .workers(workers)
            .max_connections(settings.connections_max.div_ceil(workers))
            .client_request_timeout(HEAD_ARRIVAL_MAX)
            .client_disconnect_timeout(LINGER_MAX)
            .keep_alive(KEEP_ALIVE)
            .shutdown_timeout(DRAIN_SECONDS_MAX)
            .disable_signals()
            .bind(settings.address)?;
        let address = server.addrs().first().copied().unwrap_or(settings.address);
        Ok(Listener { server: server.run(), address })
    }
}
