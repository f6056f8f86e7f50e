//! A checkout: the shop starts it, and its customer opens the hosted page and pays by card, as the page's script does.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use till_domain::ids::PaymentId;
use url::Url;

use super::amounts::INITIATED_MINOR;
use super::customer::text_of;
use super::flow::token_of;
use super::load_client::LoadClient;
use super::shop::LoadMerchant;
use super::world::RunContext;
use crate::client::page_request;
use crate::recording::{MeasuredStep, Trouble};

/// The longest time that a checkout waits for its payment.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(2);

/// A checkout as its shop finds it.
#[derive(Deserialize)]
struct CheckoutView<'a> {
    status: &'a str,
    payment_id: Option<&'a str>,
}

/// Starts a checkout, pays it, and waits until the shop finds it paid.
pub(super) async fn checkout(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let shop = &world.stock.shops[world.distribution.draw(&mut client.dice)];
    let address = start(shop, client).await?;
    open(world, client, &address).await?;
    let token = token_of(&shop.tokenize_settling, client, MeasuredStep::TokenizeForCheckout).await?;
    let reference = address.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default();
    pay(shop, client, reference, &token).await?;
    until_completed(shop, client, reference.split('.').next().unwrap_or_default()).await?;
    Ok(MeasuredStep::Checkout)
}

async fn start(shop: &LoadMerchant, client: &mut LoadClient) -> Result<Url, Trouble> {
    let start = Instant::now();
    let answer = Trouble::unless_accepted(client.connection.call(&shop.start_checkout).await)?;
    let address = text_of(&answer).and_then(|address| Url::parse(&address).ok());
    let address = address.ok_or_else(|| Trouble::wrong("the address of a checkout", &answer))?;
    client.step(MeasuredStep::StartCheckout, start.elapsed());
    Ok(address)
}

/// Opens the page of the checkout, of the measured server whatever host its address names.
async fn open(world: &RunContext, client: &mut LoadClient, address: &Url) -> Result<(), Trouble> {
    let (start, request) = (Instant::now(), page_request(world.public(), address.path()));
    let answer = client.connection.call(&request).await.map_err(Trouble::of_failure)?;
    match answer.status {
        200 => {}
        429 | 503 => return Err(Trouble::Failed { code: answer.error_code(), excerpt: answer.excerpt() }),
        _ => return Err(Trouble::wrong("the page of a checkout", &answer)),
    }
    client.step(MeasuredStep::OpenCheckout, start.elapsed());
    Ok(())
}

async fn pay(shop: &LoadMerchant, client: &mut LoadClient, reference: &str, token: &str) -> Result<(), Trouble> {
    let mut arguments = shop.installation();
    arguments["checkout_id"] = json!(reference);
    arguments["payment_method"] = json!("CARD");
    arguments["token"] = json!(token);
    let (start, request) = (Instant::now(), shop.pay_checkout.with(&arguments));
    let answer = Trouble::unless_accepted(client.connection.call(&request).await)?;
    if answer.id().is_none_or(|session| !session.starts_with("pse_")) {
        return Err(Trouble::wrong("the session of a checkout", &answer));
    }
    client.step(MeasuredStep::PayCheckout, start.elapsed());
    Ok(())
}

/// Asks for the checkout as the shop does, until it is paid.
async fn until_completed(shop: &LoadMerchant, client: &mut LoadClient, id: &str) -> Result<(), Trouble> {
    let (start, request) = (Instant::now(), shop.find_checkout.with(&json!({ "checkout_id": id })));
    loop {
        let answer = Trouble::unless_accepted(client.connection.call(&request).await)?;
        let found: CheckoutView<'_> =
            serde_json::from_slice(answer.body).map_err(|_| Trouble::wrong("a checkout", &answer))?;
        let payment = found.payment_id.and_then(|id| id.parse::<PaymentId>().ok());
        match (found.status, payment) {
            ("COMPLETED", Some(payment)) if client.recorder.borrow_mut().payment(payment, INITIATED_MINOR) => break,
            ("OPEN", _) if start.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            _ => return Err(Trouble::wrong("a checkout that is paid in time, by a payment of its own", &answer)),
        }
    }
    client.step(MeasuredStep::UntilCompleted, start.elapsed());
    Ok(())
}
