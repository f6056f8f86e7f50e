//! Tasks under way at the same time, each with the name by which it is taken up again when it panics.

use std::collections::HashMap;
use std::future::Future;

use tokio::task::{Id, JoinError, JoinSet};

/// Tasks, by what they are about. Dropping it ends them.
pub(crate) struct NamedTasks<N, T> {
    tasks: JoinSet<T>,
    names: HashMap<Id, N>,
}

/// The task panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it panicked")]
pub(crate) struct Panicked;

impl<N, T: Send + 'static> NamedTasks<N, T> {
    /// None under way.
    pub(crate) fn new() -> NamedTasks<N, T> {
        NamedTasks { tasks: JoinSet::new(), names: HashMap::new() }
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Starts one.
    pub(crate) fn spawn(&mut self, name: N, task: impl Future<Output = T> + Send + 'static) {
        let id = self.tasks.spawn(task).id();
        self.names.insert(id, name);
    }

    /// Waits for the next one that ends; nothing when none is under way. Can be given up at any time without
    /// losing one.
    pub(crate) async fn next(&mut self) -> Option<(N, Result<T, Panicked>)> {
        let joined = self.tasks.join_next_with_id().await?;
        self.named(joined)
    }

    /// One that has ended already, without waiting.
    pub(crate) fn next_ended(&mut self) -> Option<(N, Result<T, Panicked>)> {
        let joined = self.tasks.try_join_next_with_id()?;
        self.named(joined)
    }

    fn named(&mut self, joined: Result<(Id, T), JoinError>) -> Option<(N, Result<T, Panicked>)> {
        let (id, result) = match joined {
            Ok((id, result)) => (id, Ok(result)),
            Err(error) => (error.id(), Err(Panicked)),
        };
        self.names.remove(&id).map(|name| (name, result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_known_by_its_name() {
        let mut tasks = NamedTasks::new();
        assert!(tasks.next().await.is_none());
        tasks.spawn("sound", async { 1 });
        assert_eq!(tasks.next().await, Some(("sound", Ok(1))));
        tasks.spawn("broken", async { panic!("on purpose") });
        assert_eq!(tasks.next().await, Some(("broken", Err(Panicked))));
        assert_eq!(tasks.len(), 0);
        assert_eq!(tasks.next_ended(), None);
    }
}
