//! Deliveries posted on to a program of the developer's machine.

use std::time::Duration;

use actix_web::http::header::HeaderMap;
use anyhow::{Context, ensure};
use ureq::Agent;
use url::{Host, Url};

use crate::commands::admin_client::agent;

/// The timeout of the program, which is that of a webhook.
const CALL_MAX: Duration = Duration::from_secs(15);

/// The value of the plain signature begins with this, in a header that each webhook names for itself.
const PLAIN_SIGNATURE: &str = "hmac_sha256=";

/// The program that deliveries are posted on to.
#[derive(Clone)]
pub(super) struct Forwarding {
    agent: Agent,
    url: Url,
}

impl Forwarding {
    /// Posts to this address: http only, and of this machine only, so that it cannot be used to get around a firewall.
    pub(super) fn parse(text: &str) -> anyhow::Result<Forwarding> {
        let url = Url::parse(text).context("--forward-to is not a URL")?;
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        ensure!(
            url.scheme() == "http" && is_loopback,
            "--forward-to must be an http address of this machine, such as http://127.0.0.1:3000/webhooks"
        );
        Ok(Forwarding { agent: agent(CALL_MAX, None), url })
    }

    /// Posts the same body and signatures, and returns the status of the answer.
    pub(super) fn post(&self, headers: &[(String, Vec<u8>)], body: &[u8]) -> Result<u16, String> {
        let mut request = self.agent.post(self.url.as_str());
        for (name, value) in headers {
            request = request.header(name, value.as_slice());
        }
        let answer = request.send(body).map_err(|error| format!("{} does not answer: {error}", self.url))?;
        Ok(answer.status().as_u16())
    }
}

/// The headers that are posted on: the type of the body and its signatures.
pub(super) fn forwarded(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    let is_forwarded = |name: &str, value: &[u8]| {
        name == "content-type" || name.starts_with("webhook-") || value.starts_with(PLAIN_SIGNATURE.as_bytes())
    };
    let headers = headers.iter().filter(|(name, value)| is_forwarded(name.as_str(), value.as_bytes()));
    headers.map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_of_this_machine_are_taken() {
        for taken in ["http://127.0.0.1:3000/a?b=c", "http://localhost", "http://[::1]:80/", "http://127.9.9.9/"] {
            assert!(Forwarding::parse(taken).is_ok(), "{taken}");
        }
        for refused in
            ["https://127.0.0.1/", "http://10.0.0.1/", "http://localhost.example/", "http://[::2]/", "127.0.0.1:3000"]
        {
            assert!(Forwarding::parse(refused).is_err(), "{refused}");
        }
    }
}
