//! One connection to the database, used by one thread at a time, which waits for its answers.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{SharedJournalError, words};
use crate::settings::JournalSettings;

/// The settings of each session. A commit waits for the synchronous standby; a statement has no time limit of the
/// database's own, since one that waits for the standby would be reported as done when it is canceled.
const SESSION: &str = "set synchronous_commit = on; set statement_timeout = 0; set client_min_messages = warning";

/// The number of warnings that are logged; a database that has more to say says the same again.
const TOLD_MAX: usize = 100;

/// The pause after which a database that has not answered a sign-in is tried once more, beside the attempts under way.
const SIGN_IN_PAUSE: Duration = Duration::from_secs(1);

/// A connection. A statement that gets no answer in time is never canceled: a cancel request makes a commit that still
/// waits for its standby look durable. The connection is dropped instead.
pub(crate) struct Connection {
    runtime: SessionRuntime,
    client: Client,
    /// The first warning since the last statement began. A commit that did not wait for its standby has one.
    warning: Arc<Mutex<Option<String>>>,
    patience: Duration,
}

/// The runtime of a session. It ends without waiting, since a thread that serves other tasks must not wait.
struct SessionRuntime(Option<Runtime>);

impl Deref for SessionRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("it ends when it is dropped")
    }
}

impl Drop for SessionRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Connection {
    pub(crate) fn open(settings: &JournalSettings) -> Result<Connection, SharedJournalError> {
        let unreachable = |error: &dyn std::error::Error| SharedJournalError::Unreachable(words(error));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| unreachable(&error))?;
        let runtime = SessionRuntime(Some(runtime));
        let warning = Arc::new(Mutex::new(None));
        let connector = settings.connector()?;
        let (client, connection) = wait(|| runtime.block_on(sign_in(settings, connector)))?;
        runtime.spawn(drive(connection, Arc::clone(&warning), Arc::clone(&settings.told)));
        let mut connection = Connection { runtime, client, warning, patience: settings.patience };
        connection.read(async |client| client.batch_execute(SESSION).await)?;
        Ok(connection)
    }

    /// True when the other end has closed it, as far as has arrived here.
    pub(crate) fn is_closed(&mut self) -> bool {
        let arrive = async {
            // Bytes that have arrived since the last statement are read, first by the runtime and then by the task of
            // the connection.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
        };
        wait(|| self.runtime.block_on(arrive));
        self.client.is_closed()
    }

    /// Waits for the answer to a statement that writes. After [`SharedJournalError::Unknown`] the connection must be
    /// dropped.
    pub(crate) fn write<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, SharedJournalError> {
        *self.warning.lock() = None;
        let value = self.run(statement)?;
        match self.warning.lock().take() {
            None => Ok(value),
            Some(warning) => Err(SharedJournalError::Unknown(format!("the database warned: {warning}"))),
        }
    }

    /// Waits for the answer to a statement that changes nothing, or that may be repeated whether it took effect or not.
    /// A warning is no answer to it. After an error the connection must be dropped.
    pub(crate) fn read<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, SharedJournalError> {
        self.run(statement).map_err(|error| match error {
            SharedJournalError::Unknown(reason) => SharedJournalError::Unreachable(reason),
            known => known,
        })
    }

    fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, SharedJournalError> {
        let Connection { runtime, client, patience, .. } = self;
        let answer = wait(|| runtime.block_on(async { timeout(*patience, statement(client)).await }));
        let answer = answer.map_err(|_| SharedJournalError::Unknown(no_answer(*patience)))?;
        answer.map_err(|error| SharedJournalError::of(&error))
    }
}

type Connected = (Client, tokio_postgres::Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

/// Signs in within the patience. While a database says nothing another attempt begins every second: one that was begun
/// in the dark may never be answered, and the first one after it is.
async fn sign_in(settings: &JournalSettings, connector: MakeRustlsConnect) -> Result<Connected, SharedJournalError> {
    let mut attempts = FuturesUnordered::new();
    loop {
        attempts.push(connect_to_one(settings, connector.clone()));
        if let Ok(Some(ended)) = timeout(SIGN_IN_PAUSE, attempts.next()).await {
            return ended;
        }
    }
}

/// Connects to the first host that can be used. Each has an even share of the patience, so that one that says nothing
/// does not take the time of the others.
async fn connect_to_one(
    settings: &JournalSettings,
    connector: MakeRustlsConnect,
) -> Result<Connected, SharedJournalError> {
    let hosts = settings.each_host();
    let share = settings.patience / u32::try_from(hosts.len()).unwrap_or(u32::MAX).max(1);
    let (is_one, mut reasons) = (hosts.len() == 1, Vec::new());
    for (name, host) in hosts {
        let reason = match timeout(share, host.connect(connector.clone())).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => words(&error),
            Err(_) => no_answer(share),
        };
        reasons.push(if is_one { reason } else { format!("{name}: {reason}") });
    }
    Err(SharedJournalError::Unreachable(reasons.join("; ")))
}

/// Waits on this thread. Where it serves a runtime of several threads, another of them goes on with its tasks
/// meanwhile. A thread that serves a runtime alone must not come here.
fn wait<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}

fn no_answer(patience: Duration) -> String {
    format!("there was no answer within {} ms", patience.as_millis())
}

/// Reads what the database sends, as long as somebody waits for an answer.
async fn drive<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    warning: Arc<Mutex<Option<String>>>,
    told: Arc<Mutex<HashSet<String>>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        if let AsyncMessage::Notice(notice) = message {
            let text = format!("{} ({})", notice.message(), notice.code().code());
            let mut told = told.lock();
            // Each text is logged once, however many connections are made.
            if told.len() < TOLD_MAX && told.insert(text.clone()) {
                tracing::warn!(warning = text, "the database of the log warns");
            }
            warning.lock().get_or_insert(text);
        }
    }
}
