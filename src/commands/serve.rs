//! `till serve`

use std::io::Write;
use std::sync::Arc;
use std::thread;

use actix_web::dev::ServerHandle;
use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::ServeArguments;
use crate::assembly::{Assembly, assemble};
use crate::bootstrap::check_directory;
use crate::configuration::{Configuration, Secrets};
use crate::demo;
use crate::logging;
use crate::observation::Observation;
use crate::protocol::listener::{Listener, ListenerSettings};

/// Threads of the admin listener: the operator's calls are few.
const ADMIN_THREADS: usize = 1;

/// Connections at once on the admin listener.
const ADMIN_CONNECTIONS_MAX: usize = 256;

/// Runs the server until it is told to stop (SIGINT or SIGTERM): it takes no new connections then, finishes the
/// calls it is working on and closes the data.
pub(super) fn serve(configuration: &Configuration, options: ServeArguments) -> anyhow::Result<()> {
    logging::start(configuration)?;
    tracing::info!(%configuration, "starting with these settings");
    check_directory(configuration)?;
    let secrets = Secrets::load_or_make(configuration)?;
    for file in &secrets.made {
        tracing::warn!(file = %file.display(), "a secret was made; keep a copy of it");
    }
    let observation = Arc::new(Observation::start()?);
    let signals = Signals::new([SIGINT, SIGTERM]).context("failed to listen for signals")?;
    let system = actix_web::rt::System::new();
    let (assembly, served) = system.block_on(run(configuration, options, secrets, observation, signals))?;
    // Outside of the system's future, since it waits for threads to end; inside its life, since these are its own.
    assembly.stop()?;
    served.context("failed to serve")
}

async fn run(
    configuration: &Configuration,
    options: ServeArguments,
    secrets: Secrets,
    observation: Arc<Observation>,
    signals: Signals,
) -> anyhow::Result<(Assembly, std::io::Result<()>)> {
    let assembly = assemble(configuration, secrets, Arc::clone(&observation))?;
    let public = listen(Listener::bind(Arc::clone(&assembly.public), &public_settings(configuration)), "listen")?;
    let admin = listen(Listener::bind(Arc::clone(&assembly.admin), &admin_settings(configuration)), "admin_listen")?;
    announce(&public, &admin);
    if options.demo {
        demo::prepare_and_print(assembly.service(), &configuration.data, public.address).await?;
    }
    stop_on(signals, vec![public.server.handle(), admin.server.handle()], Arc::clone(&observation));
    observation.set_ready();
    let (public, admin) = futures_util::future::join(public.server, admin.server).await;
    Ok((assembly, public.and(admin)))
}

fn public_settings(configuration: &Configuration) -> ListenerSettings {
    ListenerSettings {
        address: configuration.listen,
        workers: configuration.http_threads.get(),
        connections_max: configuration.limits.connections_max.get(),
    }
}

fn admin_settings(configuration: &Configuration) -> ListenerSettings {
    ListenerSettings {
        address: configuration.admin_listen,
        workers: ADMIN_THREADS,
        connections_max: ADMIN_CONNECTIONS_MAX,
    }
}

fn listen(listener: std::io::Result<Listener>, setting: &str) -> anyhow::Result<Listener> {
    listener.with_context(|| format!("failed to listen where {setting} says"))
}

/// Says where the listeners are, on standard output too: with port 0 nobody else knows.
fn announce(public: &Listener, admin: &Listener) {
    tracing::info!(public = %public.address, admin = %admin.address, "serving");
    let text = format!("listening on http://{}\nadmin listening on http://{}\n", public.address, admin.address);
    let _ = std::io::stdout().write_all(text.as_bytes()); // Whoever started us may not be reading.
}

/// Stops the servers at the first signal, letting them finish what they are working on; ends the process at
/// the second.
fn stop_on(mut signals: Signals, servers: Vec<ServerHandle>, observation: Arc<Observation>) {
    let wait = move || {
        let mut signals = signals.forever();
        if let Some(signal) = signals.next() {
            tracing::info!(signal, "stopping");
            observation.set_not_ready("stopping");
            servers.iter().for_each(|server| drop(server.stop(true)));
        }
        if signals.next().is_some() {
            std::process::exit(1);
        }
    };
    thread::Builder::new().name("till-signals".to_owned()).spawn(wait).expect("a thread can be started at start");
}
