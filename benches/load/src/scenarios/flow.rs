//! A whole payment: card, selection, initiation, capture, and the ledger entry that is settled.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use till_domain::ids::PaymentId;

use super::acknowledged::PaymentView;
use super::amounts::INITIATED_MINOR;
use super::asking::{AskingMethod, CustomerRequests};
use super::customer;
use super::load_client::LoadClient;
use super::sessions::AskingPayment;
use super::shop::{LoadMerchant, initiation};
use super::world::RunContext;
use crate::recording::{MeasuredStep, Trouble};

/// The longest time that a flow waits for its capture and for its entry.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two reads. The runtime's timer counts in milliseconds.
const PAUSE: Duration = Duration::from_millis(2);

/// The most pages of the ledger that are searched for an entry: entries of other flows are newer.
const PAGES_MAX: usize = 20;

/// A page of the ledger.
#[derive(Deserialize)]
struct Ledger<'a> {
    #[serde(borrow)]
    page: Vec<FlowEntry<'a>>,
    next: Option<Value>,
}

#[derive(Deserialize)]
struct FlowEntry<'a> {
    direction: &'a str,
    r#type: &'a str,
    amount: u64,
    status: &'a str,
    #[serde(borrow)]
    payment_id: Option<&'a str>,
}

/// Pays once, from the card on, and waits for the money.
pub(super) async fn flow(world: &RunContext, client: &mut LoadClient) -> Result<MeasuredStep, Trouble> {
    let index = world.distribution.draw(&mut client.dice);
    let shop = &world.stock.shops[index];
    if let Some(customers) = &shop.customers
        && client.dice.happens(world.plan.action_share.unwrap_or_default())
    {
        return flow_with_customer(world, client, index, customers).await;
    }
    let token = token_of(&shop.tokenize_settling, client, MeasuredStep::TokenizeCard).await?;
    let session = select(&shop.select_head.with(&shop.selection_by_card(&token)), client).await?;
    let payment = initiate(shop, client, &session, INITIATED_MINOR).await?;
    until_captured(shop, client, payment).await?;
    until_settled(shop, client, &payment.to_string()).await?;
    Ok(MeasuredStep::Flow)
}

/// Pays once by a method that asks the customer, and waits for the capture. The money is on hold for days.
async fn flow_with_customer(
    world: &RunContext,
    client: &mut LoadClient,
    index: usize,
    customers: &CustomerRequests,
) -> Result<MeasuredStep, Trouble> {
    let shop = &world.stock.shops[index];
    let (method, selection) = customers.draw(&mut client.dice);
    let session = if *method == AskingMethod::Challenge {
        let token = token_of(&customers.tokenize, client, MeasuredStep::TokenizeCard).await?;
        select(&shop.select_head.with(&shop.selection_by_card(&token)), client).await?
    } else {
        select(selection, client).await?
    };
    let id = initiate(shop, client, &session, 0).await?;
    let session = session.as_bytes().try_into();
    let session = session.map_err(|_| Trouble::Wrong("expected a session, got another id".to_owned()))?;
    customer::act(world, client, &AskingPayment { shop: index, session, id, method: *method }).await?;
    until_captured(shop, client, id).await?;
    Ok(MeasuredStep::Flow)
}

/// The token of a card, whose time is recorded as that of the step.
pub(super) async fn token_of(request: &[u8], client: &mut LoadClient, step: MeasuredStep) -> Result<String, Trouble> {
    let start = Instant::now();
    let answer = Trouble::unless_accepted(client.connection.call(request).await)?;
    let token = answer.id().filter(|id| id.starts_with("tok_"));
    let token = token.ok_or_else(|| Trouble::wrong("a token", &answer))?.to_owned();
    client.step(step, start.elapsed());
    Ok(token)
}

