//! The receiver: judges each delivery, prints it, posts it on and answers.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::thread;

use actix_web::http::header::{ALLOW, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Bytes, Data, PayloadConfig};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::ListenArguments;
use super::event_line::{Colours, line};
use super::forwarding::{Forwarding, forwarded};
use super::judgement::{Judgement, Keys};
use crate::commands::ExitCode;
use crate::commands::progress::say;
use crate::process::logging::wants_colours;

/// The limit of bytes of a body. Bodies of events are far smaller.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Receives deliveries until a signal ends it.
pub(super) fn listen(address: SocketAddr, arguments: &ListenArguments) -> anyhow::Result<()> {
    let receiver = Data::new(DeliveryReceiver::of(arguments)?);
    let listener = TcpListener::bind(address)
        .with_context(|| format!("failed to listen on {address}; --listen names another address"))?;
    end_at_signals()?;
    receiver.output.introduce(&introduction(listener.local_addr()?, &receiver.keys));
    let app = move || {
        let limit = PayloadConfig::new(BODY_BYTES_MAX);
        App::new().app_data(Data::clone(&receiver)).app_data(limit).default_service(web::to(receive))
    };
    let server = HttpServer::new(app).workers(1).disable_signals().listen(listener)?;
    actix_web::rt::System::new().block_on(server.run()).context("failed to receive")
}

/// Ends the process at once at a signal: it holds no state that must be saved.
fn end_at_signals() -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("failed to listen for signals")?;
    let wait = move || {
        if signals.forever().next().is_some() {
            ExitCode::SUCCESS.end_process();
        }
    };
    thread::Builder::new().name("till-signals".to_owned()).spawn(wait).context("failed to listen for signals")?;
    Ok(())
}

/// The printed address, and the next things to do.
fn introduction(address: SocketAddr, keys: &Keys) -> String {
    let unverified = if keys.is_empty() {
        "\nNothing is verified: give the secret that connect-webhook answers with --secret or TILL_WEBHOOK_SECRET.\n"
    } else {
        ""
    };
    format!(
        r#"Listening on http://{address}
{unverified}
The server must be started with TILL_WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8, as make run does, to deliver to this machine.
Connect it to a merchant, with the variables TILL and KEY of the first session that make run prints:

curl -sS "$TILL/merchants/connect-webhook" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{{"name":"Listener","destination_url":"http://{address}","events":["*"]}}'

"#
    )
}

/// The settings by which deliveries are judged, shown and posted on.
struct DeliveryReceiver {
    keys: Keys,
    forwarding: Option<Forwarding>,
    output: Output,
}

/// The form in which deliveries are shown.
#[derive(Clone, Copy)]
enum Output {
    /// One line each for a person.
    Lines(Colours),
    Bodies,
}

impl DeliveryReceiver {
    fn of(arguments: &ListenArguments) -> anyhow::Result<DeliveryReceiver> {
        let colours = if wants_colours(&std::io::stdout()) { Colours::On } else { Colours::Off };
        Ok(DeliveryReceiver {
            keys: Keys::of_arguments(arguments)?,
            forwarding: arguments.forward_to.as_deref().map(Forwarding::parse).transpose()?,
            output: if arguments.json { Output::Bodies } else { Output::Lines(colours) },
        })
    }

    /// Posts a delivery on when a program is configured, and returns the answer for its sender.
    async fn answer(&self, headers: &HeaderMap, body: &Bytes) -> DeliveryResponse {
        let Some(forwarding) = self.forwarding.clone() else {
            return DeliveryResponse { status: StatusCode::NO_CONTENT, sentence: String::new() };
        };
        let (headers, body) = (forwarded(headers), body.clone());
        let posted = web::block(move || forwarding.post(&headers, &body)).await;
        match posted.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(status) => DeliveryResponse::passed_back(status),
            Err(sentence) => DeliveryResponse { status: StatusCode::BAD_GATEWAY, sentence },
        }
    }
}

impl Output {
    fn introduce(self, text: &str) {
        match self {
            Output::Lines(_) => print(text.as_bytes()),
            Output::Bodies => say(text.trim_end()),
        }
    }

    /// Shows a delivery. Refused ones are not printed for programs, which must not act on them.
    fn show(self, body: &[u8], judgement: &Judgement, more: &str) {
        match (self, judgement) {
            (Output::Lines(colours), _) => print(format!("{}{more}\n", line(body, judgement, colours)).as_bytes()),
            (Output::Bodies, Judgement::Refused(_)) => say(&line(body, judgement, Colours::Off)),
            (Output::Bodies, Judgement::Verified | Judgement::NotVerified) => print(&one_line(body)),
        }
    }
}

/// The body and a line feed. Line feeds in JSON only separate tokens, so a space can replace them.
fn one_line(body: &[u8]) -> Vec<u8> {
    let is_end = |byte: u8| matches!(byte, b'\n' | b'\r');
    let words = body.iter().map(|&byte| if is_end(byte) { b' ' } else { byte });
    words.chain([b'\n']).collect()
}

fn print(bytes: &[u8]) {
    let mut output = std::io::stdout().lock();
    // A reader that closed the pipe needs no more output.
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

/// The answer to a delivery.
struct DeliveryResponse {
    status: StatusCode,
    sentence: String,
}

impl DeliveryResponse {
    /// The answer with the status of the program that a delivery was posted on to.
    fn passed_back(status: u16) -> DeliveryResponse {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        DeliveryResponse { status, sentence: String::new() }
    }

    fn response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        if self.sentence.is_empty() { response.finish() } else { response.body(self.sentence + "\n") }
    }
}

async fn receive(
    receiver: Data<DeliveryReceiver>,
    request: HttpRequest,
    body: Result<Bytes, actix_web::Error>,
) -> HttpResponse {
    if request.method() != Method::POST {
        return HttpResponse::MethodNotAllowed().insert_header((ALLOW, "POST")).body("Deliveries are posted.\n");
    }
    let body = match body {
        Ok(body) => body,
        Err(error) => {
            let (status, sentence) = (error.as_response_error().status_code(), error.to_string());
            say(&format!("refused: {sentence}"));
            return DeliveryResponse { status, sentence }.response();
        }
    };
    let judgement = receiver.keys.judge(request.headers(), &body);
    if let Judgement::Refused(reason) = &judgement {
        receiver.output.show(&body, &judgement, "");
        return DeliveryResponse { status: StatusCode::BAD_REQUEST, sentence: format!("{reason}.") }.response();
    }
    let answer = receiver.answer(request.headers(), &body).await;
    receiver.output.show(&body, &judgement, &forwarding_note(&receiver, &answer));
    answer.response()
}

/// The printed result of posting a delivery on.
fn forwarding_note(receiver: &DeliveryReceiver, answer: &DeliveryResponse) -> String {
    match (&receiver.forwarding, answer.sentence.as_str()) {
        (None, _) => String::new(),
        (Some(_), "") => format!("  forwarded: {}", answer.status.as_u16()),
        (Some(_), sentence) => format!("  not forwarded: {sentence}"),
    }
}
