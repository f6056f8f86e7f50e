//! Calls that prepare a run: many at once, and any failure ends the preparation.

use std::cell::Cell;

use anyhow::{Context, anyhow};
use futures_util::future::try_join_all;
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::client::{CallFailure, Connection, HttpAnswer, RequestHead};
use crate::target::{OperatorAccess, ServerAddress};

/// The calls of the operator at the same time: its listener has one thread.
pub(super) const OPERATOR_CALLS_AT_ONCE: usize = 16;

/// A connection to the public listener, and one to the admin listener where the operator's token is known.
pub(crate) struct Lines {
    pub(super) public: Connection,
    operator: Option<(OperatorAccess, Connection)>,
}

/// The addresses of the listeners.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub(crate) public: ServerAddress,
    pub(super) operator: Option<OperatorAccess>,
}

impl Lines {
    /// The answer of an operator's call that must succeed.
    pub(super) async fn operator(
        &mut self,
        what: &str,
        endpoint: &str,
        body: &Value,
    ) -> anyhow::Result<HttpAnswer<'_>> {
        let (operator, connection) =
            self.operator.as_mut().with_context(|| format!("failed to {what}: only the operator can"))?;
        let head =
            RequestHead::new(&operator.admin, &format!("/admin/{endpoint}"), Some(operator.token.expose_secret()));
        check_accepted(what, connection.call(&head.with(body)).await)
    }
}

impl Ends {
    pub(super) fn lines(&self) -> Lines {
        let operator = self.operator.clone().map(|operator| {
            let connection = Connection::new(&operator.admin);
            (operator, connection)
        });
        Lines { public: Connection::new(&self.public), operator }
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
pub(super) fn check_accepted<'a>(
    what: &str,
    answer: Result<HttpAnswer<'a>, CallFailure>,
) -> anyhow::Result<HttpAnswer<'a>> {
    let answer = answer.with_context(|| format!("failed to {what}"))?;
    if answer.is_success() {
        return Ok(answer);
    }
    let hint = match answer.error_code().as_str() {
        "RATE_LIMITED" => {
            "; start the server with higher rates of the settings sdk_calls_ and sdk_writes_: all customers share a \
                few addresses"
        }
        "INVALID_ARGUMENTS" if String::from_utf8_lossy(answer.body).contains("destination_url") => {
            "; start the server with TILL_WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8: the webhooks of a run lead to \
             this machine"
        }
        "UNAUTHORIZED" => "; is this the admin token of that server?",
        _ => "",
    };
    Err(anyhow!("failed to {what}: the server answers {}{hint}", answer.excerpt()))
}

/// The id in the answer of a call.
pub(super) fn id_of(what: &str, answer: &HttpAnswer<'_>) -> anyhow::Result<String> {
    answer.id().map(str::to_owned).with_context(|| format!("failed to {what}: {} is not an id", answer.excerpt()))
}
