//! The threads that wait for the disk in place of the actors' threads: they load merchants, and carry out requests that
//! need rows which are not in memory.

use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// The number of threads. They wait more than they work, so that they are not bound to the number of processors.
const LOADER_THREADS: usize = 8;

/// The pool of loader threads. Work waits in the order of its arrival; each actor has at most one piece of work here.
#[derive(Debug, Clone)]
pub(crate) struct Loader(Handle);

impl Loader {
    /// Does work on one of the threads. The work is dropped when the pool has stopped.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        drop(self.0.spawn_blocking(work));
    }
}

/// The owner of the threads.
#[derive(Debug)]
pub(crate) struct LoaderThreads(Runtime);

impl LoaderThreads {
    /// A pool whose threads start when they are needed.
    pub(crate) fn start() -> std::io::Result<LoaderThreads> {
        let pool =
            Builder::new_current_thread().thread_name("till-loader").max_blocking_threads(LOADER_THREADS).build();
        pool.map(LoaderThreads)
    }

    pub(crate) fn loader(&self) -> Loader {
        Loader(self.0.handle().clone())
    }

    /// Drops what waits, and waits at most `patience` for what is under way.
    pub(crate) fn stop(self, patience: Duration) {
        self.0.shutdown_timeout(patience);
    }
}
