//! A checkout to open in a browser.

use std::io::Write;

use anyhow::{Context, bail};
use till_domain::checkout::{CHECKOUT_LIFETIME_MAX_SECONDS, CheckoutLine};
use till_domain::command::{Caller, Command, Request, StartCheckout};
use till_domain::customer::CustomerFields;
use till_domain::event::Answer;
use till_domain::ids::MerchantId;
use till_domain::money::{AmountMinor, Money};
use till_domain::session::InterestBearer;
use till_domain::text::{Name, ReturnUrl};

use super::first_session::Reached;
use super::merchant::{CURRENCY, Demo};
use crate::service::Shared;

/// The order: name, minor units of one, quantity.
const ORDER: [(&str, i64, u64); 2] = [("Green tea, 100 g", 19_000, 2), ("Tea pot", 85_000, 1)];

/// The page to which the customer goes afterwards: a demo has no shop, but documents.
const RETURN_PATH: &str = "/docs/";

/// Starts a checkout, and prints its address.
pub(super) async fn start_and_print(service: &Shared, demo: &Demo, reached: &Reached) -> anyhow::Result<()> {
    let merchant_id: MerchantId = demo.merchant_id.parse()?;
    let command = Command::StartCheckout(order(demo, reached)?);
    let request = Request { caller: Caller::Operator, idempotency: None, command };
    let started = service.engine().submit(merchant_id, request, None).await.context("failed to start a checkout")?;
    let Answer::Checkout(checkout_id) = started.answer else { bail!("no checkout was started") };
    let address = reached.address(&service.checkout_path(merchant_id, checkout_id));
    let text = format!(
        "\nA checkout of the demo merchant, to open in a browser. The card 4242 4242 4242 4242 pays, with any date to \
            come and any code:\n\n  {address}\n"
    );
    let _ = std::io::stdout().write_all(text.as_bytes()); // The parent process may not be reading.
    Ok(())
}

fn order(demo: &Demo, reached: &Reached) -> anyhow::Result<StartCheckout> {
    let lines = ORDER
        .into_iter()
        .map(|(name, amount_minor, quantity)| Ok(CheckoutLine { name: Name::new(name)?, amount_minor, quantity }));
    let lines = lines.collect::<anyhow::Result<Vec<CheckoutLine>>>()?;
    let amount = u64::try_from(CheckoutLine::sum_minor(&lines))
        .ok()
        .and_then(AmountMinor::new)
        .context("the sum is out of range")?;
    Ok(StartCheckout {
        installation_id: demo.installation_id.parse()?,
        external_id: None,
        money: Money { amount, currency: CURRENCY.parse()? },
        lines,
        capture: true,
        methods: Vec::new(),
        interest_bearer: InterestBearer::Customer,
        locale: None,
        return_url: ReturnUrl::new(reached.address(RETURN_PATH))?,
        cancel_url: None,
        page_url: None,
        customer: CustomerFields::default(),
        offers_saved_cards: false,
        lifetime_seconds: CHECKOUT_LIFETIME_MAX_SECONDS,
    })
}
