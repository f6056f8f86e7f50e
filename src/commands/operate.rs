//! The operator's calls as commands.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::admin_client::AdminClient;
use super::exit_code::ExitCode;
use super::finding::{FindKey, ListKeys, NamedKey, PageOptions, PaymentCall, Table};
use super::progress::print;
use crate::configuration::{Configuration, Secrets};

/// A call to a running server's admin listener.
#[derive(Debug, Subcommand)]
pub enum OperatorCall {
    /// Merchants
    #[command(subcommand)]
    Merchant(MerchantCall),
    /// Test clocks of merchants
    #[command(subcommand)]
    Clock(ClockCall),
    /// API keys
    #[command(subcommand)]
    Key(KeyCall),
    /// Payments of any merchant
    #[command(subcommand)]
    Payment(PaymentCall),
    /// Installations of the SDK
    #[command(subcommand)]
    Installation(InstallationCall),
    /// Payment methods of a merchant
    #[command(subcommand)]
    PaymentMethod(PaymentMethodCall),
    /// Balances
    #[command(subcommand)]
    Balance(BalanceCall),
    /// Top-ups
    #[command(subcommand)]
    Topup(TopupCall),
    /// Invoices
    #[command(subcommand)]
    Invoice(InvoiceCall),
    /// Payouts that wait for the sandbox
    #[command(subcommand)]
    Payout(PayoutCall),
    /// Disputes about payments of the sandbox
    #[command(subcommand)]
    Dispute(DisputeCall),
    /// Refunds that wait for the sandbox
    #[command(subcommand)]
    Refund(RefundCall),
    /// Has a restored server call acquirers and fire timers from now on
    Resume,
    /// Makes the server read its admin token and certificates again
    Reload,
}

