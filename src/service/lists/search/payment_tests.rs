//! Searches of a list of payments in memory: filters alone and together, both ways, against a plain look through
//! everything.

use std::collections::BTreeMap;

use till_domain::acquirer::AcquirerRef;
use till_domain::activity::Actor;
use till_domain::apply::index_rows;
use till_domain::card::{CardExpiry, CardFacts, CardFingerprint, CardScheme, TokenUsage};
use till_domain::cursor::Cursor;
use till_domain::customer::{Contact, Customer};
use till_domain::effect::{Effect, EffectKind};
use till_domain::ids::{CustomerId, IdPosition, PaymentId, RawId, RefundId, SessionId, TokenId, TransactionId};
use till_domain::merchant::PaymentMethod;
use till_domain::money::{AmountMinor, Currency, Money};
use till_domain::payment::{Capture, Payment, PaymentStatus};
use till_domain::records::{
    AnyKey, AnyRow, Customers, CustomersByEmail, CustomersByOtherEmail, Effects, Payments, PaymentsByExternalId,
    Refunds, Table,
};
use till_domain::refund::{Refund, RefundStatus};
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer};
use till_domain::text::{Email, ExternalId, ReturnUrl};
use till_domain::time::{DAY_MILLIS, Millis};
use till_protocol::field::ListPageRequest;

use super::known_entries::KNOWN_MAX;
use super::payment_filters::{AmountRange, PaymentFilters};
use super::test_list::{Dice, MERCHANT, START, TestList};

const PAYMENTS: u64 = 1_200;
/// The mean time between two payments, in milliseconds: an hour.
const STEP_MS: u64 = 3_600_000;
const CUSTOMERS: u64 = 6;

fn raw(number: u64) -> RawId {
    RawId::new(IdPosition { millis: START, counter: 0 }, number)
}

fn customer_id(number: u64) -> CustomerId {
    CustomerId::from_raw(raw(number))
}

fn email(number: u64) -> Email {
    Email::new(format!("c{number}@shop.example")).expect("an address of a test")
}

fn money(minor: u64) -> Money {
    let currency = "THB".parse::<Currency>().expect("a currency");
    Money { amount: AmountMinor::new(minor).expect("positive"), currency }
}

fn instrument(dice: &mut Dice) -> Instrument {
    if dice.once_in(5) {
        return Instrument::Installment {
            plan: InstallmentPlan::SandboxThreeMonths,
            interest_bearer: InterestBearer::Customer,
        };
    }
    if dice.once_in(5) {
        return if dice.once_in(2) { Instrument::PromptPay } else { Instrument::MobileBanking };
    }
    let card = CardFacts {
        scheme: CardScheme::Visa,
        first_digits: "424242".to_owned(),
        last_digits: dice.pick(&["4242", "0002", "1001"]).to_owned(),
        expiry: CardExpiry { month: 12, year: 2030 },
        holder: None,
        fingerprint: CardFingerprint([7; 32]),
    };
    Instrument::Token { token_id: TokenId::from_raw(raw(1)), usage: TokenUsage::Single, card }
}

fn is_captured(status: PaymentStatus) -> bool {
    use PaymentStatus::{Disputed, PartiallyRefunded, Refunded, Reversed, Successful};
    matches!(status, Successful | Reversed | PartiallyRefunded | Refunded | Disputed)
}

/// The address that a payment of a customer shows: its own, another's, or one that many customers gave.
fn shown_email(customer: u64, dice: &mut Dice) -> Email {
    match dice.number_below(4) {
        0 => email(dice.number_below(CUSTOMERS)),
        1 => Email::new("shared@shop.example").expect("an address of a test"),
        _ => email(customer),
    }
}

