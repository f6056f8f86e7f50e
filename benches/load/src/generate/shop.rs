//! A merchant that is ready to trade: its keys, its installation, its balance, and cards to pay with.

use std::collections::BTreeMap;

use anyhow::bail;
use till_actors::{BulkLoader, BulkMerchant, Secret};
use till_domain::card::{CardExpiry, TokenUsage};
use till_domain::command::{AddInstallation, Caller, Command, CreateMerchant, Request, TokenizeCard};
use till_domain::event::Answer;
use till_domain::ids::{InstallationId, KeyId, MerchantId, TokenId};
use till_domain::merchant::{Integration, PaymentMethod, Platform, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::money::FeeRate;
use till_domain::text::{Email, HolderName, InstallationIdentifier, Name, TimeZone};
use till_domain::time::Millis;
use till_storage::vault::{CardNumber, Keyring};

use till::endpoints::admin::fresh_merchant_id;
use till::endpoints::sdk::card_facts;
use till::endpoints::{fresh_key, key_of};
use till::protocol::version::ApiVersion;

/// The merchants' currency.
pub(super) const CURRENCY: &str = "THB";
/// API keys of each merchant.
const KEYS: usize = 4;
/// Test cards that the sandbox approves.
pub(super) const GOOD_CARDS: [&str; 4] =
    ["4242424242424242", "5555555555554444", "378282246310005", "3566002020360505"];
/// Test cards that it declines.
pub(super) const BAD_CARDS: [&str; 3] = ["4000000000000002", "4000000000009995", "4000000000000069"];
/// What the merchants pay for each payment: 2.9 %.
const FEE: FeeRate = FeeRate { basis_points: 290, fixed_minor: 0 };

/// A merchant that is filled, and what its calls name.
pub(super) struct Shop<'a> {
    pub(super) merchant_id: MerchantId,
    merchant: BulkMerchant<'a>,
    pub(super) keys: Vec<KeyId>,
    installation_id: InstallationId,
    keyring: &'a Keyring,
    /// Tokens for any number of payments, by the digits of their cards.
    tokens: BTreeMap<&'static str, TokenId>,
}

impl<'a> Shop<'a> {
    /// Opens one at an instant.
    pub(super) fn open(
        loader: &'a BulkLoader,
        keyring: &'a Keyring,
        number: u64,
        at: Millis,
    ) -> anyhow::Result<Shop<'a>> {
        let merchant_id = fresh_merchant_id(at);
        let mut opening = Opening { merchant: loader.merchant(merchant_id)?, merchant_id, keyring, at };
        opening.merchant(number)?;
        let keys = (0..KEYS).map(|number| opening.key(number)).collect::<anyhow::Result<_>>()?;
        let installation_id = opening.installation()?;
        let tokens = BTreeMap::new();
        Ok(Shop { merchant_id, merchant: opening.merchant, keys, installation_id, keyring, tokens })
    }

    /// The token of a card, made when the card is first used: one with which nobody pays ends after a while.
    pub(super) fn token(&mut self, digits: &'static str, at: Millis) -> anyhow::Result<TokenId> {
        if let Some(token) = self.tokens.get(digits) {
            return Ok(*token);
        }
        let token = self.tokenize(digits, at)?;
        // Calls read the cards' numbers where they are stored.
        self.wait_until_durable()?;
        self.tokens.insert(digits, token);
        Ok(token)
    }

    fn tokenize(&mut self, digits: &str, at: Millis) -> anyhow::Result<TokenId> {
        let number = CardNumber::parse(digits)?;
        let (holder, expiry) = (HolderName::new("Ada Example")?, CardExpiry { year: 2099, month: 12 });
        let card = card_facts(self.keyring, self.merchant_id, &number, holder, expiry);
        let command = Command::TokenizeCard(TokenizeCard { card, usage: TokenUsage::Multiple });
        let request = Request { caller: Caller::Sdk(self.installation_id), idempotency: None, command };
        match self.merchant.carry_out(at, &request, Some(&Secret::CardNumber(number)))? {
            Answer::Token(id) => Ok(id),
            other => bail!("a token was asked for, and {other:?} was answered"),
        }
    }

    /// Carries out what a customer's client asks.
    pub(super) fn by_client(&mut self, at: Millis, command: Command) -> anyhow::Result<Answer> {
        self.carry_out(at, Caller::Sdk(self.installation_id), command)
    }

    /// Carries a command out.
    pub(super) fn carry_out(&mut self, at: Millis, caller: Caller, command: Command) -> anyhow::Result<Answer> {
        let request = Request { caller, idempotency: None, command };
        Ok(self.merchant.carry_out(at, &request, None)?)
    }

    /// Has the acquirer asked what is open, and the answers recorded.
    pub(super) fn make_calls(&mut self, at: Millis) -> anyhow::Result<()> {
        Ok(self.merchant.make_calls(at)?)
    }

    /// Does what has come due: settlement, and authorizations that lapse, which are given up at the acquirer.
    pub(super) fn do_what_is_due(&mut self, at: Millis) -> anyhow::Result<()> {
        self.merchant.fire_timers(at)?;
        Ok(self.merchant.make_calls(at)?)
    }

    /// Waits until everything is on the disk.
    pub(super) fn wait_until_durable(&mut self) -> anyhow::Result<()> {
        Ok(self.merchant.wait_until_durable()?)
    }
}

