//! A merchant's trade: bursts of payments that are in flight at once.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use anyhow::{Context, bail};
use futures_util::future::{try_join, try_join_all};
use futures_util::{StreamExt, TryStreamExt, stream};
use till_domain::command::{Caller, Command, Expired, InitiatePayment, SelectPaymentMethod, Selection};
use till_domain::customer::{Contact, CustomerFields};
use till_domain::event::Answer;
use till_domain::ids::SessionId;
use till_domain::money::{AmountMinor, Money};
use till_domain::session::{InstallmentPlan, InterestBearer, SESSION_KEPT_SECONDS, SESSION_LIFETIME_SECONDS};
use till_domain::text::{Email, ExternalId, PersonName, ReturnUrl};
use till_domain::time::Millis;

use super::plan::GenerationPlan;
use super::shop::{APPROVED_CARDS, CURRENCY, DECLINED_CARDS, TradingMerchant};
use super::team::Team;
use crate::chance::SeededDice;

/// Payments of a merchant in flight at once, which share commits.
const PAYMENTS_AT_ONCE: usize = 512;
/// One in this number of payments is declined, and one is authorized without capture.
const RARE: u64 = 50;
/// One in this number of payments is by instalments.
const INSTALMENTS: u64 = 20;
/// One in this number of payments names its customer.
const NAMED: u64 = 2;
/// The average number of payments that name the same customer.
const CUSTOMER_PAYMENTS: u64 = 5;
/// The smallest amount of a payment, and the range above it, in minor units.
const AMOUNTS: (u64, u64) = (2_000, 500_000);

/// Sessions that one command removes.
const REMOVED_AT_ONCE: usize = 256;

/// A merchant that trades.
pub(super) struct Trade<'a> {
    pub(super) shop: TradingMerchant<'a>,
    pub(super) payments: u64,
    team: Team,
    plan: GenerationPlan,
    /// Sessions that are not removed yet, each with a time at which it existed.
    sessions: RefCell<VecDeque<(Millis, SessionId)>>,
}

/// The course of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaymentCourse {
    Captured,
    Declined,
    AuthorizedOnly,
}

impl PaymentCourse {
    /// The course of the payment with this number.
    pub(super) const fn of(number: u64) -> PaymentCourse {
        match number % RARE {
            7 => PaymentCourse::Declined,
            31 => PaymentCourse::AuthorizedOnly,
            _ => PaymentCourse::Captured,
        }
    }

    /// The number of payments of this kind among the first `payments`.
    pub(super) fn count(self, payments: u64) -> u64 {
        let of_kind = |number: &u64| PaymentCourse::of(*number) == self;
        let of_a_round = |numbers: u64| (0..numbers).filter(of_kind).fold(0, |count, _| count + 1);
        payments / RARE * of_a_round(RARE) + of_a_round(payments % RARE)
    }
}