fn payment(number: u64, dice: &mut Dice) -> Payment {
    let at = START + number * STEP_MS + dice.number_below(STEP_MS);
    let status = dice.pick(&PaymentStatus::ALL);
    // Some are captured at once, others days later.
    let delay = if dice.once_in(2) { dice.number_below(2_000) } else { dice.number_below(6 * DAY_MILLIS) };
    let capture = is_captured(status).then(|| Capture {
        amount_minor: 1,
        fee_minor: 0,
        transaction_id: TransactionId::from_raw(raw(number)),
        at: Millis(at + delay),
        settles_at: Millis(at + delay),
    });
    let customer = dice.once_in(2).then(|| dice.number_below(CUSTOMERS));
    let id = PaymentId::from_raw(RawId::new(IdPosition { millis: at, counter: 0 }, number));
    let external_id = dice.once_in(2).then(|| {
        let prefix = dice.pick(&["order-", "Order-", "inv ", "4242", "c1@shop.example"]);
        ExternalId::new(format!("{prefix}{number}")).expect("an identifier of a test")
    });
    let money =
        if dice.once_in(2) { money(dice.pick(&[100, 250, 9_900])) } else { money(1 + dice.number_below(5_000)) };
    let session = (SessionId::from_raw(raw(number)), money, instrument(dice));
    let return_url = ReturnUrl::new("https://shop.example/done").expect("a URL");
    Payment {
        external_id,
        status,
        customer_id: customer.map(customer_id),
        contact: Contact { email: customer.map(|number| shown_email(number, dice)), ..Contact::default() },
        capture,
        ..Payment::of_session(id, session, AcquirerRef::Sandbox, return_url, Millis(at))
    }
}

fn row<T: Table>(key: T::Key, row: T::Row) -> (AnyKey, AnyRow) {
    (T::key(key), T::wrap(row))
}

/// The rows that lead to a payment, as the folds write them.
fn rows_of(payment: &Payment, dice: &mut Dice) -> Vec<(AnyKey, AnyRow)> {
    let mut rows = index_rows(payment);
    rows.push(row::<Payments>(payment.id, payment.clone()));
    if let Some(external_id) = &payment.external_id {
        rows.push(row::<PaymentsByExternalId>(external_id.clone(), payment.id));
    }
    if let (Some(id), Some(shown)) = (payment.customer_id, &payment.contact.email) {
        rows.push(row::<CustomersByOtherEmail>((shown.clone(), id), id));
    }
    // Other payments have open calls to the acquirer as well.
    let is_pending = payment.status == PaymentStatus::Pending;
    if is_pending || dice.once_in(4) {
        let kind = if is_pending { EffectKind::Authorize } else { EffectKind::Capture };
        let effect = Effect { payment_id: payment.id, kind, opened_at: payment.created_at };
        rows.push(row::<Effects>(effect.id(), effect));
    }
    if dice.once_in(4) {
        let refund = refund(payment);
        rows.push(row::<Effects>(refund.effect().id(), refund.effect()));
        rows.push(row::<Refunds>(refund.id, refund));
    }
    rows
}

fn refund(payment: &Payment) -> Refund {
    Refund {
        id: RefundId::from_raw(payment.id.raw()),
        external_id: None,
        payment_id: payment.id,
        status: RefundStatus::Pending,
        money: money(1),
        is_full: false,
        reason: None,
        failure: None,
        requested_by: Actor::System,
        transaction_id: TransactionId::from_raw(raw(1)),
        created_at: payment.created_at,
        refunded_at: None,
        acquirer_reference: None,
    }
}

fn customer(number: u64) -> Customer {
    Customer {
        id: customer_id(number),
        external_id: None,
        email: Some(email(number)),
        mobile: None,
        name: None,
        other_emails: Vec::new(),
        default_card_id: None,
        created_at: Millis(START),
        updated_at: Millis(START),
    }
}

/// A stored list, and its payments, newest first.
struct Shop {
    list: TestList,
    payments: Vec<Payment>,
    /// The payments that have a refund.
    refunds: BTreeMap<PaymentId, RefundId>,
}

impl Shop {
    fn seeded(seed: u64, count: u64) -> Shop {
        let mut dice = Dice(seed);
        let mut shop = Shop { list: TestList::new(), payments: Vec::new(), refunds: BTreeMap::new() };
        for number in 0..CUSTOMERS {
            let customer = customer(number);
            let by_email = row::<CustomersByEmail>(email(number), customer.id);
            shop.list.put(MERCHANT, [by_email, row::<Customers>(customer.id, customer)]);
        }
        for number in 0..count {
            let payment = payment(number, &mut dice);
            let rows = rows_of(&payment, &mut dice);
            if rows.iter().any(|(key, _)| matches!(key, AnyKey::Refunds(_))) {
                shop.refunds.insert(payment.id, RefundId::from_raw(payment.id.raw()));
            }
            shop.list.put(MERCHANT, rows);
            shop.payments.push(payment);
        }
        shop.list.store();
        shop.payments.reverse();
        shop
    }