/// A merchant under way to be ready.
struct Opening<'a, 'k> {
    merchant: BulkMerchant<'a>,
    merchant_id: MerchantId,
    keyring: &'k Keyring,
    at: Millis,
}

impl Opening<'_, '_> {
    fn merchant(&mut self, number: u64) -> anyhow::Result<()> {
        let create = CreateMerchant {
            merchant_id: self.merchant_id,
            name: Name::new(format!("Generated shop {number}"))?,
            currency: CURRENCY.parse()?,
            time_zone: TimeZone::new("Asia/Bangkok")?,
            settlement_delay_seconds: SETTLEMENT_DELAY_DEFAULT_SECONDS,
            support_email: Some(Email::new("support@till.example")?),
            card_numbers_in_identifiers: false,
        };
        self.carry_out(Caller::Operator, Command::CreateMerchant(create), None)?;
        self.carry_out(Caller::Operator, Command::OpenBalance, None)?;
        let integration = Integration { fee: FEE, ..Integration::initial() };
        for method in [PaymentMethod::Card, PaymentMethod::Installment] {
            self.carry_out(Caller::Operator, Command::ConfigurePaymentMethod(method, integration), None)?;
        }
        Ok(())
    }

    /// A key that nobody knows: whoever wants to call has the operator make another.
    fn key(&mut self, number: usize) -> anyhow::Result<KeyId> {
        let text = fresh_key();
        let name = Name::new(format!("Generated key {number}"))?;
        let command = key_of(self.keyring, self.merchant_id, name, &text, ApiVersion::NEWEST);
        match self.carry_out(Caller::Operator, Command::GenerateKey(command), Some(Secret::KeyText(text)))? {
            Answer::Key { key_id, created_at: _ } => Ok(key_id),
            other => bail!("a key was asked for, and {other:?} was answered"),
        }
    }

    fn installation(&mut self) -> anyhow::Result<InstallationId> {
        let command = AddInstallation {
            name: Name::new("Generated checkout")?,
            platform: Platform::Web,
            identifier: InstallationIdentifier::new("https://shop.example")?,
        };
        match self.carry_out(Caller::Operator, Command::AddInstallation(command), None)? {
            Answer::Installation(id) => Ok(id),
            other => bail!("an installation was asked for, and {other:?} was answered"),
        }
    }

    fn carry_out(&mut self, caller: Caller, command: Command, secret: Option<Secret>) -> anyhow::Result<Answer> {
        let request = Request { caller, idempotency: None, command };
        Ok(self.merchant.carry_out(self.at, &request, secret.as_ref())?)
    }
}
