//! Makes the arguments of any endpoint from its declaration: by name where another endpoint gives such a value, else by
//! its choices or its type.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::harness::{Server, Start, VAULT_KEY};

use super::client::{Client, InvocationResult, agent, value};
use super::package::{Member, PackageEndpoint};

/// The operator's token of these tests, which differs from that of all others.
const OPERATOR: &str = "operator-of-the-walk";

/// The packages that a server publishes.
pub(super) const PACKAGES: [&str; 3] = ["merchants", "sdk", "admin"];

/// The arguments of a call that are passed to the calls that make its other arguments.
const SCOPE: [&str; 2] = ["merchant_id", "installation_id"];

/// The source of an argument's value.
struct Source {
    argument: &'static str,
    package: &'static str,
    endpoint: &'static str,
    /// Optional arguments to send with it.
    also: &'static [&'static str],
    /// The JSON pointer of the value in the answer.
    at: &'static str,
}

const fn source(argument: &'static str, package: &'static str, endpoint: &'static str, at: &'static str) -> Source {
    Source { argument, package, endpoint, also: &[], at }
}

const SOURCES: [Source; 19] = [
    source("webhook_id", "merchants", "connect-webhook", "/webhook_id"),
    source("event_id", "merchants", "list-events", "/page/0/event_id"),
    source("merchant_id", "admin", "create-merchant", ""),
    source("installation_id", "admin", "add-installation", ""),
    source("token", "sdk", "tokenize-card", ""),
    Source { also: &["token"], ..source("payment_session_id", "sdk", "select-payment-method", "") },
    Source { also: &["customer_email"], ..source("payment_id", "merchants", "initiate-payment-flow", "") },
    Source { also: &["external_id"], ..source("refund_id", "merchants", "refund-payment", "") },
    Source { also: &["external_id"], ..source("payout_id", "merchants", "send-payout", "") },
    source("dispute_id", "admin", "open-dispute", ""),
    source("topup_id", "merchants", "list-topups", "/page/0/topup_id"),
    source("contact_id", "merchants", "find-payment", "/customer_id"),
    source("card_id", "merchants", "save-card", ""),
    source("invitation_id", "merchants", "invite-user", ""),
    source("user_id", "merchants", "accept-invitation", ""),
    source("plan_id", "merchants", "list-plans", "/1/plan_id"),
    source("key", "merchants", "sync-metadata", "/key"),
    source("key_id", "merchants", "generate-key", "/key_id"),
    source("key_id", "admin", "generate-key", "/key_id"),
];

/// Calls about a payment that the acquirer has answered.
const ABOUT_ANSWERED_PAYMENTS: [&str; 7] = [
    "capture-payment",
    "void-payment",
    "reverse-payment",
    "refund-payment",
    "list-refunds-by-payment",
    "list-entries-by-payment",
    "open-dispute",
];

/// Calls of the operator in the place of the provider.
const PROVIDERS: [&str; 8] = [
    "complete-refund",
    "fail-refund",
    "complete-payout",
    "fail-payout",
    "open-dispute",
    "escalate-dispute",
    "close-dispute",
    "complete-action",
];
/// The amount of a payout that waits for the operator.
const WAITING_PAYOUT: &str = "98";

/// A caller that knows only three addresses, an operator's token and the protocol.
pub(super) struct Stranger {
    pub(super) server: Server,
    /// The clients of the packages, in the order of [`PACKAGES`].
    clients: Vec<Client>,
    /// The merchant whose key it uses, and an installation of it.
    home: Map<String, Value>,
    number: Cell<u64>,
}

impl Stranger {
    /// Starts a server, of which the caller knows only the token.
    pub(super) fn arrive() -> Stranger {
        let server = Start::default()
            .with("TILL_ADMIN_TOKEN", OPERATOR)
            .with("TILL_WEBHOOK_ALLOWED_NETWORKS", "127.0.0.0/8")
            .server();
        let agent = agent();
        let client = |package: &&str| Client::of_package_endpoint(&agent, &address(&server, package));
        let clients = PACKAGES.iter().map(client).collect();
        let mut stranger = Stranger { server, clients, home: Map::new(), number: Cell::new(0) };
        stranger.clients[2] = stranger.clients[2].clone().with_bearer(OPERATOR);
        stranger.settle_down();
        stranger
    }

