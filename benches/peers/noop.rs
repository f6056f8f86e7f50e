//! The ceiling: the rate of the web server when nothing is decided and nothing is stored.

use std::hint::black_box;
use std::time::Duration;

use actix_web::http::header::ContentType;
use actix_web::{App, HttpResponse, HttpServer, web};
use serde::Deserialize;

/// The settings of Till's public listener, in `protocol/src/listener.rs` and `src/configuration/settings.rs`.
const CONNECTIONS_MAX: usize = 8_192;
const HEAD_ARRIVAL_MAX: Duration = Duration::from_secs(10);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// The answer of every call.
const ANSWER: &str = "\"pay_0000000000000000000000\"";

/// The arguments of an initiation.
#[derive(Deserialize)]
#[expect(dead_code, reason = "nothing is checked")]
struct InitiationArguments {
    external_id: Option<String>,
    amount: u64,
    currency: String,
    payment_session_id: String,
    capture: bool,
    return_url: String,
}

/// Serves until the process is ended, and prints its address.
pub(super) fn serve(workers: Option<usize>) -> anyhow::Result<()> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.unwrap_or(processors);
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(|| App::new().default_service(web::to(answer)))
            .workers(workers)
            .max_connections(CONNECTIONS_MAX.div_ceil(workers))
            .client_request_timeout(HEAD_ARRIVAL_MAX)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .keep_alive(KEEP_ALIVE)
            .bind(("127.0.0.1", 0))?;
        for address in server.addrs() {
            println!("listening on http://{address}");
        }
        Ok(server.run().await?)
    })
}

async fn answer(body: web::Bytes) -> HttpResponse {
    match serde_json::from_slice::<InitiationArguments>(&body) {
        Ok(initiate) => {
            black_box(initiate);
            HttpResponse::Ok().content_type(ContentType::json()).body(ANSWER)
        }
        Err(error) => HttpResponse::BadRequest().body(error.to_string()),
    }
}
