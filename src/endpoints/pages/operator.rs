//! The operator at pages: contract, section 14. A session is a sealed text, which the browser keeps as a cookie; it
//! ends with the admin token that it began with.

use std::sync::Arc;

use serde_json::json;
use till_protocol::dispatch::{Function, endpoint as function};

use super::invitations;
use super::seats::{TEXT, address};
use crate::access::AdminToken;
use crate::endpoints::prelude::*;
use crate::endpoints::{admin, endpoint};
use crate::seats::OperatorSession;
use crate::server_status::EngineObservation;

/// What these calls need of the server.
#[derive(Clone)]
struct Server {
    service: Shared,
    admin_token: Arc<AdminToken>,
    observation: Arc<EngineObservation>,
}

/// The name under which wrong admin tokens are counted. It is no address of a member.
const NAME: &str = "operator";

const TOKEN: Optional<String> = TEXT.with_name("token");
const SESSION: Optional<String> = TEXT.with_name("session");

/// A call that only pages make, and no document has.
const DECLARED: Declaration =
    Declaration { returns: Returns::Any("{}"), ..Declaration::query(Package::Admin, "operator") };

/// Begins a session by the admin token, which is wiped from memory after the call. Answers its cookie.
pub(crate) static OPEN_SESSION: Declaration = Declaration {
    name: "open-session",
    summary: "open-session",
    arguments: &[TOKEN.argument],
    flags: Flags::CARD_INTAKE,
    ..DECLARED
};

/// Answers true for the cookie of a session that goes on.
pub(crate) static FIND_OPERATOR: Declaration = Declaration {
    name: "find-operator",
    summary: "find-operator",
    arguments: &[SESSION.argument],
    flags: Flags::OPEN_QUERY,
    ..DECLARED
};

/// Answers what waits in the server: numbers by name.
pub(crate) static SHOW_QUEUES: Declaration = Declaration { name: "show-queues", summary: "show-queues", ..DECLARED };

/// The functions of these calls.
pub(crate) fn operator_functions(
    service: &Shared,
    admin_token: &Arc<AdminToken>,
    observation: &Arc<EngineObservation>,
) -> Vec<Arc<dyn Function<Operator>>> {
    let mut functions = endpoint::functions(&[invitations::ENDPOINTS], service);
    let (service, admin_token) = (Arc::clone(service), Arc::clone(admin_token));
    let server = Server { service, admin_token, observation: Arc::clone(observation) };
    functions.push(function(&OPEN_SESSION, server.clone(), open_session));
    functions.push(function(&FIND_OPERATOR, server.clone(), find_operator));
    functions.push(function(&SHOW_QUEUES, server, show_queues));
    functions
}

/// The declaration of the call of this name that the operator makes.
pub(crate) fn operator_declared(name: &str) -> Option<&'static Declaration> {
    let of_pages = [&admin::STATUS, &invitations::LIST_USER_INVITATIONS];
    admin::declarations().chain(of_pages).find(|declaration| declaration.name == name)
}

async fn open_session(server: Server, call: Call<Operator>) -> Result<Reply, ApiError> {
    let token = call.fields().parse(&TOKEN)?.unwrap_or_default();
    let (seats, now) = (server.service.seats(), server.service.now());
    seats.attempts().begin(address(&call), NAME)?;
    let wrong = || ApiError::new(Code::InvalidArguments, "The admin token is wrong");
    let digest = server.admin_token.digest_of(&token).ok_or_else(wrong)?;
    seats.attempts().succeeded(address(&call), NAME);
    Ok(Reply::new(&seats.operator_cookie(&OperatorSession::begin(digest, now))?))
}

async fn find_operator(server: Server, call: Call<Operator>) -> Result<Reply, ApiError> {
    let cookie = call.fields().parse(&SESSION)?.unwrap_or_default();
    let session = server.service.seats().operator_session(&cookie, server.service.now());
    let goes_on = session.is_some_and(|session| server.admin_token.is_of_one(&session.token));
    if goes_on { Ok(Reply::new(&true)) } else { Err(ApiError::new(Code::NotFound, "The session is over.")) }
}

async fn show_queues(server: Server, _: Call<Operator>) -> Result<Reply, ApiError> {
    let engine = server.service.engine();
    let (commits, calls) = (engine.commit_stats(), server.observation.calls());
    Ok(Reply::new(&json!({
        "calls_worked_on": calls.in_flight,
        "calls_waiting": calls.waiting,
        "commits_queued": commits.queued(),
        "calls_to_acquirers_open": engine.open_effects().count,
        "deliveries_waiting": engine.webhook_lag().0,
    })))
}