impl<'a> Trade<'a> {
    pub(super) fn new(shop: TradingMerchant<'a>, payments: u64, plan: GenerationPlan) -> Trade<'a> {
        Trade { shop, payments, team: Team::default(), plan, sessions: RefCell::default() }
    }

    /// Makes the payments with these numbers.
    pub(super) async fn make(&self, payments: Range<u64>) -> anyhow::Result<()> {
        self.remove_expired().await?;
        let cards: BTreeSet<_> = payments.clone().filter_map(card_of).collect();
        let new = cards.into_iter().filter(|digits| self.shop.token(digits).is_none());
        try_join_all(new.map(|digits| self.shop.make_token(digits))).await?;
        let changes = payments.clone().map(|number| self.plan.changes_of(number)).sum();
        let paid = stream::iter(payments).map(|number| self.pay(number)).buffer_unordered(PAYMENTS_AT_ONCE);
        try_join(paid.try_collect::<()>(), self.team.change(&self.shop, changes)).await?;
        Ok(())
    }

    /// Removes the expired sessions, oldest first, as the server's search for expired objects would.
    pub(super) async fn remove_expired(&self) -> anyhow::Result<()> {
        let (kept, now) = (SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS, self.shop.now());
        let expired: Vec<Expired> = {
            let mut sessions = self.sessions.borrow_mut();
            let count = sessions.partition_point(|(made, _)| made.plus_seconds(kept) <= now);
            sessions.drain(..count).map(|(_, id)| Expired::Session(id)).collect()
        };
        let remove = |expired: &[Expired]| self.shop.carry_out(Caller::System, Command::Sweep(expired.to_vec()));
        try_join_all(expired.chunks(REMOVED_AT_ONCE).map(remove)).await?;
        Ok(())
    }

    async fn pay(&self, number: u64) -> anyhow::Result<()> {
        let chance = SeededDice::new(number).number();
        let amount = AMOUNTS.0 + chance % AMOUNTS.1;
        let Some(amount) = AmountMinor::new(amount) else { bail!("{amount} is not an amount") };
        let money = Money { amount, currency: CURRENCY.parse()? };
        let selection = self.selection(number)?;
        let session_id = self.select(money, selection.clone()).await?;
        self.sessions.borrow_mut().push_back((self.shop.now(), session_id));
        let command = InitiatePayment {
            external_id: Some(ExternalId::new(format!("order-{number}"))?),
            capture: PaymentCourse::of(number) != PaymentCourse::AuthorizedOnly,
            customer: self.customer(number, chance)?,
            interest_bearer: interest_bearer(&selection),
            ..InitiatePayment::of_session(session_id, money, ReturnUrl::new("https://shop.example/done")?)
        };
        let keys = &self.shop.keys;
        let key = keys[usize::try_from(chance).unwrap_or(0) % keys.len()];
        self.shop.carry_out(Caller::ApiKey(key), Command::InitiatePayment(command)).await?;
        Ok(())
    }

    fn customer(&self, number: u64, chance: u64) -> anyhow::Result<CustomerFields> {
        if !number.is_multiple_of(NAMED) {
            return Ok(CustomerFields::default());
        }
        let customers = self.payments / NAMED / CUSTOMER_PAYMENTS + 1;
        let who = (chance >> 32) % customers;
        let email = Some(Email::new(format!("customer-{who}@mail.example"))?);
        let name = Some(PersonName::new(format!("Customer {who}"))?);
        Ok(CustomerFields { id: None, contact: Contact { email, mobile: None, name } })
    }

    fn selection(&self, number: u64) -> anyhow::Result<Selection> {
        let Some(digits) = card_of(number) else {
            return Ok(Selection::Installment(InstallmentPlan::SandboxThreeMonths, InterestBearer::Customer));
        };
        Ok(Selection::Token(self.shop.token(digits).context("a card has no token")?))
    }

    async fn select(&self, money: Money, selection: Selection) -> anyhow::Result<SessionId> {
        let command = SelectPaymentMethod { money, selection, customer: CustomerFields::default() };
        match self.shop.by_client(Command::SelectPaymentMethod(command)).await? {
            Answer::Session(id) => Ok(id),
            other => bail!("a session was expected, and the answer is {other:?}"),
        }
    }
}

/// The card of the payment; None when it is paid by instalments.
fn card_of(number: u64) -> Option<&'static str> {
    let turn = |cards: &[&'static str]| cards[usize::try_from(number / RARE).unwrap_or(0) % cards.len()];
    match PaymentCourse::of(number) {
        PaymentCourse::Declined => Some(turn(&DECLINED_CARDS)),
        PaymentCourse::Captured if number % INSTALMENTS == 1 => None,
        PaymentCourse::Captured | PaymentCourse::AuthorizedOnly => Some(turn(&APPROVED_CARDS)),
    }
}

const fn interest_bearer(selection: &Selection) -> Option<InterestBearer> {
    match selection {
        Selection::Installment(_, bearer) => Some(*bearer),
        Selection::UnnamedCard
        | Selection::Token(_)
        | Selection::SavedCard(_)
        | Selection::PromptPay
        | Selection::MobileBanking => None,
    }
}