    fn expected(&self, filters: &PaymentFilters) -> Vec<Payment> {
        self.payments.iter().filter(|payment| self.passes(filters, payment)).cloned().collect()
    }

    /// Both walks of the pages that a filter has.
    fn page_both_ways(&self, filters: &PaymentFilters, per_page: u16) -> (Vec<Payment>, Vec<Payment>) {
        let selection = filters.select_from(&self.list.view()).unwrap_or_else(|error| panic!("{error:?}"));
        self.list.walk(&selection, per_page, |payment| payment.id)
    }

    /// The meaning of the filters, told without any index.
    fn passes(&self, filters: &PaymentFilters, payment: &Payment) -> bool {
        let within = |(from, until): (Millis, Millis), at: Millis| from <= at && at < until;
        filters.status.is_none_or(|status| payment.status == status)
            && filters.method.is_none_or(|method| payment.instrument.method() == method)
            && filters.created.is_none_or(|span| within(span, payment.created_at))
            && filters.captured.is_none_or(|span| payment.capture.is_some_and(|capture| within(span, capture.at)))
            && filters
                .amount
                .is_none_or(|range| (range.min_minor..=range.max_minor).contains(&payment.money.amount.get()))
            && filters.customer_id.is_none_or(|id| payment.customer_id == Some(id))
            && filters.terms.as_ref().is_none_or(|terms| self.has(terms, payment))
    }

    fn has(&self, terms: &str, payment: &Payment) -> bool {
        let lower_case = terms.to_lowercase();
        let of_customer = (0..CUSTOMERS)
            .find(|number| email(*number).as_str() == lower_case || customer_id(*number).to_string() == lower_case);
        payment.external_id.as_ref().is_some_and(|own| own.as_str().starts_with(terms))
            || payment.id.to_string() == lower_case
            || self.refunds.get(&payment.id).is_some_and(|refund| refund.to_string() == lower_case)
            || payment.contact.email.as_ref().is_some_and(|email| email.as_str() == lower_case)
            || (of_customer.is_some() && payment.customer_id == of_customer.map(customer_id))
            || payment.instrument.card().is_some_and(|card| card.last_digits == terms)
    }

    fn drawn_terms(&self, dice: &mut Dice) -> String {
        let payment = dice.pick(&self.payments);
        let refund = RefundId::from_raw(payment.id.raw()).to_string();
        let own = payment.external_id.as_ref().map_or("none".to_owned(), |own| own.as_str().to_owned());
        let words = [
            "order-".to_owned(),
            "Order-1".to_owned(),
            "i".to_owned(),
            "inv ".to_owned(),
            "4242".to_owned(),
            "42".to_owned(),
            "0002".to_owned(),
            "C1@SHOP.example".to_owned(),
            "nobody@shop.example".to_owned(),
            "shared@shop.example".to_owned(),
            customer_id(dice.number_below(CUSTOMERS)).to_string(),
            payment.id.to_string().to_uppercase(),
            refund,
            own,
        ];
        dice.pick(&words)
    }