/// Calls about merchants.
#[derive(Debug, Subcommand)]
pub enum MerchantCall {
    /// Creates a merchant and prints its id
    Create {
        /// Its name
        #[arg(long)]
        name: String,
        /// Its currency (ISO 4217)
        #[arg(long)]
        currency: String,
        /// Its time zone (IANA)
        #[arg(long)]
        time_zone: Option<String>,
        /// Seconds for which a captured amount is held before it is available
        #[arg(long)]
        settlement_delay_seconds: Option<u64>,
        /// The e-mail address by which its activity names the operator
        #[arg(long)]
        support_email: Option<String>,
        /// Takes identifiers and metadata that look like card numbers
        #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set)]
        card_numbers_in_identifiers: Option<bool>,
        /// Gives it a test clock, which `till clock advance` moves forward
        #[arg(long)]
        test_clock: bool,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Changes the settings of a merchant
    Update {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// Takes identifiers and metadata that look like card numbers
        #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set)]
        card_numbers_in_identifiers: Option<bool>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Prints a merchant
    Find(OneMerchant),
    /// Prints a page of merchants
    List {
        #[command(flatten)]
        page: PageOptions,
    },
    /// Refuses the merchant's calls that change something
    Suspend(ChangeMerchant),
    /// Accepts a suspended merchant's calls again
    Resume(ChangeMerchant),
}

/// Calls about test clocks.
#[derive(Debug, Subcommand)]
pub enum ClockCall {
    /// Advances a merchant's test clock and lets everything happen that is due by then
    Advance {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// The merchant's time from then on, in Unix seconds; at most 400 days from its present one
        #[arg(long)]
        to: u64,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Calls about API keys.
#[derive(Debug, Subcommand)]
pub enum KeyCall {
    /// Makes a key and prints it, which happens only once
    Generate {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// The key's name
        #[arg(long)]
        name: String,
        /// The time at which it expires, in Unix seconds
        #[arg(long)]
        expires_at: Option<i64>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Revokes a key at once
    Revoke {
        /// Its merchant [default: the one that has the key]
        #[arg(long)]
        merchant_id: Option<String>,
        #[command(flatten)]
        key: NamedKey,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Finds a key by its uid, with its merchant
    Find(FindKey),
    /// Lists the keys of a merchant
    List(ListKeys),
}

/// Calls about installations.
#[derive(Debug, Subcommand)]
pub enum InstallationCall {
    /// Adds an installation and prints its id
    Add {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// Its name
        #[arg(long)]
        name: String,
        /// WEB, IOS, ANDROID or TERMINAL
        #[arg(long)]
        platform: String,
        /// The origin for WEB, such as https://shop.example; else the application's identifier
        #[arg(long)]
        identifier: String,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Prints a page of a merchant's installations
    List {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        #[command(flatten)]
        page: PageOptions,
    },
    /// Changes an installation's name, identifier or both
    Update {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// The installation
        #[arg(long)]
        installation_id: String,
        /// Its name from now on
        #[arg(long)]
        name: Option<String>,
        /// Its identifier from now on
        #[arg(long)]
        identifier: Option<String>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Removes an installation for good
    Remove {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// The installation
        #[arg(long)]
        installation_id: String,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Calls about payment methods.
#[derive(Debug, Subcommand)]
pub enum PaymentMethodCall {
    /// Sets how a merchant takes a payment method
    Configure {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// Such as CARD
        #[arg(long)]
        payment_method: String,
        /// Such as sandbox
        #[arg(long)]
        acquirer: String,
        /// True when the method is offered
        #[arg(long, action = clap::ArgAction::Set)]
        enabled: bool,
        /// True when it can authorize without capturing
        #[arg(long, action = clap::ArgAction::Set)]
        authorizes_without_capture: bool,
        /// The fee's part of the amount, in hundredths of a per cent
        #[arg(long)]
        fee_basis_points: Option<u32>,
        /// The fee's fixed part, in minor units
        #[arg(long)]
        fee_fixed: Option<u64>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Calls about balances.
#[derive(Debug, Subcommand)]
pub enum BalanceCall {
    /// Opens a merchant's balance
    Open(ChangeMerchant),
}

/// Calls about top-ups.
#[derive(Debug, Subcommand)]
pub enum TopupCall {
    /// Adds money to a balance and prints the top-up's id
    Add {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// Minor units
        #[arg(long)]
        amount: String,
        /// Your own reference; the same one twice is refused
        #[arg(long)]
        external_id: Option<String>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Calls about invoices.
#[derive(Debug, Subcommand)]
pub enum InvoiceCall {
    /// Charges an invoice to a balance and prints its id
    Charge {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// Minor units
        #[arg(long)]
        amount: String,
        /// Your own reference; the same one twice is refused
        #[arg(long)]
        external_id: Option<String>,
        /// The description
        #[arg(long)]
        description: Option<String>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Calls about payouts.
#[derive(Debug, Subcommand)]
pub enum PayoutCall {
    /// Has the sandbox pay a payout that is pending
    Complete(OnePayout),
    /// Has the sandbox refuse a payout that is pending
    Fail(OnePayout),
}

/// Names a payout.
#[derive(Debug, Args)]
pub struct OnePayout {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
    /// The payout
    #[arg(long)]
    payout_id: String,
    #[command(flatten)]
    idempotency: IdempotencyOption,
}

/// Calls about disputes.
#[derive(Debug, Subcommand)]
pub enum DisputeCall {
    /// Opens a dispute about a captured payment and prints its id
    Open {
        /// The merchant
        #[arg(long)]
        merchant_id: String,
        /// The payment, by its id or the merchant's own
        #[arg(long)]
        payment_id: String,
        /// The amount in minor units [default: all that is left]
        #[arg(long)]
        amount: Option<u64>,
        /// The provider's reason
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Escalates a dispute to the card scheme
    Escalate {
        /// The dispute
        #[command(flatten)]
        dispute: OneDispute,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
    /// Decides a dispute
    Close {
        /// The dispute
        #[command(flatten)]
        dispute: OneDispute,
        /// WON, for the merchant, or LOST, for the customer
        #[arg(long)]
        outcome: String,
        #[command(flatten)]
        idempotency: IdempotencyOption,
    },
}

/// Names a dispute.
#[derive(Debug, Args)]
pub struct OneDispute {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
    /// The dispute
    #[arg(long)]
    dispute_id: String,
}

/// Calls about refunds.
#[derive(Debug, Subcommand)]
pub enum RefundCall {
    /// Has the sandbox pay a refund that is pending
    Complete(OneRefund),
    /// Has the sandbox refuse a refund that is pending
    Fail(OneRefund),
}

/// Names a refund.
#[derive(Debug, Args)]
pub struct OneRefund {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
    /// The refund
    #[arg(long)]
    refund_id: String,
    #[command(flatten)]
    idempotency: IdempotencyOption,
}

/// The name of a merchant.
#[derive(Debug, Args)]
pub struct OneMerchant {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
}

/// A change of a merchant.
#[derive(Debug, Args)]
pub struct ChangeMerchant {
    /// The merchant
    #[arg(long)]
    merchant_id: String,
    #[command(flatten)]
    idempotency: IdempotencyOption,
}

/// An idempotency key, so that a call that changes something can be repeated.
#[derive(Debug, Args)]
pub struct IdempotencyOption {
    /// A call with the same key and the same values is carried out only once
    #[arg(long)]
    idempotency_key: Option<String>,
}

/// The endpoint of a call, its body and its idempotency key.
type AdminRequest<'a> = (&'static str, Value, Option<&'a str>);

impl OperatorCall {
    /// The endpoint to call, its body, and the idempotency key when one is given.
    #[must_use]
    pub fn request(&self) -> AdminRequest<'_> {
        match self {
            OperatorCall::Merchant(call) => call.request(),
            OperatorCall::Clock(ClockCall::Advance { merchant_id, to, idempotency }) => {
                ("advance-clock", json!({ "merchant_id": merchant_id, "to": to }), idempotency.key())
            }
            OperatorCall::Key(call) => call.request(),
            OperatorCall::Payment(PaymentCall::Find(find)) => ("find-payments", find.body(), None),
            OperatorCall::Resume => ("resume-effects", json!({}), None),
            OperatorCall::Reload => ("reload", json!({}), None),
            OperatorCall::Installation(call) => call.request(),
            OperatorCall::PaymentMethod(call) => call.request(),
            OperatorCall::Balance(BalanceCall::Open(merchant)) => merchant.request("open-balance"),
            OperatorCall::Invoice(call) => call.request(),
            OperatorCall::Payout(PayoutCall::Complete(payout)) => payout.request("complete-payout"),
            OperatorCall::Payout(PayoutCall::Fail(payout)) => payout.request("fail-payout"),
            OperatorCall::Dispute(call) => call.request(),
            OperatorCall::Refund(RefundCall::Complete(refund)) => refund.request("complete-refund"),
            OperatorCall::Refund(RefundCall::Fail(refund)) => refund.request("fail-refund"),
            OperatorCall::Topup(TopupCall::Add { merchant_id, amount, external_id, idempotency }) => (
                "add-topup",
                json!({ "merchant_id": merchant_id, "amount": amount, "external_id": external_id }),
                idempotency.key(),
            ),
        }
    }
}

impl OperatorCall {
    /// True for a call about a key that does not name the key's merchant.
    const fn leaves_owner_out(&self) -> bool {
        matches!(self, OperatorCall::Key(KeyCall::Revoke { merchant_id: None, .. }))
    }

    /// The table that shows the answer to people; none when the answer is printed as it is.
    fn table(&self) -> Option<Table> {
        match self {
            OperatorCall::Payment(PaymentCall::Find(find)) => find.table(),
            OperatorCall::Key(KeyCall::Find(find)) => find.table(),
            OperatorCall::Key(KeyCall::List(list)) => list.table(),
            _ => None,
        }
    }
}

impl MerchantCall {
    fn request(&self) -> AdminRequest<'_> {
        match self {
            MerchantCall::Create {
                name,
                currency,
                time_zone,
                settlement_delay_seconds,
                support_email,
                card_numbers_in_identifiers,
                test_clock,
                idempotency,
            } => {
                let body = json!({
                    "name": name,
                    "currency": currency,
                    "time_zone": time_zone,
                    "settlement_delay_seconds": settlement_delay_seconds,
                    "support_email": support_email,
                    "card_numbers_in_identifiers": card_numbers_in_identifiers,
                    "test_clock": test_clock.then_some(true),
                });
                ("create-merchant", body, idempotency.key())
            }
            MerchantCall::Update { merchant_id, card_numbers_in_identifiers, idempotency } => {
                let body = json!({
                    "merchant_id": merchant_id,
                    "card_numbers_in_identifiers": card_numbers_in_identifiers,
                });
                ("update-merchant", body, idempotency.key())
            }
            MerchantCall::Find(OneMerchant { merchant_id }) => {
                ("find-merchant", json!({ "merchant_id": merchant_id }), None)
            }
            MerchantCall::List { page: PageOptions { per_page, after, before } } => {
                ("list-merchants", json!({ "per_page": per_page, "after": after, "before": before }), None)
            }
            MerchantCall::Suspend(merchant) => merchant.request("suspend-merchant"),
            MerchantCall::Resume(merchant) => merchant.request("resume-merchant"),
        }
    }
}

impl KeyCall {
    fn request(&self) -> AdminRequest<'_> {
        match self {
            KeyCall::Generate { merchant_id, name, expires_at, idempotency } => (
                "generate-key",
                json!({ "merchant_id": merchant_id, "name": name, "expires_at": expires_at }),
                idempotency.key(),
            ),
            KeyCall::Revoke { merchant_id, key, idempotency } => {
                ("revoke-key", json!({ "merchant_id": merchant_id, "key_id": key.id() }), idempotency.key())
            }
            KeyCall::Find(find) => ("find-key", find.body(), None),
            KeyCall::List(list) => ("list-keys", list.body(), None),
        }
    }
}

impl InstallationCall {
    fn request(&self) -> AdminRequest<'_> {
        match self {
            InstallationCall::Add { merchant_id, name, platform, identifier, idempotency } => {
                let body =
                    json!({ "merchant_id": merchant_id, "name": name, "platform": platform, "identifier": identifier });
                ("add-installation", body, idempotency.key())
            }
            InstallationCall::List { merchant_id, page: PageOptions { per_page, after, before } } => {
                let body =
                    json!({ "merchant_id": merchant_id, "per_page": per_page, "after": after, "before": before });
                ("list-installations", body, None)
            }
            InstallationCall::Update { merchant_id, installation_id, name, identifier, idempotency } => {
                let body = json!({
                    "merchant_id": merchant_id,
                    "installation_id": installation_id,
                    "name": name,
                    "identifier": identifier,
                });
                ("update-installation", body, idempotency.key())
            }
            InstallationCall::Remove { merchant_id, installation_id, idempotency } => {
                let body = json!({ "merchant_id": merchant_id, "installation_id": installation_id });
                ("remove-installation", body, idempotency.key())
            }
        }
    }
}

impl PaymentMethodCall {
    fn request(&self) -> AdminRequest<'_> {
        let PaymentMethodCall::Configure {
            merchant_id,
            payment_method,
            acquirer,
            enabled,
            authorizes_without_capture,
            fee_basis_points,
            fee_fixed,
            idempotency,
        } = self;
        let body = json!({
            "merchant_id": merchant_id,
            "payment_method": payment_method,
            "acquirer": acquirer,
            "enabled": enabled,
            "authorizes_without_capture": authorizes_without_capture,
            "fee_basis_points": fee_basis_points,
            "fee_fixed": fee_fixed,
        });
        ("configure-payment-method", body, idempotency.key())
    }
}

impl InvoiceCall {
    fn request(&self) -> AdminRequest<'_> {
        let InvoiceCall::Charge { merchant_id, amount, external_id, description, idempotency } = self;
        let body = json!({
            "merchant_id": merchant_id,
            "amount": amount,
            "external_id": external_id,
            "description": description,
        });
        ("charge-invoice", body, idempotency.key())
    }
}

impl OnePayout {
    fn request(&self, endpoint: &'static str) -> AdminRequest<'_> {
        let body = json!({ "merchant_id": self.merchant_id, "payout_id": self.payout_id });
        (endpoint, body, self.idempotency.key())
    }
}

impl DisputeCall {
    fn request(&self) -> AdminRequest<'_> {
        match self {
            DisputeCall::Open { merchant_id, payment_id, amount, reason, idempotency } => {
                let body = json!({
                    "merchant_id": merchant_id,
                    "payment_id": payment_id,
                    "amount": amount,
                    "reason": reason,
                });
                ("open-dispute", body, idempotency.key())
            }
            DisputeCall::Escalate { dispute: OneDispute { merchant_id, dispute_id }, idempotency } => {
                ("escalate-dispute", json!({ "merchant_id": merchant_id, "dispute_id": dispute_id }), idempotency.key())
            }
            DisputeCall::Close { dispute: OneDispute { merchant_id, dispute_id }, outcome, idempotency } => {
                let body = json!({ "merchant_id": merchant_id, "dispute_id": dispute_id, "outcome": outcome });
                ("close-dispute", body, idempotency.key())
            }
        }
    }
}

impl OneRefund {
    fn request(&self, endpoint: &'static str) -> AdminRequest<'_> {
        let body = json!({ "merchant_id": self.merchant_id, "refund_id": self.refund_id });
        (endpoint, body, self.idempotency.key())
    }
}

impl ChangeMerchant {
    fn request(&self, endpoint: &'static str) -> AdminRequest<'_> {
        (endpoint, json!({ "merchant_id": self.merchant_id }), self.idempotency.key())
    }
}

impl IdempotencyOption {
    fn key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }
}

/// Makes the call and prints the answer: a bare id as it is, a table of what is found, anything else as JSON. A reload that
/// kept a file has failed, so that the program that renewed the file notices.
pub(super) fn operate(configuration: &Configuration, call: &OperatorCall) -> anyhow::Result<ExitCode> {
    let client = AdminClient::of(configuration, Secrets::find_admin_token(configuration)?)?;
    let (endpoint, mut body, idempotency_key) = call.request();
    if call.leaves_owner_out() {
        let key = client.call_admin("find-key", &json!({ "key_id": body["key_id"] }), None)?;
        body["merchant_id"] = key["merchant_id"].clone();
    }
    let answer = client.call_admin(endpoint, &body, idempotency_key)?;
    let has_kept_a_file = answer["kept"].as_array().is_some_and(|kept| !kept.is_empty());
    match (answer, call.table()) {
        (answer, Some(table)) => print(&table(&answer)),
        (Value::String(text), None) => print(&text),
        (answer, None) => print(&serde_json::to_string_pretty(&answer)?),
    };
    Ok(if has_kept_a_file { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::commands::Arguments;
    use crate::commands::arguments::TillCommand;

    fn request(line: &str) -> (String, Value, Option<String>) {
        let arguments = Arguments::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{error}"));
        let TillCommand::Operate(call) = arguments.command else { panic!("not a call of the operator") };
        let (endpoint, body, key) = call.request();
        (endpoint.to_owned(), body, key.map(str::to_owned))
    }

    #[test]
    fn every_command_calls_its_endpoint() {
        for (line, endpoint) in [
            ("till merchant create --name A --currency THB", "create-merchant"),
            ("till merchant update --merchant-id mer_1 --card-numbers-in-identifiers true", "update-merchant"),
            ("till merchant find --merchant-id mer_1", "find-merchant"),
            ("till merchant list", "list-merchants"),
            ("till merchant suspend --merchant-id mer_1", "suspend-merchant"),
            ("till merchant resume --merchant-id mer_1", "resume-merchant"),
            ("till clock advance --merchant-id mer_1 --to 1767225600", "advance-clock"),
            ("till key generate --merchant-id mer_1 --name A", "generate-key"),
            ("till key revoke --merchant-id mer_1 --key-id key_1", "revoke-key"),
            ("till key revoke key_1", "revoke-key"),
            ("till key find key_1", "find-key"),
            ("till key list --merchant-id mer_1", "list-keys"),
            ("till payment find --external-id order-1", "find-payments"),
            ("till installation add --merchant-id mer_1 --name A --platform WEB --identifier a.b", "add-installation"),
            ("till installation list --merchant-id mer_1 --per-page 5", "list-installations"),
            ("till installation update --merchant-id mer_1 --installation-id ins_1 --name A", "update-installation"),
            ("till installation remove --merchant-id mer_1 --installation-id ins_1", "remove-installation"),
            (
                "till payment-method configure --merchant-id mer_1 --payment-method CARD --acquirer sandbox --enabled true --authorizes-without-capture false",
                "configure-payment-method",
            ),
            ("till balance open --merchant-id mer_1", "open-balance"),
            ("till topup add --merchant-id mer_1 --amount 100", "add-topup"),
            ("till invoice charge --merchant-id mer_1 --amount 100", "charge-invoice"),
            ("till payout complete --merchant-id mer_1 --payout-id pyo_1", "complete-payout"),
            ("till payout fail --merchant-id mer_1 --payout-id pyo_1", "fail-payout"),
            ("till dispute open --merchant-id mer_1 --payment-id pay_1 --amount 5", "open-dispute"),
            ("till dispute escalate --merchant-id mer_1 --dispute-id dsp_1", "escalate-dispute"),
            ("till dispute close --merchant-id mer_1 --dispute-id dsp_1 --outcome WON", "close-dispute"),
            ("till refund complete --merchant-id mer_1 --refund-id rfn_1", "complete-refund"),
            ("till refund fail --merchant-id mer_1 --refund-id rfn_1", "fail-refund"),
            ("till resume", "resume-effects"),
            ("till reload", "reload"),
        ] {
            assert_eq!(request(line).0, endpoint, "{line}");
        }
    }

    #[test]
    fn flags_become_arguments_and_those_left_out_are_null() {
        let (_, body, key) = request(
            "till merchant create --name A --currency THB --time-zone Asia/Bangkok --idempotency-key once --data /d",
        );
        let expected = json!({"name": "A", "currency": "THB", "time_zone": "Asia/Bangkok", "settlement_delay_seconds": null, "support_email": null, "card_numbers_in_identifiers": null, "test_clock": null});
        assert_eq!((body, key.as_deref()), (expected, Some("once")));
    }
}
