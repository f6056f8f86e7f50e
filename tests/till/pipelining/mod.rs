//! Several calls in one request, in which later ones refer to what earlier ones answered: contract, section 1.

mod discovery;
mod references;
mod refusals;
mod steps;

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Client, Server, Shop};

/// A merchant, and the public listener of its server.
struct PipelineCaller {
    server: Server,
    shop: Shop,
}

impl PipelineCaller {
    fn arrive() -> PipelineCaller {
        PipelineCaller::on(Server::start())
    }

    fn on(server: Server) -> PipelineCaller {
        let shop = server.shop();
        PipelineCaller { server, shop }
    }

    /// A call of one of the merchant's endpoints.
    fn step(&self, endpoint: &str, body: Value) -> Value {
        step(self.server.public(), &format!("/merchants/{endpoint}"), body)
    }

    /// A call of one of the device's endpoints.
    fn sdk(&self, endpoint: &str, body: &Value) -> Value {
        step(self.server.public(), &format!("/sdk/{endpoint}"), self.shop.named(body))
    }

    /// Runs the steps with the merchant's key.
    fn run(&self, steps: &[Value]) -> ApiAnswer {
        run(&self.shop.client(), steps)
    }

    /// Runs the steps, and answers the value at the path.
    fn run_for(&self, returns: &str, steps: &[Value]) -> ApiAnswer {
        self.shop.client().post("/merchants/pipeline", &json!({ "steps": steps, "returns": returns }))
    }

    /// Stores a value under a key, by a separate call.
    fn keep(&self, key: &str, value: &Value) {
        self.shop.call("sync-metadata", &json!({ "key": key, "metadata": value })).ok();
    }

    /// The value that is stored under a key; null when there is none.
    fn kept(&self, key: &str) -> Value {
        let answer = self.shop.call("retrieve-metadata", &json!({ "key": key, "data_only": true }));
        if answer.status == 200 { answer.body } else { Value::Null }
    }

    /// A step that stores a value under a key.
    fn keeping(&self, key: &str, value: &Value) -> Value {
        self.step("sync-metadata", json!({ "key": key, "metadata": value }))
    }

    /// A step that answers the value under a key.
    fn finding(&self, key: &str) -> Value {
        self.step("retrieve-metadata", json!({ "key": key, "data_only": true }))
    }
}

fn step(base: &str, path: &str, body: Value) -> Value {
    json!({ "url": format!("{base}{path}"), "body": body })
}

/// The step with these headers.
fn with_headers(step: &Value, headers: Value) -> Value {
    let mut step = step.clone();
    step["headers"] = headers;
    step
}

fn run(client: &Client, steps: &[Value]) -> ApiAnswer {
    client.post("/merchants/pipeline", &json!({ "steps": steps }))
}