    fn drawn_filters(&self, dice: &mut Dice) -> PaymentFilters {
        let mut filters = PaymentFilters::default();
        let span = |dice: &mut Dice| {
            let from = START + dice.number_below(PAYMENTS * STEP_MS);
            let (from, length) = match dice.number_below(3) {
                0 => (from / DAY_MILLIS * DAY_MILLIS, DAY_MILLIS * (1 + dice.number_below(20))),
                1 => (from, dice.number_below(10 * DAY_MILLIS)),
                _ => (from, u64::MAX - from),
            };
            if dice.once_in(6) { (Millis(0), Millis(from)) } else { (Millis(from), Millis(from + length)) }
        };
        for _ in 0..=dice.number_below(3) {
            match dice.number_below(7) {
                0 => filters.status = Some(dice.pick(&PaymentStatus::ALL)),
                1 => filters.method = Some(dice.pick(&PaymentMethod::ALL)),
                2 => filters.created = Some(span(dice)),
                3 => filters.captured = Some(span(dice)),
                4 => {
                    let min_minor = dice.pick(&[1, 100, 250, 251, 4_000, 9_900]);
                    let max_minor = min_minor + dice.pick(&[0, 0, 10, 150, 10_000]);
                    filters.amount = Some(AmountRange { min_minor, max_minor });
                }
                5 => filters.customer_id = Some(customer_id(dice.number_below(CUSTOMERS + 1))),
                _ => filters.terms = Some(self.drawn_terms(dice)),
            }
        }
        filters
    }
}

#[test]
fn filters_of_payments_are_exact_and_page_both_ways() {
    let shop = Shop::seeded(11, PAYMENTS);
    let mut dice = Dice(12);
    let (mut found, mut empty) = (0, 0);
    for _ in 0..400 {
        let filters = shop.drawn_filters(&mut dice);
        let expected = shop.expected(&filters);
        let per_page = u16::try_from(1 + dice.number_below(100)).expect("small");
        let (there, back) = shop.page_both_ways(&filters, per_page);
        assert!(there == expected, "{filters:?}: {} found, {} expected", there.len(), expected.len());
        assert!(back == expected, "{filters:?}, backwards");
        found += expected.len();
        empty += usize::from(expected.is_empty());
    }
    assert!(found > 20_000 && empty < 200, "the filters find something: {found}, and {empty} find nothing");
}

#[test]
fn each_status_and_method_is_found_and_no_other() {
    let shop = Shop::seeded(13, PAYMENTS);
    for status in PaymentStatus::ALL {
        for method in PaymentMethod::ALL {
            let filters = PaymentFilters { status: Some(status), method: Some(method), ..PaymentFilters::default() };
            let (there, _) = shop.page_both_ways(&filters, 100);
            assert!(there.len() > 5, "{status:?} {method:?}: {}", there.len());
            assert!(there == shop.expected(&filters), "{status:?} {method:?}");
        }
    }
}

#[test]
fn a_text_or_range_that_many_payments_have_is_found_on_the_rows() {
    let count = 5 * u64::try_from(KNOWN_MAX).expect("small");
    let shop = Shop::seeded(14, count);
    let by_text = |text: &str| PaymentFilters { terms: Some(text.to_owned()), ..PaymentFilters::default() };
    let amount = Some(AmountRange { min_minor: 1, max_minor: 4_000 });
    let by_amount = PaymentFilters { amount, ..PaymentFilters::default() };
    for filters in [by_text("o"), by_text("4"), by_text("order"), by_amount] {
        let expected = shop.expected(&filters);
        assert!(expected.len() > KNOWN_MAX || filters.terms.is_some(), "{filters:?}: {}", expected.len());
        let (there, back) = shop.page_both_ways(&filters, 100);
        assert!(there == expected && back == expected, "{filters:?}: {} and {}", there.len(), expected.len());
    }
}

#[test]
fn a_page_within_a_filter_begins_at_its_cursor() {
    let shop = Shop::seeded(15, PAYMENTS);
    let filters = PaymentFilters {
        captured: Some((Millis(START + 20 * DAY_MILLIS), Millis(START + 40 * DAY_MILLIS))),
        ..PaymentFilters::default()
    };
    let expected = shop.expected(&filters);
    let selection = filters.select_from(&shop.list.view()).unwrap_or_else(|error| panic!("{error:?}"));
    let page = |cursor| {
        let window = shop.list.page(&selection, ListPageRequest { per_page: 10, cursor: Some(cursor) });
        window.entries.iter().map(|payment| payment.id).collect::<Vec<_>>()
    };
    let ids: Vec<PaymentId> = expected.iter().map(|payment| payment.id).collect();
    assert_eq!(page(Cursor::After(ids[99])), ids[100..110]);
    assert_eq!(page(Cursor::Before(ids[99])), ids[89..99]);
}
