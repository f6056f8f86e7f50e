//! Puts the program together: the parts below the edge, and the endpoints that use them.

use std::sync::Arc;
use std::time::Duration;

use till_actors::name_thread;
use till_protocol::count::Count;
use till_protocol::declaration::Package;
use till_protocol::dispatch::{AuthenticatedCaller, CallLimits, Dispatcher, Hosts, WorkerPool};
use till_storage::statistics::StatisticsSource;

use super::bootstrap::{self, Started};
use crate::access::{AdminToken, KeyAuthentication, MerchantCaller, Operator, PublicGate};
use crate::configuration::{Configuration, Secrets, processors};
use crate::counted::Counters;
use crate::endpoints::notices::Notices;
use crate::endpoints::{admin, merchants, sdk};
use crate::exposition::count_failures_from_zero;
use crate::server_status::{Calls, EngineObservation, Observation};
use crate::service::{Reloads, Shared};

/// The limit of the time for which a stop waits for calls in progress.
const STOP_WAIT_MAX: Duration = Duration::from_secs(20);

/// The program, ready to be connected to its listeners.
pub(crate) struct Assembly {
    /// The dispatcher for merchants and devices.
    pub public: Arc<Dispatcher<MerchantCaller>>,
    /// The dispatcher for the operator.
    pub admin: Arc<Dispatcher<Operator>>,
    started: Started,
}

impl Assembly {
    /// The service that endpoints use.
    #[must_use]
    pub(crate) fn service(&self) -> &Shared {
        &self.started.service
    }

    /// The statistics of the store.
    #[must_use]
    pub(crate) fn store_statistics(&self) -> Arc<dyn StatisticsSource> {
        self.started.store_statistics()
    }

    /// Stops everything below the edge, once no call is in progress any more.
    ///
    /// # Errors
    /// Fails when the store does not close cleanly. Acknowledged commits are durable nevertheless.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.started.stop(STOP_WAIT_MAX)
    }
}

/// Registers the admin token's file, which is read again at each reload.
fn reload_admin_token(reloads: &Reloads, admin_token: &Arc<AdminToken>, configuration: &Configuration) {
    let (admin_token, configuration) = (Arc::clone(admin_token), configuration.clone());
    reloads.add("admin_token", move || {
        let tokens =
            Secrets::find_admin_tokens(&configuration).map_err(|error| format!("{:#}", anyhow::Error::new(error)))?;
        let read = format!("{} taken from now on", tokens.len());
        admin_token.replace(tokens);
        Ok(read)
    });
}

/// Opens the data and builds the endpoints.
///
/// # Errors
/// Fails when the data cannot be opened.
pub(crate) fn assemble(
    configuration: &Configuration,
    secrets: Secrets,
    observation: Arc<Observation>,
) -> anyhow::Result<Assembly> {
    let started = bootstrap::start(configuration, &secrets)?;
    let service = &started.service;
    let keys = Arc::new(KeyAuthentication::new(Arc::clone(service)));
    let rates = &configuration.limits;
    let gate = PublicGate::new(rates.key_calls_per_second, rates.sdk_calls_per_second_per_address);
    // Half of the processors are for large calls, the other half for all other calls.
    let limits = CallLimits::new(configuration.http_threads.get());
    let pool = WorkerPool::start(processors().get() / 2, |number| name_thread("pool", number));
    let counters: Arc<dyn Count> = Arc::new(Counters);
    let public = Dispatcher::builder(&[Package::Merchants, Package::Sdk], keys)
        .gate(Arc::new(gate))
        .counters(Arc::clone(&counters))
        .limits(limits.clone())
        .pool(pool.clone())
        .functions(merchants::functions(service))
        .functions(sdk::functions(service))
        .raw_endpoint(Arc::new(Notices::new(service)))
        .deliveries(&merchants::DELIVERED)
        .public_url(configuration.public_url.clone())
        .logs_addresses(configuration.log_caller_addresses);
    #[cfg(feature = "pages")]
    let public = public.pages(crate::pages::browser_pages(service));
    let public = public.build();
    let admin_token = Arc::new(AdminToken::any_of(secrets.admin_tokens));
    let reloads = service.operations().map(|operations| &operations.reloads);
    reloads.into_iter().for_each(|reloads| reload_admin_token(reloads, &admin_token, configuration));
    let server = Arc::new(EngineObservation::new(
        observation,
        Arc::clone(service),
        started.store_statistics(),
        started.tables(),
        started.journal(),
        Calls { limits, pool: pool.clone() },
    ));
    let admin = Dispatcher::builder(&[Package::Admin], Arc::clone(&admin_token) as _)
        .pool(pool)
        .functions(admin::functions(service))
        .function(admin::status_function(Arc::clone(&server)))
        .hosts(admin_hosts(configuration))
        .observe(Arc::clone(&server) as _)
        .counters(counters);
    #[cfg(feature = "pages")]
    let admin = admin.pages(crate::pages::operator_pages(service, &admin_token, &server, &configuration.to_string()));
    let admin = admin.build();
    count_failures_from_zero(endpoint_names(&public).chain(endpoint_names(&admin)));
    Ok(Assembly { public: Arc::new(public), admin: Arc::new(admin), started })
}

/// With TLS, a browser checks the host name by itself.
fn admin_hosts(configuration: &Configuration) -> Hosts {
    match configuration.admin_tls {
        Some(_) => Hosts::Any,
        None => Hosts::Named(configuration.admin_host.clone()),
    }
}

/// The names of all endpoints of a listener.
fn endpoint_names<C: AuthenticatedCaller>(dispatcher: &Dispatcher<C>) -> impl Iterator<Item = &'static str> {
    let packages = [Package::Merchants, Package::Sdk, Package::Admin];
    packages.into_iter().flat_map(|package| dispatcher.declarations(package)).map(|declaration| declaration.name)
}
