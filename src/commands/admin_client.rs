//! Calls to a running server's admin listener.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use till_protocol::api_error::Code;
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::configuration::Configuration;
use crate::tls;

/// The timeout of a call.
const CALL_MAX: Duration = Duration::from_secs(60);

/// The hint for the case that no server answers.
const WHERE_IT_LISTENS: &str = "is it running, and is this its admin listener (--admin-listen)?";

/// Calls the operator's interface of one server.
pub(super) struct AdminClient {
    agent: Agent,
    /// Its scheme, host and port.
    base: String,
    /// The certificates that it is trusted by, with TLS.
    trust: Option<TlsConfig>,
    token: SecretString,
}

/// A reason why an operator's call did not succeed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AdminCallError {
    /// The server refused it.
    #[error("{code}: {message}{}", if .details.is_null() { String::new() } else { format!("\n{details:#}") })]
    Refused {
        code: String,
        message: String,
        /// Details for programs; null when there are none.
        details: Value,
    },
    /// The address is that of a Till server, but not of its admin listener.
    #[error(
        "the server at {} has no operator's call {endpoint}: this is its public listener, or it is another version. \
            Name the admin listener: --admin-listen, TILL_ADMIN_LISTEN or admin_listen in the configuration file",
        host(base)
    )]
    NotAdmin {
        /// The address that was called.
        base: String,
        /// The function that was called.
        endpoint: String,
    },
    /// No Till server answers at this address.
    #[error("failed to call the server at {}: {reason}", host(base))]
    NoAnswer {
        /// The expected address of the server.
        base: String,
        /// The observed failure.
        reason: String,
    },
}

impl AdminClient {
    /// A client of the server whose admin listener is at `address`, without TLS.
    #[must_use]
    pub(super) fn new(address: SocketAddr, token: SecretString) -> AdminClient {
        AdminClient { agent: agent(CALL_MAX, None), base: format!("http://{address}"), trust: None, token }
    }

    /// A client of the server that the configuration describes. It speaks TLS when the admin listener does, or when the
    /// configuration has certificates to trust it by.
    ///
    /// # Errors
    /// Fails when these certificates cannot be read.
    pub(super) fn of(configuration: &Configuration, token: SecretString) -> anyhow::Result<AdminClient> {
        let own = configuration.admin_tls.as_ref().map(|files| &files.certificate);
        let Some(trusted) = configuration.admin_ca_file.as_ref().or(own) else {
            return Ok(AdminClient::new(configuration.admin_listen, token));
        };
        let trust = tls::trusting(trusted)?;
        let base = format!("https://{}:{}", configuration.admin_host, configuration.admin_listen.port());
        Ok(AdminClient { agent: agent(CALL_MAX, Some(&trust)), base, trust: Some(trust), token })
    }

    /// The same client with another timeout.
    #[must_use]
    pub(super) fn with_timeout(self, call_max: Duration) -> AdminClient {
        AdminClient { agent: agent(call_max, self.trust.as_ref()), ..self }
    }

    /// Calls `/admin/<endpoint>` and returns its answer.
    ///
    /// # Errors
    /// A refusal of the server, or the reason why it does not answer.
    pub(super) fn call_admin(
        &self,
        endpoint: &str,
        body: &Value,
        idempotency_key: Option<&str>,
    ) -> Result<Value, AdminCallError> {
        let mut request = self.agent.post(format!("{}/admin/{endpoint}", self.base));
        request = request.header("Authorization", format!("Bearer {}", self.token.expose_secret()));
        request = request.header("Content-Type", "application/json").header("Accept", "application/json");
        if let Some(key) = idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        let mut response = request.send(body.to_string()).map_err(|error| self.no_answer(&self.reason(&error)))?;
        let text = response.body_mut().read_to_string().map_err(|error| self.no_answer(&error))?;
        let answer: Value = serde_json::from_str(&text).map_err(|_| self.no_answer(&"the answer is not JSON"))?;
        if response.status().is_success() { Ok(answer) } else { Err(self.refused(endpoint, answer)) }
    }

    /// The reason for a failed call, with advice when a setting may be the cause.
    fn reason(&self, error: &ureq::Error) -> String {
        match (error, &self.trust) {
            (ureq::Error::Protocol(_), None) => format!(
                "it does not answer in HTTP ({error}). When it speaks TLS, name the certificates to trust it by: \
                 TILL_ADMIN_CA_FILE, or admin_ca_file in the configuration file"
            ),
            (ureq::Error::Io(io), _) if io.kind() == ErrorKind::ConnectionRefused => {
                format!("{error}; {WHERE_IT_LISTENS}")
            }
            _ => error.to_string(),
        }
    }

    fn refused(&self, endpoint: &str, answer: Value) -> AdminCallError {
        match answer.as_array().map(Vec::as_slice) {
            Some([Value::String(code), ..]) if code == Code::UnknownEndpoint.name() => {
                AdminCallError::NotAdmin { base: self.base.clone(), endpoint: endpoint.to_owned() }
            }
            Some([Value::String(code), Value::String(message), details]) => {
                AdminCallError::Refused { code: code.clone(), message: message.clone(), details: details.clone() }
            }
            Some(_) | None => self.no_answer(&"the answer has no known shape"),
        }
    }

    fn no_answer(&self, reason: &impl ToString) -> AdminCallError {
        AdminCallError::NoAnswer { base: self.base.clone(), reason: reason.to_string() }
    }
}

fn host(base: &str) -> &str {
    base.split_once("://").map_or(base, |(_, host)| host)
}

pub(super) fn agent(call_max: Duration, trust: Option<&TlsConfig>) -> Agent {
    let agent =
        Agent::config_builder().timeout_global(Some(call_max)).http_status_as_error(false).max_redirects(0).proxy(None);
    let agent = match trust {
        Some(trust) => agent.tls_config(trust.clone()),
        None => agent,
    };
    agent.build().into()
}
