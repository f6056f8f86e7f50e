//! The threads that wait for the disk in place of the actors' threads: they load merchants, and carry out requests that
//! need rows which are not in memory.

use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle, Runtime};

/// The number of threads that begin all work. They wait more than they work, so that they are not bound to the number
/// of processors.
const LOADER_THREADS: usize = 8;

/// The number of further threads, on which large loads go on: a third of all. However many large loads there are, the
/// others find a thread that is theirs within some milliseconds.
const LARGE_LOAD_THREADS: usize = 4;

/// The bytes that a load reads before it goes on with the other large ones: some milliseconds of work.
pub(super) const LIGHT_LOAD_BYTES: usize = 1 << 20;

/// The pool of loader threads. Work waits in the order of its arrival; each actor has at most one piece of work here.
#[derive(Debug, Clone)]
pub(crate) struct Loader {
    all: Handle,
    large: Handle,
}

impl Loader {
    /// Does work on one of the threads. The work is dropped when the pool has stopped.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        drop(self.all.spawn_blocking(work));
    }

    /// Goes on with a load that has turned out to be large.
    pub(crate) fn run_large(&self, work: impl FnOnce() + Send + 'static) {
        drop(self.large.spawn_blocking(work));
    }
}

/// The owner of the threads.
#[derive(Debug)]
pub(crate) struct LoaderThreads {
    all: Runtime,
    large: Runtime,
}

impl LoaderThreads {
    /// A pool whose threads start when they are needed.
    pub(crate) fn start() -> std::io::Result<LoaderThreads> {
        let pool =
            |name: &str, threads| Builder::new_current_thread().thread_name(name).max_blocking_threads(threads).build();
        let all = pool("till-loader", LOADER_THREADS)?;
        Ok(LoaderThreads { all, large: pool("till-large-load", LARGE_LOAD_THREADS)? })
    }

    pub(crate) fn loader(&self) -> Loader {
        Loader { all: self.all.handle().clone(), large: self.large.handle().clone() }
    }

    /// Drops what waits, and waits at most `patience` for what is under way.
    pub(crate) fn stop(self, patience: Duration) {
        let until = Instant::now() + patience;
        self.all.shutdown_timeout(patience);
        self.large.shutdown_timeout(until.saturating_duration_since(Instant::now()));
    }
}
