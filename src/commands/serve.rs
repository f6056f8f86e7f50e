//! `till serve`

use std::io::Write;
use std::sync::Arc;
use std::thread;

use actix_web::dev::ServerHandle;
use anyhow::Context;
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use till_actors::name_thread;
use till_protocol::connection::ConnectionLimits;
use till_protocol::transport::{Listener, ListenerSettings, connections_within};

use super::ExitCode;
use super::listening::PreparedListener;
use crate::configuration::{Configuration, LogFormat, Secrets, TlsFiles};
use crate::demo;
use crate::process::descriptors::{DescriptorShares, raise_limit};
use crate::process::logging;
use crate::process::owner_only::warn_of_open_directories;
use crate::process::small_pages::use_small_pages;
use crate::server_status::Observation;
use crate::service::Reloads;
use crate::startup::{Assembly, assemble, check_directory};
use crate::supervision::{Notifier, Watchdog};

/// Options of `till serve`.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct ServeArguments {
    /// Begin with a merchant, a key and an installation to try the server with, and print them
    #[arg(long)]
    pub demo: bool,
}

/// Threads of the admin listener: the operator's calls are few.
const ADMIN_THREADS: usize = 1;

/// Connections at once on the admin listener.
const ADMIN_CONNECTIONS_MAX: usize = 256;

/// The addresses of the public and of the operator's listener, and their settings.
type Listeners = ((PreparedListener, PreparedListener), (ListenerSettings, ListenerSettings));

/// Runs the server until SIGINT or SIGTERM. It then takes no new connections, finishes the calls in progress and closes
/// the data.
pub(super) fn serve(configuration: &Configuration, options: ServeArguments) -> anyhow::Result<()> {
    let log_format = logging::start(configuration)?;
    if let Err(error) = use_small_pages() {
        tracing::warn!(%error, "memory will be used in large pages, and more of it");
    }
    tell_settings(configuration, log_format);
    let descriptors = raise_limit()?;
    let notifier = Arc::new(Notifier::from_environment());
    notifier.status("starting");
    check_directory(configuration)?;
    let listeners = (PreparedListener::public(configuration)?, PreparedListener::admin(configuration)?);
    warn_of_open_directories(configuration);
    let secrets = Secrets::load_or_make(configuration)?;
    for file in &secrets.made {
        tracing::warn!(file = %file.display(), "a secret was generated; keep a copy of it");
    }
    let observation = Arc::new(Observation::start(&configuration.data));
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("failed to listen for signals")?;
    let system = actix_web::rt::System::new();
    let settings = (public_settings(configuration, descriptors), admin_settings(configuration, descriptors));
    let run = run(configuration, options, (listeners, settings), secrets, observation, signals, notifier);
    let (assembly, served) = system.block_on(run)?;
    // Outside of the system's future, since it waits for threads to end; but before the system ends, since these
    // threads belong to it.
    assembly.stop()?;
    served.context("failed to serve")
}

/// Logs the place of the data and the addresses, for machines also which settings have another value than the default.
/// Warns of an admin listener that other machines reach and whose token travels in clear text.
fn tell_settings(configuration: &Configuration, log_format: LogFormat) {
    let Configuration { data, listen, admin_listen, given, .. } = configuration;
    let (data, given) = (data.display(), (log_format == LogFormat::Json).then(|| given.join(", ")));
    tracing::info!(%data, %listen, %admin_listen, given, "starting with these settings; `till configuration` prints \
        all");
    if !admin_listen.ip().is_loopback() && configuration.admin_tls.is_none() {
        tracing::warn!(
            %admin_listen,
            "the admin listener can be reached from other machines, and has no TLS: the admin token travels in clear \
                text. Listen on 127.0.0.1, or set admin_tls_certificate_file and admin_tls_key_file"
        );
    }
}

/// The limits of the public listener's connections, within the sockets that are left for them.
fn public_limits(configuration: &Configuration, descriptors: DescriptorShares) -> ConnectionLimits {
    let limits = &configuration.limits;
    let (connections_max, in_all) = (limits.connections_max.get(), connections_within(descriptors.public_sockets));
    let mut per_address = limits.connections_per_address_max.get();
    if in_all < connections_max {
        let limit = descriptors.limit;
        tracing::warn!(
            limit,
            connections = in_all,
            connections_max,
            "fewer connections than connections_max are accepted, for want of file descriptors"
        );
        per_address = per_address.min(in_all.div_ceil(4));
    }
    ConnectionLimits {
        in_all: in_all.min(connections_max),
        per_address,
        proxies: configuration.proxies.networks.networks().to_vec(),
        idle_max: limits.idle_max,
    }
}

