//! A merchant that is ready to trade: its keys, its installation, its balance, and cards to pay with.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::bail;
use futures_util::future::{try_join, try_join_all};
use till_actors::Secret;
use till_domain::card::{CardExpiry, TokenUsage};
use till_domain::command::{AddInstallation, Caller, Command, CreateMerchant, TokenizeCard};
use till_domain::event::Answer;
use till_domain::ids::{InstallationId, KeyId, MerchantId, TokenId};
use till_domain::merchant::{Integration, PaymentMethod, Platform, SETTLEMENT_DELAY_DEFAULT_SECONDS};
use till_domain::money::FeeRate;
use till_domain::text::{Email, HolderName, InstallationIdentifier, Name, TimeZone};
use till_domain::time::Millis;
use till_storage::vault::CardNumber;

use super::market::Market;
use till::{card_facts, fresh_key, fresh_merchant_id, key_of};

/// The merchants' currency.
pub(super) const CURRENCY: &str = "THB";
/// API keys of each merchant.
const KEYS: usize = 4;
/// Test cards that the sandbox approves.
pub(super) const APPROVED_CARDS: [&str; 4] =
    ["4242424242424242", "5555555555554444", "378282246310005", "3566002020360505"];
/// Test cards that the sandbox declines.
pub(super) const DECLINED_CARDS: [&str; 3] = ["4000000000000002", "4000000000009995", "4000000000000069"];
/// The merchants' fee for each payment: 2.9 %.
const FEE: FeeRate = FeeRate { basis_points: 290, fixed_minor: 0 };

/// A merchant that is ready to trade, with the ids that its calls name.
pub(super) struct TradingMerchant<'a> {
    market: &'a Market,
    pub(super) merchant_id: MerchantId,
    pub(super) keys: Vec<KeyId>,
    installation_id: InstallationId,
    /// Tokens for any number of payments, by the digits of their cards.
    tokens: RefCell<BTreeMap<&'static str, TokenId>>,
}

impl<'a> TradingMerchant<'a> {
    /// Creates a merchant that is ready to trade.
    pub(super) async fn open(market: &'a Market, number: u64) -> anyhow::Result<TradingMerchant<'a>> {
        let merchant_id = fresh_merchant_id(market.now());
        let opening = MerchantSetup { market, merchant_id };
        opening.merchant(number).await?;
        let keys = try_join_all((0..KEYS).map(|number| opening.key(number)));
        let (keys, installation_id) = try_join(keys, opening.installation()).await?;
        Ok(TradingMerchant { market, merchant_id, keys, installation_id, tokens: RefCell::default() })
    }

    /// The time.
    pub(super) fn now(&self) -> Millis {
        self.market.now()
    }

    /// The token of a card.
    pub(super) fn token(&self, digits: &str) -> Option<TokenId> {
        self.tokens.borrow().get(digits).copied()
    }

    /// Creates the token of a card just before its first payment, because an unused token expires.
    pub(super) async fn make_token(&self, digits: &'static str) -> anyhow::Result<()> {
        let number = CardNumber::parse(digits)?;
        let (holder, expiry) = (HolderName::new("Ada Example")?, CardExpiry { year: 2099, month: 12 });
        let card = card_facts(&self.market.keyring, self.merchant_id, &number, holder, expiry);
        let command = Command::TokenizeCard(TokenizeCard { card, usage: TokenUsage::Multiple });
        let (caller, secret) = (Caller::Sdk(self.installation_id), Secret::CardNumber(number));
        match self.market.carry_out(self.merchant_id, caller, command, Some(secret)).await? {
            Answer::Token(id) => drop(self.tokens.borrow_mut().insert(digits, id)),
            other => bail!("a token was expected, and the answer is {other:?}"),
        }
        Ok(())
    }

    /// Carries out a command of a customer's client.
    pub(super) async fn by_client(&self, command: Command) -> anyhow::Result<Answer> {
        self.carry_out(Caller::Sdk(self.installation_id), command).await
    }

    /// Carries out a command of this caller.
    pub(super) async fn carry_out(&self, caller: Caller, command: Command) -> anyhow::Result<Answer> {
        self.market.carry_out(self.merchant_id, caller, command, None).await
    }
}

/// A merchant that is being set up.
struct MerchantSetup<'a> {
    market: &'a Market,
    merchant_id: MerchantId,
}

impl MerchantSetup<'_> {
    async fn merchant(&self, number: u64) -> anyhow::Result<()> {
        let create = CreateMerchant {
            merchant_id: self.merchant_id,
            name: Name::new(format!("Generated shop {number}"))?,
            currency: CURRENCY.parse()?,
            time_zone: TimeZone::new("Asia/Bangkok")?,
            settlement_delay_seconds: SETTLEMENT_DELAY_DEFAULT_SECONDS,
            support_email: Some(Email::new("support@till.example")?),
            card_numbers_in_identifiers: false,
            test_clock: false,
        };
        self.carry_out(Command::CreateMerchant(create), None).await?;
        self.carry_out(Command::OpenBalance, None).await?;
        let integration = Integration { fee: FEE, ..Integration::initial() };
        for method in [PaymentMethod::Card, PaymentMethod::Installment] {
            self.carry_out(Command::ConfigurePaymentMethod(method, integration, None), None).await?;
        }
        Ok(())
    }

    /// Creates a key whose secret is thrown away: to call as this merchant, the operator creates another key.
    async fn key(&self, number: usize) -> anyhow::Result<KeyId> {
        let text = fresh_key();
        let name = Name::new(format!("Generated key {number}"))?;
        let command = key_of(&self.market.keyring, self.merchant_id, name, &text);
        match self.carry_out(Command::GenerateKey(command), Some(Secret::KeyText(text))).await? {
            Answer::Key { key_id, created_at: _ } => Ok(key_id),
            other => bail!("a key was expected, and the answer is {other:?}"),
        }
    }

    async fn installation(&self) -> anyhow::Result<InstallationId> {
        let command = AddInstallation {
            name: Name::new("Generated checkout")?,
            platform: Platform::Web,
            identifier: InstallationIdentifier::new("https://shop.example")?,
        };
        match self.carry_out(Command::AddInstallation(command), None).await? {
            Answer::Installation(id) => Ok(id),
            other => bail!("an installation was expected, and the answer is {other:?}"),
        }
    }

    async fn carry_out(&self, command: Command, secret: Option<Secret>) -> anyhow::Result<Answer> {
        self.market.carry_out(self.merchant_id, Caller::Operator, command, secret).await
    }
}