    /// Creates a merchant with installations, a key, and money on the balance.
    pub(super) fn settle_down(&mut self) {
        self.home = Map::new();
        for argument in SCOPE {
            let made = self.made("admin", argument, &self.home).expect("there is a source");
            self.home.insert(argument.to_owned(), made);
        }
        let key = self.make("admin", "generate-key", &[], &self.home)["key"].clone();
        self.clients[0] = self.clients[0].clone().with_bearer(key.as_str().expect("a key"));
        for _ in 0..3 {
            self.make("admin", "add-topup", &[], &self.home);
            self.make("admin", "add-installation", &[], &self.home);
        }
    }

    /// The client of a package.
    pub(super) fn client(&self, package: &str) -> &Client {
        &self.clients[place(package)]
    }

    /// Replaces the clients by others of the same packages; each keeps its token.
    pub(super) fn turn_to(&mut self, clients: impl Fn(&str, &str) -> Client) {
        let (server, home) = (&self.server, &self.clients);
        let with_tokens = |package: &&str| {
            let known = home[place(package)].clone();
            known.on(clients(package, &address(server, package)))
        };
        self.clients = PACKAGES.iter().map(with_tokens).collect();
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

    /// All required arguments of an endpoint, and those named.
    pub(super) fn arguments(&self, package: &str, endpoint: &PackageEndpoint, also: &[&str]) -> Value {
        // These are about payments, refunds and the like of the home merchant.
        let is_at_home = PROVIDERS.contains(&endpoint.name.as_str()) || endpoint.name == "find-payments";
        let home = if package == "admin" && !is_at_home { Map::new() } else { self.home.clone() };
        self.arguments_within(package, endpoint, also, &home)
    }

    /// All required arguments for the home merchant, also of the operator's endpoints.
    pub(super) fn arguments_at_home(&self, package: &str, endpoint: &PackageEndpoint) -> Value {
        self.arguments_within(package, endpoint, &[], &self.home)
    }

    fn arguments_within(
        &self,
        package: &str,
        endpoint: &PackageEndpoint,
        also: &[&str],
        scope: &Map<String, Value>,
    ) -> Value {
        let mut scope = scope.clone();
        let mut arguments = Map::new();
        // These endpoints need one of several arguments, each of which is optional.
        let one_of_several = |member: &Member| {
            [
                ("redeliver-webhook", "since"),
                ("add-contact", "contact_name"),
                ("find-payments", "last_digits"),
                ("find-payments", "created_at"),
                ("pay-checkout", "token"),
            ]
            .contains(&(endpoint.name.as_str(), member.name.as_str()))
        };
        let wanted = |member: &&Member| {
            member.has_flag("required") || also.contains(&member.name.as_str()) || one_of_several(member)
        };
        for argument in endpoint.arguments.iter().filter(wanted) {
            let value = self.value_of(package, endpoint, argument, &scope);
            if SCOPE.contains(&argument.name.as_str()) {
                scope.insert(argument.name.clone(), value.clone());
            }
            arguments.insert(argument.name.clone(), value);
        }
        match endpoint.name.as_str() {
            "save-card" => _ = arguments.insert("token".to_owned(), self.token_for_several_uses(&scope)),
            "set-default-card" | "forget-card" => {
                let card_id = self.card_of(&arguments["contact_id"], &scope);
                arguments.insert("card_id".to_owned(), card_id);
            }
            _ => {}
        }
        Value::Object(arguments)
    }

    fn value_of(
        &self,
        package: &str,
        endpoint: &PackageEndpoint,
        argument: &Member,
        scope: &Map<String, Value>,
    ) -> Value {
        let name = argument.name.as_str();
        let given = scope.get(name).filter(|_| SCOPE.contains(&name)).or(argument.choices.first());
        if let Some(given) = given {
            return given.clone();
        }
        if name == "merchant_id" && endpoint.name == "advance-clock" {
            let create = self.client("admin").package.endpoint("create-merchant");
            let with_test_clock = json!({ "name": "Walk", "currency": "THB", "test_clock": true });
            return value(self.call("admin", create, &with_test_clock));
        }
        if name == "amount" && endpoint.errors.iter().any(|code| code == "INSUFFICIENT_BALANCE") {
            return json!("100"); // The balance must suffice for many of them.
        }
        if name == "payment_id" && ABOUT_ANSWERED_PAYMENTS.contains(&endpoint.name.as_str()) {
            return self.payment_for(&endpoint.name, scope);
        }
        if PROVIDERS.contains(&endpoint.name.as_str()) && name == "refund_id" {
            return self.waiting_refund(scope);
        }
        if PROVIDERS.contains(&endpoint.name.as_str()) && name == "payout_id" {
            let send = self.client("merchants").package.endpoint("send-payout");
            return value(self.call("merchants", send, &json!({ "amount": WAITING_PAYOUT })));
        }
        if name == "checkout_id" {
            return self.checkout(scope);
        }
        let own = source_of(package, name).is_some_and(|source| source.endpoint == endpoint.name);
        let made = if own { None } else { self.made(package, name, scope) };
        made.or_else(|| self.by_name(name)).unwrap_or_else(|| by_type(argument))
    }

    /// An open checkout: the last part of its page's address.
    fn checkout(&self, scope: &Map<String, Value>) -> Value {
        let url = self.make("merchants", "start-checkout", &[], scope);
        json!(url.as_str().and_then(|url| url.rsplit('/').next()).expect("an address"))
    }

    fn token_for_several_uses(&self, scope: &Map<String, Value>) -> Value {
        self.token_of("4242424242424242", scope)
    }

    fn token_of(&self, number: &str, scope: &Map<String, Value>) -> Value {
        let tokenize = self.client("sdk").package.endpoint("tokenize-card");
        let mut card = self.arguments_within("sdk", tokenize, &[], scope);
        (card["usage"], card["number"]) = (json!("MULTIPLE"), json!(number));
        value(self.call("sdk", tokenize, &card))
    }

    /// Saves three cards for a customer of the home merchant.
    pub(super) fn save_three_cards(&self, contact_id: &Value) {
        let save = self.client("merchants").package.endpoint("save-card");
        for number in ["4242424242424242", "5555555555554444", "3566002020360505"] {
            let token = self.token_of(number, &self.home);
            value(self.call("merchants", save, &json!({ "token": token, "contact_id": contact_id })));
        }
    }

    /// A card that the customer has saved.
    fn card_of(&self, contact_id: &Value, scope: &Map<String, Value>) -> Value {
        let save = self.client("merchants").package.endpoint("save-card");
        let token = self.token_for_several_uses(scope);
        value(self.call("merchants", save, &json!({ "token": token, "contact_id": contact_id })))
    }

    /// A payment that permits the call.
    fn payment_for(&self, endpoint: &str, scope: &Map<String, Value>) -> Value {
        let initiate = self.client("merchants").package.endpoint("initiate-payment-flow");
        let find = self.client("merchants").package.endpoint("find-payment");
        let mut arguments = self.arguments_within("merchants", initiate, &["customer_email"], scope);
        arguments["capture"] = json!(!matches!(endpoint, "capture-payment" | "void-payment"));
        let payment = value(self.call("merchants", initiate, &arguments));
        let found = || value(self.call("merchants", find, &json!({ "payment_id": payment })));
        while found()["status"] == "PENDING" {
            thread::sleep(Duration::from_millis(2));
        }
        payment
    }

    /// A refund that waits for the operator.
    fn waiting_refund(&self, scope: &Map<String, Value>) -> Value {
        let made = |package: &str, endpoint: &str, change: &dyn Fn(&mut Value)| {
            let endpoint = self.client(package).package.endpoint(endpoint);
            let mut arguments = self.arguments_within(package, endpoint, &[], scope);
            change(&mut arguments);
            value(self.call(package, endpoint, &arguments))
        };
        let token = made("sdk", "tokenize-card", &|card| card["number"] = json!("4000000000007726"));
        let session = made("sdk", "select-payment-method", &|selection| selection["token"] = token.clone());
        let payment = made("merchants", "initiate-payment-flow", &|payment| {
            payment["payment_session_id"] = session.clone();
            payment["capture"] = json!(true);
        });
        let find = self.client("merchants").package.endpoint("find-payment");
        let found = || value(self.call("merchants", find, &json!({ "payment_id": payment })));
        while found()["status"] == "PENDING" {
            thread::sleep(Duration::from_millis(2));
        }
        made("merchants", "refund-payment", &|refund| refund["payment_id"] = payment.clone())
    }

    fn made(&self, package: &str, argument: &str, scope: &Map<String, Value>) -> Option<Value> {
        let source = source_of(package, argument)?;
        let answer = self.make(source.package, source.endpoint, source.also, scope);
        Some(answer.pointer(source.at).unwrap_or_else(|| panic!("no {} in {answer}", source.at)).clone())
    }

    /// Calls an endpoint, which must succeed.
    fn make(&self, package: &str, endpoint: &str, also: &[&str], scope: &Map<String, Value>) -> Value {
        let endpoint = self.client(package).package.endpoint(endpoint);
        let arguments = self.arguments_within(package, endpoint, also, scope);
        value(self.call(package, endpoint, &arguments))
    }

    /// Values for arguments whose names have a meaning; values that must be new are new.
    fn by_name(&self, name: &str) -> Option<Value> {
        let number = self.number.get() + 1;
        self.number.set(number);
        let text = match name {
            "number" => "4242424242424242".to_owned(),
            "expiration_date" => "12/49".to_owned(),
            "security_code" => "123".to_owned(),
            "statement_id" => "stm_01h455vb4pex5vsknk084sn02q".to_owned(),
            "currency" => "THB".to_owned(),
            "amount" => "10000".to_owned(),
            "vault_key" => VAULT_KEY.to_owned(),
            "time_zone" => "Asia/Bangkok".to_owned(),
            "created_at" => "today".to_owned(),
            "last_digits" => "4242".to_owned(),
            "identifier" => format!("https://shop{number}.example"),
            "email" | "customer_email" => format!("person{number}@walk.example"),
            "external_id" | "customer_id" | "key" => format!("walk-{number}"),
            "destination_url" => "http://127.0.0.1:1/events".to_owned(),
            "metadata" => return Some(json!([number])),
            // No payment of the walk expires, so that no delivery changes a list between two reads.
            "events" => return Some(json!(["PAYMENT_EXPIRED"])),
            "since" => return Some(json!(0)),
            "expires_at" => return Some(json!(4_102_444_800_u64)),
            "to" => return Some(json!(jiff::Timestamp::now().as_second() + 3_600)),
            _ => return None,
        };
        Some(text.into())
    }
}

/// The address of the package of a name.
pub(super) fn address(server: &Server, package: &str) -> String {
    let base = if package == "admin" { server.admin_address() } else { server.public() };
    format!("{base}/{package}")
}

fn place(package: &str) -> usize {
    PACKAGES.iter().position(|known| *known == package).expect("it is one of the three")
}

/// The source of an argument: one of the same package is preferred.
fn source_of(package: &str, argument: &str) -> Option<&'static Source> {
    let of_argument = || SOURCES.iter().filter(|source| source.argument == argument);
    of_argument().find(|source| source.package == package).or_else(|| of_argument().next())
}

fn by_type(argument: &Member) -> Value {
    match argument.types[0].as_str() {
        "string.email" => json!("someone@walk.example"),
        "string.phone" => json!("+66812345678"),
        "string.url" => json!("https://shop.example/done"),
        name if name.starts_with("string") => json!("walk"),
        name if name.starts_with("number") => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        _ => json!({}),
    }
}