async fn select(request: &[u8], client: &mut LoadClient) -> Result<String, Trouble> {
    let start = Instant::now();
    let answer = Trouble::unless_accepted(client.connection.call(request).await)?;
    let session = answer.id().filter(|id| id.starts_with("pse_"));
    let session = session.ok_or_else(|| Trouble::wrong("a session", &answer))?.to_owned();
    client.step(MeasuredStep::SelectPaymentMethod, start.elapsed());
    Ok(session)
}

/// Initiates a payment of which this amount arrives by itself.
async fn initiate(
    shop: &LoadMerchant,
    client: &mut LoadClient,
    session: &str,
    amount_minor: u64,
) -> Result<PaymentId, Trouble> {
    let request = shop.initiate_head.with(&initiation(session, &shop.currency));
    let start = Instant::now();
    let answer = Trouble::unless_accepted(client.connection.call(&request).await)?;
    let payment: PaymentId = Trouble::unless_id("the id of a payment", &answer)?;
    if !client.recorder.borrow_mut().payment(payment, amount_minor) {
        return Err(Trouble::wrong("the id of a new payment", &answer));
    }
    client.step(MeasuredStep::InitiateOfFlow, start.elapsed());
    Ok(payment)
}

/// Reads the payment until it is captured.
async fn until_captured(shop: &LoadMerchant, client: &mut LoadClient, payment: PaymentId) -> Result<(), Trouble> {
    let mut request = Vec::new();
    shop.find.write(payment.to_string().as_bytes(), &mut request);
    let start = Instant::now();
    loop {
        let answer = Trouble::unless_accepted(client.connection.call(&request).await)?;
        let found: PaymentView<'_> =
            serde_json::from_slice(answer.body).map_err(|_| Trouble::wrong("a payment", &answer))?;
        match found.status {
            "SUCCESSFUL" if found.amount_captured == INITIATED_MINOR => break,
            "PENDING" | "AUTHORIZED" if start.elapsed() < PATIENCE => tokio::time::sleep(PAUSE).await,
            _ => return Err(Trouble::wrong("a payment that is captured in time and in full", &answer)),
        }
    }
    client.step(MeasuredStep::UntilCaptured, start.elapsed());
    Ok(())
}

/// Reads the ledger until the payment's entry is effective.
async fn until_settled(shop: &LoadMerchant, client: &mut LoadClient, payment: &str) -> Result<(), Trouble> {
    let start = Instant::now();
    while !is_settled(shop, client, payment).await? {
        if start.elapsed() > PATIENCE {
            return Err(Trouble::Wrong(format!("expected a settled entry of {payment} in the ledger, got none")));
        }
        tokio::time::sleep(PAUSE).await;
    }
    client.step(MeasuredStep::UntilSettled, start.elapsed());
    Ok(())
}

async fn is_settled(shop: &LoadMerchant, client: &mut LoadClient, payment: &str) -> Result<bool, Trouble> {
    let mut body = json!({ "per_page": 25 });
    for _ in 0..PAGES_MAX {
        let request = shop.balance_history.with(&body);
        let answer = Trouble::unless_accepted(client.connection.call(&request).await)?;
        let ledger: Ledger<'_> =
            serde_json::from_slice(answer.body).map_err(|_| Trouble::wrong("a page of entries", &answer))?;
        let is_its_own = |entry: &&FlowEntry<'_>| entry.payment_id == Some(payment) && entry.r#type == "PAYMENT";
        if let Some(entry) = ledger.page.iter().find(is_its_own) {
            return match (entry.direction, entry.amount, entry.status) {
                ("CREDIT", INITIATED_MINOR, "EFFECTIVE") => Ok(true),
                ("CREDIT", INITIATED_MINOR, "ON_HOLD") => Ok(false),
                other => Err(Trouble::Wrong(format!("expected an entry that credits a payment, got {other:?}"))),
            };
        }
        match ledger.next {
            Some(next) => body = next,
            None => break,
        }
    }
    Ok(false)
}
