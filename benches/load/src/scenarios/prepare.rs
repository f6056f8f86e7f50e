//! Calls that prepare a run: many at once, and any failure ends the preparation.

use std::cell::Cell;

use anyhow::{Context, anyhow};
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::client::{CallFailure, Connection, HttpAnswer};
use crate::target::ServerAddress;

/// Connections to both listeners.
pub(crate) struct Lines {
    pub(super) public: Connection,
    pub(super) admin: Connection,
}

/// The addresses of both listeners.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub(crate) public: ServerAddress,
    pub(crate) admin: ServerAddress,
}

impl Ends {
    pub(super) fn lines(&self) -> Lines {
        Lines { public: Connection::new(&self.public), admin: Connection::new(&self.admin) }
    }

    /// Runs `job` for each number below `count`, `at_once` of them at the same time, and returns the results in order.
    pub(super) async fn each<T>(
        &self,
        count: usize,
        at_once: usize,
        job: impl AsyncFn(&mut Lines, usize) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let next = Cell::new(0);
        let worker = async || {
            let (mut lines, mut made) = (self.lines(), Vec::new());
            while next.get() < count {
                let index = next.replace(next.get() + 1);
                made.push((index, job(&mut lines, index).await?));
            }
            anyhow::Ok(made)
        };
        let workers = (0..at_once.min(count)).map(|_| worker());
        let mut made: Vec<(usize, T)> = try_join_all(workers).await?.into_iter().flatten().collect();
        made.sort_unstable_by_key(|(index, _)| *index);
        Ok(made.into_iter().map(|(_, made)| made).collect())
    }
}

/// The answer of a call that must succeed.
pub(super) fn accepted<'a>(what: &str, answer: Result<HttpAnswer<'a>, CallFailure>) -> anyhow::Result<HttpAnswer<'a>> {
    let answer = answer.with_context(|| format!("failed to {what}"))?;
    if answer.is_success() {
        return Ok(answer);
    }
    let hint = match answer.error_code().as_str() {
        "RATE_LIMITED" => "; start the server with a higher sdk_calls_per_second: all customers share a few addresses",
        "INVALID_ARGUMENTS" if String::from_utf8_lossy(answer.body).contains("destination_url") => {
            "; start the server with TILL_WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8: the webhooks of a run lead to \
             this machine"
        }
        "UNAUTHORIZED" => "; is this the admin token of that server?",
        _ => "",
    };
    Err(anyhow!("failed to {what}: the server answers {}{hint}", answer.excerpt()))
}

/// The id in the answer of a call that must succeed.
pub(super) fn accepted_id(what: &str, answer: Result<HttpAnswer<'_>, CallFailure>) -> anyhow::Result<String> {
    let answer = accepted(what, answer)?;
    answer.id().map(str::to_owned).with_context(|| format!("failed to {what}: {} is not an id", answer.excerpt()))
}

/// The JSON in the answer of a call that must succeed.
pub(super) fn accepted_json(what: &str, answer: Result<HttpAnswer<'_>, CallFailure>) -> anyhow::Result<Value> {
    Ok(accepted(what, answer)?.json())
}