async fn run(
    configuration: &Configuration,
    options: ServeArguments,
    ((public, admin), (public_settings, admin_settings)): Listeners,
    secrets: Secrets,
    observation: Arc<Observation>,
    signals: Signals,
    notifier: Arc<Notifier>,
) -> anyhow::Result<(Assembly, std::io::Result<()>)> {
    let assembly = assemble(configuration, secrets, Arc::clone(&observation))?;
    let reloads = assembly.service().operations().map_or_else(Arc::default, |parts| Arc::clone(&parts.reloads));
    let watchdog = Watchdog::from_environment();
    let pulse = watchdog.as_ref().map(Watchdog::pulse);
    let public_settings =
        ListenerSettings { tls: public.server_config(&reloads), pulse: pulse.clone(), ..public_settings };
    let admin_settings = ListenerSettings { tls: admin.server_config(&reloads), pulse, ..admin_settings };
    let public = Listener::listen(public.address, Arc::clone(&assembly.public), &public_settings);
    let public = public.with_context(|| format!("failed to listen on {}", configuration.listen))?;
    let admin = Listener::listen(admin.address, Arc::clone(&assembly.admin), &admin_settings);
    let admin = admin.with_context(|| format!("failed to listen on {}", configuration.admin_listen))?;
    announce(configuration, &public, &admin);
    if options.demo {
        demo::prepare_and_print(assembly.service(), configuration, public.address).await?;
    }
    let servers = vec![public.server.handle(), admin.server.handle()];
    stop_on(signals, servers, Arc::clone(&observation), reloads, Arc::clone(&notifier));
    observation.set_ready();
    notifier.ready();
    let (service, store) = (Arc::downgrade(assembly.service()), Arc::downgrade(&assembly.store_statistics()));
    watchdog
        .map(|watchdog| watchdog.start(notifier, service, store))
        .transpose()
        .context("failed to start the watchdog")?;
    let (public, admin) = futures_util::future::join(public.server, admin.server).await;
    Ok((assembly, public.and(admin)))
}

fn public_settings(configuration: &Configuration, descriptors: DescriptorShares) -> ListenerSettings {
    ListenerSettings {
        name: "public",
        begin_thread: |number| name_thread("http", number),
        workers: configuration.http_threads.get(),
        connections: public_limits(configuration, descriptors),
        forwarded: configuration.proxies.forwarded.clone(),
        tls: None,
        pulse: None,
    }
}

fn admin_settings(configuration: &Configuration, descriptors: DescriptorShares) -> ListenerSettings {
    let connections = ADMIN_CONNECTIONS_MAX.min(connections_within(descriptors.admin_sockets));
    ListenerSettings {
        name: "admin",
        begin_thread: |number| name_thread("admin", number),
        workers: ADMIN_THREADS,
        connections: ConnectionLimits::in_all(connections, configuration.limits.idle_max),
        forwarded: None,
        tls: None,
        pulse: None,
    }
}

/// Logs the addresses of the listeners, and prints them on standard output too: with port 0 they are not known
/// otherwise.
fn announce(configuration: &Configuration, public: &Listener, admin: &Listener) {
    tracing::info!(public = %public.address, admin = %admin.address, "serving");
    let scheme = |tls: &Option<TlsFiles>| if tls.is_some() { "https" } else { "http" };
    let public = format!("{}://{}", scheme(&configuration.tls), public.address);
    let admin = format!("{}://{}", scheme(&configuration.admin_tls), admin.address);
    let text = format!("listening on {public}\nadmin listening on {admin}\n");
    let _ = std::io::stdout().write_all(text.as_bytes()); // The parent process may not be reading.
}

/// Reads files again on a thread of its own, so that a disk that hangs cannot keep the process from being stopped.
fn reload_beside(reloads: &Arc<Reloads>) {
    let reloads = Arc::clone(reloads);
    let reload = move || drop(reloads.carry_out());
    if let Err(error) = thread::Builder::new().name("till-reload".to_owned()).spawn(reload) {
        tracing::error!(%error, "the files were not read again: the system could not start a thread");
    }
}

/// Reads files again at each SIGHUP. At the first other signal it stops the servers and lets them finish the calls in
/// progress; at the second it ends the process.
fn stop_on(
    mut signals: Signals,
    servers: Vec<ServerHandle>,
    observation: Arc<Observation>,
    reloads: Arc<Reloads>,
    notifier: Arc<Notifier>,
) {
    let wait = move || {
        let mut is_stopping = false;
        for signal in signals.forever() {
            if signal == SIGHUP {
                reload_beside(&reloads);
            } else if is_stopping {
                ExitCode::FAILURE.end_process();
            } else {
                is_stopping = true;
                tracing::info!(signal, "stopping");
                notifier.stopping();
                observation.set_not_ready("stopping");
                servers.iter().for_each(|server| drop(server.stop(true)));
            }
        }
    };
    thread::Builder::new().name("till-signals".to_owned()).spawn(wait).expect("a thread can be started at start");
}
