//! A merchant's trade: payments in bursts, each answered by the sandbox before the next begins.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::bail;
use till_domain::command::{Caller, Command, Expired, InitiatePayment, SelectPaymentMethod, Selection};
use till_domain::customer::{Contact, CustomerFields};
use till_domain::event::Answer;
use till_domain::ids::SessionId;
use till_domain::money::{AmountMinor, Money};
use till_domain::session::{InstallmentPlan, InterestBearer, SESSION_KEPT_SECONDS, SESSION_LIFETIME_SECONDS};
use till_domain::text::{Email, ExternalId, PersonName, ReturnUrl};
use till_domain::time::Millis;

use super::plan::Share;
use super::shop::{BAD_CARDS, CURRENCY, GOOD_CARDS, Shop};
use super::team::Team;

/// Bursts of a merchant, as long as none is larger than [`BURST_MAX`]: each is waited for.
const BURSTS: u64 = 32;
/// Payments of a burst at most: the acquirer answers them together, and what is staged of them stays small.
const BURST_MAX: u64 = 256;
/// Between two payments of a burst.
const PAYMENT_MILLIS: u64 = 5;
/// Of so many payments one is declined, and one authorized without capture.
const RARE: u64 = 50;
/// Of so many payments one is by instalments.
const INSTALMENTS: u64 = 20;
/// Of so many payments one names its customer.
const NAMED: u64 = 2;
/// Named payments of one customer on average.
const CUSTOMER_PAYMENTS: u64 = 5;
/// Minor units of a payment: at least, and more than that at most.
const AMOUNTS: (u64, u64) = (2_000, 500_000);

/// Sessions that one command removes, as the sweeper's.
const SWEPT_AT_ONCE: usize = 256;

/// What there is to trade, and when.
pub(super) struct Trade<'a> {
    pub(super) payments: u64,
    pub(super) team_share: Share,
    pub(super) from: Millis,
    pub(super) until: Millis,
    /// Counts payments of all merchants.
    pub(super) done: &'a AtomicU64,
}

/// What comes of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Captured,
    Declined,
    AuthorizedOnly,
}

impl Kind {
    /// That of a payment by its number.
    pub(super) const fn of(number: u64) -> Kind {
        match number % RARE {
            7 => Kind::Declined,
            31 => Kind::AuthorizedOnly,
            _ => Kind::Captured,
        }
    }

    /// How many of the first payments are of this kind.
    pub(super) fn count(self, payments: u64) -> u64 {
        let of_kind = |number: &u64| Kind::of(*number) == self;
        let of_a_round = |numbers: u64| (0..numbers).filter(of_kind).fold(0, |count, _| count + 1);
        payments / RARE * of_a_round(RARE) + of_a_round(payments % RARE)
    }
}

impl Trade<'_> {
    /// Trades until all is done.
    pub(super) fn run(&self, shop: &mut Shop<'_>) -> anyhow::Result<()> {
        let (mut team, mut sessions) = (Team::default(), VecDeque::new());
        let size = self.payments.div_ceil(BURSTS).clamp(1, BURST_MAX);
        for first in (0..self.payments).step_by(usize::try_from(size).unwrap_or(usize::MAX)) {
            let numbers = first..(first + size).min(self.payments);
            let mut at = self.time_of(first);
            shop.do_what_is_due(at)?;
            sweep(shop, &mut sessions, at)?;
            for number in numbers.clone() {
                at.0 += PAYMENT_MILLIS;
                sessions.push_back((at, self.pay(shop, number, at)?));
                for _ in 0..self.team_share.at(number) {
                    team.change(shop, at)?;
                }
            }
            shop.make_calls(at.plus_seconds(1))?;
            self.done.fetch_add(numbers.end - numbers.start, Ordering::Relaxed);
        }
        shop.do_what_is_due(self.until)?;
        sweep(shop, &mut sessions, self.until)?;
        shop.wait_until_durable()
    }

    /// When the payment with this number is made.
    fn time_of(&self, number: u64) -> Millis {
        let span = u128::from(self.until.0.saturating_sub(self.from.0));
        let passed = span * u128::from(number) / u128::from(self.payments.max(1));
        Millis(self.from.0.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX)))
    }

    /// Makes a payment, and gives the session that it used.
    fn pay(&self, shop: &mut Shop<'_>, number: u64, at: Millis) -> anyhow::Result<SessionId> {
        let chance = scattered(number);
        let amount = AMOUNTS.0 + chance % AMOUNTS.1;
        let Some(amount) = AmountMinor::new(amount) else { bail!("{amount} is no amount") };
        let money = Money { amount, currency: CURRENCY.parse()? };
        let selection = selection(shop, number, at)?;
        let session_id = select(shop, money, selection.clone(), at)?;
        let command = InitiatePayment {
            external_id: Some(ExternalId::new(format!("order-{number}"))?),
            money,
            session_id,
            card: None,
            capture: Kind::of(number) != Kind::AuthorizedOnly,
            return_url: ReturnUrl::new("https://shop.example/done")?,
            customer: self.customer(number, chance)?,
            save_card: None,
            interest_bearer: interest_bearer(&selection),
        };
        let key = shop.keys[usize::try_from(chance).unwrap_or(0) % shop.keys.len()];
        shop.carry_out(at, Caller::ApiKey(key), Command::InitiatePayment(command))?;
        Ok(session_id)
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
}

fn selection(shop: &mut Shop<'_>, number: u64, at: Millis) -> anyhow::Result<Selection> {
    let turn = |cards: &[&'static str]| cards[usize::try_from(number / RARE).unwrap_or(0) % cards.len()];
    let digits = match Kind::of(number) {
        Kind::Declined => turn(&BAD_CARDS),
        Kind::Captured if number % INSTALMENTS == 1 => {
            return Ok(Selection::Installment(InstallmentPlan::SandboxThreeMonths, InterestBearer::Customer));
        }
        Kind::Captured | Kind::AuthorizedOnly => turn(&GOOD_CARDS),
    };
    Ok(Selection::Token(shop.token(digits, at)?))
}

const fn interest_bearer(selection: &Selection) -> Option<InterestBearer> {
    match selection {
        Selection::Installment(_, bearer) => Some(*bearer),
        Selection::UnnamedCard | Selection::Token(_) | Selection::SavedCard(_) => None,
    }
}

fn select(shop: &mut Shop<'_>, money: Money, selection: Selection, at: Millis) -> anyhow::Result<SessionId> {
    let command = SelectPaymentMethod { money, selection, customer: CustomerFields::default() };
    match shop.by_client(at, Command::SelectPaymentMethod(command))? {
        Answer::Session(id) => Ok(id),
        other => bail!("a session was asked for, and {other:?} was answered"),
    }
}

/// Removes the sessions that nobody asks for any more, oldest first, as the sweeper of the server would.
fn sweep(shop: &mut Shop<'_>, sessions: &mut VecDeque<(Millis, SessionId)>, now: Millis) -> anyhow::Result<()> {
    let kept = SESSION_LIFETIME_SECONDS + SESSION_KEPT_SECONDS;
    let old = sessions.partition_point(|(made, _)| made.plus_seconds(kept) <= now);
    let old: Vec<Expired> = sessions.drain(..old).map(|(_, id)| Expired::Session(id)).collect();
    for expired in old.chunks(SWEPT_AT_ONCE) {
        shop.carry_out(now, Caller::System, Command::Sweep(expired.to_vec()))?;
    }
    Ok(())
}

/// A number in which those of neighbours have nothing in common, the same at every run.
///
/// Source: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
const fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
