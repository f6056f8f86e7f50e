//! `till trigger`: has the sandbox cause one event for a merchant of a running server.

mod merchant;
mod plan;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use secrecy::SecretString;

use self::merchant::MerchantClient;
use self::plan::plan;
use super::progress::say;
use crate::configuration::Configuration;
use crate::demo;

/// The event to cause, and the merchant.
#[derive(Debug, Args)]
pub(super) struct TriggerArguments {
    /// The event
    #[arg(value_enum)]
    event: Event,
    /// Another merchant than that of `till serve --demo`
    #[command(flatten)]
    merchant: Option<NamedMerchant>,
}

/// A merchant that the command line names.
#[derive(Debug, Args)]
struct NamedMerchant {
    /// An API key of the merchant, sk_... [default: that of the demo merchant]
    #[arg(long, required = false)]
    key: SecretString,
    /// An installation of the merchant [default: that of the demo merchant]
    #[arg(long, required = false)]
    installation_id: String,
    /// The merchant [default: the demo merchant]
    #[arg(long, required = false)]
    merchant_id: String,
}

/// An event that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Event {
    /// A payment is authorized
    PaymentAuthorized,
    /// A payment is captured at once
    PaymentCompleted,
    /// The issuer of a card asks the customer
    PaymentActionRequired,
    /// A payment expires: this would take ten minutes, and is refused
    PaymentExpired,
    /// An authorized payment is voided
    PaymentVoided,
    /// A captured payment is reversed
    PaymentReversed,
    /// A captured payment is refunded
    RefundCompleted,
    /// A capture is refused by the acquirer
    PaymentOperationFailed,
    /// A dispute is opened about a captured payment
    DisputeOpened,
    /// A dispute is opened and conceded
    DisputeClosed,
    /// Money of a payment that settled at once is paid out
    PayoutCompleted,
}

impl Event {
    /// The name by which events are filtered.
    fn name(self) -> String {
        let value = self.to_possible_value().expect("no event is left out");
        value.get_name().to_uppercase()
    }
}

/// Causes the event, and returns it as JSON.
pub(super) fn trigger(configuration: &Configuration, arguments: &TriggerArguments) -> anyhow::Result<String> {
    let event = arguments.event;
    let Some(plan) = plan(event) else {
        bail!(
            "payment_expired cannot be triggered: a payment expires when its customer has not acted for ten minutes, \
                or the acquirer has not answered for an hour; `till trigger payment_action_required` begins the first"
        );
    };
    let merchant = client_of_merchant(configuration, arguments)?;
    let subject = plan.carry_out(&merchant)?;
    let event = merchant.event(&event.name(), &subject)?;
    say("the event, as list-events shows it:");
    Ok(serde_json::to_string_pretty(&event)?)
}

/// The merchant that the command line names, else that of `till serve --demo`.
fn client_of_merchant(configuration: &Configuration, arguments: &TriggerArguments) -> anyhow::Result<MerchantClient> {
    if let Some(NamedMerchant { key, installation_id, merchant_id }) = &arguments.merchant {
        return MerchantClient::new(configuration, merchant_id.clone(), installation_id.clone(), key.clone());
    }
    let data = &configuration.data;
    let demo::Demo { merchant_id, installation_id, api_key } = demo::find(data)?.with_context(|| {
        format!(
            "{} has no demo merchant: start the server with `make run` (till serve --demo), name its data directory \
                with --data, or another merchant with --key, --installation-id and --merchant-id",
            data.display()
        )
    })?;
    MerchantClient::new(configuration, merchant_id, installation_id, api_key.into())
}
