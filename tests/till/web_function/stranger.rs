//! A caller of everything that a server publishes, through one client for each package.

use serde_json::Value;

use super::client::{Client, InvocationResult, agent};
use super::package::PackageEndpoint;
use crate::harness::{Server, Start};
use crate::valid_calls::{Fixture, PACKAGES};

/// The operator's token of these tests.
const OPERATOR: &str = "admin-token-of-a-test";

/// A caller that knows only three addresses, a merchant's key, an operator's token and the protocol.
pub(super) struct Stranger {
    pub(super) fixture: Fixture,
    /// The clients of the packages, in the order of [`PACKAGES`].
    clients: Vec<Client>,
}

impl Stranger {
    /// Starts a server.
    pub(super) fn arrive() -> Stranger {
        let fixture = Fixture::start(Start::default());
        let agent = agent();
        let client = |package: &&str| Client::of_package_endpoint(&agent, &address(&fixture.server, package));
        let mut clients: Vec<Client> = PACKAGES.iter().map(client).collect();
        clients[place("merchants")] = clients[place("merchants")].clone().with_bearer(&fixture.shop.key);
        clients[place("admin")] = clients[place("admin")].clone().with_bearer(OPERATOR);
        Stranger { fixture, clients }
    }

    /// The client of a package.
    pub(super) fn client(&self, package: &str) -> &Client {
        &self.clients[place(package)]
    }

    /// Replaces the clients by others of the same packages; each keeps its token.
    pub(super) fn turn_to(&mut self, clients: impl Fn(&str, &str) -> Client) {
        let with_token =
            |(package, known): (&&str, &Client)| known.on(clients(package, &address(&self.fixture.server, package)));
        self.clients = PACKAGES.iter().zip(&self.clients).map(with_token).collect();
    }

    /// The endpoints of a package.
    pub(super) fn endpoints(&self, package: &str) -> Vec<PackageEndpoint> {
        let endpoints = self.client(package).package.endpoints.clone();
        assert!(!endpoints.is_empty(), "{package} lists endpoints");
        endpoints
    }

    /// Calls, and checks that the answer is one that the package declares.
    pub(super) fn call(&self, package: &str, endpoint: &PackageEndpoint, arguments: &Value) -> InvocationResult {
        let client = self.client(package);
        let outcome = client.call(endpoint, arguments);
        match &outcome {
            InvocationResult::Value(value) => client.package.check_value(endpoint, value),
            InvocationResult::Refused { code, .. } => client.package.check_code(endpoint, code),
        }
        outcome
    }

    /// All required arguments of an endpoint, and those named, with valid values.
    pub(super) fn arguments(&self, package: &str, endpoint: &PackageEndpoint, also: &[&str]) -> Value {
        self.fixture.arguments(self.fixture.endpoint(package, &endpoint.name), also)
    }
}

/// The address of the package of a name.
fn address(server: &Server, package: &str) -> String {
    let base = if package == "admin" { server.admin_address() } else { server.public() };
    format!("{base}/{package}")
}

fn place(package: &str) -> usize {
    PACKAGES.iter().position(|known| *known == package).expect("it is one of the three")
}
