//! Statements: contract, section 9.1a. Months of scenarios are those of UTC; the months of time zones are tested with
//! the calendar that knows them.

use crate::words::*;
use crate::world::ScenarioWorld;
use std::collections::BTreeSet;
use till_domain::effect::{Timer, TimerKind};
use till_domain::event::Answer;
use till_domain::ids::EntryId;
use till_domain::ledger::{Direction, Entry, EntryType};
use till_domain::records::{EffectiveEntries, Entries, MonthToDate, Single, Statements, StatementsByEnd};
use till_domain::statement::{MonthEntries, Statement, balance_after};
use till_domain::time::Millis;

/// The end of June 2025, the month in which every scenario begins.
const JULY: Millis = Millis(1_751_328_000_000);
const AUGUST: Millis = Millis(1_754_006_400_000);
const OCTOBER: Millis = Millis(1_759_276_800_000);

/// Every effective entry is in one month, and the months follow each other without a gap in time or money.
pub(crate) fn check(world: &ScenarioWorld) {
    let numbered: Vec<Entry> =
        world.all::<EffectiveEntries>().into_iter().map(|id| world.look_up::<Entries>(id)).collect();
    assert!(numbered.is_sorted_by_key(|entry| entry.effective_at), "entries are numbered in the order of time");
    let distinct: BTreeSet<EntryId> = numbered.iter().map(|entry| entry.id).collect();
    assert_eq!(distinct.len(), numbered.len(), "an entry has one number");
    let statements = world.all::<Statements>();
    let Some(period) = world.state.statement_period else {
        assert_eq!((numbered.len(), statements.len(), world.find::<MonthToDate>(Single)), (0, 0, None));
        return;
    };
    let running = world.find::<MonthToDate>(Single).expect("a period is open");
    assert_eq!(running.next(), u64::try_from(numbered.len()).expect("few") + 1);
    assert_eq!(balance_after(period.opening_minor, &running), effective_minor(world));
    if let Some(last) = statements.last() {
        assert_eq!((last.ends_at, last.closing_minor()), (period.starts_at, period.opening_minor));
        assert_eq!(last.entries.next(), running.first);
    }
    for pair in statements.windows(2) {
        assert_eq!((pair[0].ends_at, pair[0].closing_minor()), (pair[1].starts_at, pair[1].opening_minor));
        assert_eq!(pair[0].entries.next(), pair[1].entries.first);
        assert!(pair[0].month < pair[1].month);
    }
    let open_month = (period.starts_at, period.ends_at.max(world.state.last_at.plus_seconds(1)), &running);
    let closed = statements.iter().map(|statement| (statement.starts_at, statement.ends_at, &statement.entries));
    for (starts_at, ends_at, month) in closed.chain([open_month]) {
        check_month(world, (starts_at, ends_at), month);
    }
    for statement in &statements {
        assert!(statement.closed_at >= statement.ends_at, "a month is closed when it is over");
        assert_eq!(world.find::<StatementsByEnd>(statement.ends_at), Some(statement.id));
    }
    assert_eq!(world.all::<StatementsByEnd>().len(), statements.len());
}

/// Effective credits less effective debits.
fn effective_minor(world: &ScenarioWorld) -> i64 {
    let signed = |minor| i64::try_from(minor).expect("small");
    signed(world.totals().effective_credit_minor) - signed(world.totals().effective_debit_minor)
}

/// The entries of a month are those that became effective in it, and its sums are theirs.
fn check_month(world: &ScenarioWorld, (starts_at, ends_at): (Millis, Millis), month: &MonthEntries) {
    let is_of_month = |entry: &Entry| entry.effective_at.is_some_and(|at| (starts_at..ends_at).contains(&at));
    let of_month: BTreeSet<EntryId> =
        world.all::<Entries>().into_iter().filter(is_of_month).map(|entry| entry.id).collect();
    let number = |number: u64| world.find::<EffectiveEntries>(number).expect("numbers have no gap");
    assert_eq!((month.first..month.next()).map(number).collect::<BTreeSet<EntryId>>(), of_month);
    let mut sums = MonthEntries { first: month.first, sums: Vec::new() };
    of_month.iter().for_each(|id| sums.add(&world.look_up::<Entries>(*id)));
    assert_eq!(&sums, month);
}

fn at(world: &mut ScenarioWorld, instant: Millis) {
    world.clock = instant;
}

/// Acts as the service that fires timers, which serves a merchant while something is due.
fn close_due_months(world: &mut ScenarioWorld) {
    while let Some(first) = world.timers().first().copied().filter(|timer| timer.due <= world.clock) {
        world.given(fire([first]));
    }
}

/// The month, opening balance, credits, debits, closing balance and number of entries.
fn shown(statement: &Statement) -> (String, i64, u64, u64, i64, u64) {
    let Statement { month, opening_minor, entries, .. } = statement;
    let (credits, debits) = (entries.total_minor(Direction::Credit), entries.total_minor(Direction::Debit));
    (month.to_string(), *opening_minor, credits, debits, statement.closing_minor(), entries.count())
}

fn all_shown(world: &ScenarioWorld) -> Vec<(String, i64, u64, u64, i64, u64)> {
    world.all::<Statements>().iter().map(shown).collect()
}

fn row(
    month: &str,
    opening: i64,
    credits: u64,
    debits: u64,
    closing: i64,
    entries: u64,
) -> (String, i64, u64, u64, i64, u64) {
    (month.to_owned(), opening, credits, debits, closing, entries)
}

#[test]
fn the_record_that_opens_the_balance_opens_its_first_month() {
    let mut world = ScenarioWorld::open();
    assert_eq!(world.state.statement_period, None);
    world.given(topup(1_000));
    let period = world.state.statement_period.expect("the top-up opened it");
    assert_eq!((period.month.to_string().as_str(), period.ends_at), ("2025-06", JULY));
    assert_eq!(world.timers(), [Timer { due: JULY, kind: TimerKind::CloseStatement }]);
    assert_eq!(world.find::<MonthToDate>(Single).map(|entries| entries.count()), Some(1));
}

#[test]
fn a_month_is_closed_at_its_end_and_not_before() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    at(&mut world, Millis(JULY.0 - 1));
    assert_eq!(world.fire_all(), Answer::Changed(false));
    at(&mut world, JULY);
    assert_eq!(world.fire_all(), Answer::Changed(true));
    assert_eq!(all_shown(&world), [row("2025-06", 0, 1_000, 0, 1_000, 1)]);
    let statement = world.all::<Statements>().remove(0);
    assert_eq!((statement.ends_at, statement.closed_at), (JULY, JULY));
    assert_eq!(world.timers(), [Timer { due: AUGUST, kind: TimerKind::CloseStatement }]);
}

#[test]
fn the_last_instant_of_a_month_is_of_it_and_its_end_of_the_next() {
    let mut world = ScenarioWorld::open();
    at(&mut world, Millis(JULY.0 - 1));
    world.given(topup(1_000));
    at(&mut world, JULY);
    world.given(topup(20));
    world.given(invoice(3));
    world.fire_all();
    at(&mut world, AUGUST);
    world.fire_all();
    let expected = [row("2025-06", 0, 1_000, 0, 1_000, 1), row("2025-07", 1_000, 20, 3, 1_017, 2)];
    assert_eq!(all_shown(&world), expected);
}

#[test]
fn a_timer_three_months_late_closes_one_month_after_the_other() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    at(&mut world, Millis(OCTOBER.0 + 5));
    close_due_months(&mut world);
    assert_eq!(world.all::<Statements>().len(), 4, "the timer alone");
    world.given(topup(8));
    let expected = [
        row("2025-06", 0, 1_000, 0, 1_000, 1),
        row("2025-07", 1_000, 0, 0, 1_000, 0),
        row("2025-08", 1_000, 0, 0, 1_000, 0),
        row("2025-09", 1_000, 0, 0, 1_000, 0),
    ];
    assert_eq!(all_shown(&world), expected);
}

#[test]
fn a_record_after_a_months_end_closes_it_before_its_own_entries() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    at(&mut world, Millis(AUGUST.0 + 5));
    world.given(topup(8));
    let expected = [row("2025-06", 0, 1_000, 0, 1_000, 1), row("2025-07", 1_000, 0, 0, 1_000, 0)];
    assert_eq!(all_shown(&world), expected);
    let month = world.find::<MonthToDate>(Single).expect("August");
    assert_eq!((month.count(), month.total_minor(Direction::Credit)), (1, 8));
}

#[test]
fn a_settlement_at_the_end_of_a_month_is_of_the_next() {
    let mut world = ScenarioWorld::open();
    at(&mut world, Millis(JULY.0 - 172_800_000 - 1));
    world.held();
    at(&mut world, JULY);
    let timers = world.timers();
    assert!(timers[0].due < JULY, "the settlement is due before the end of the month");
    world.given(fire(timers));
    assert_eq!(all_shown(&world), [row("2025-06", 0, 0, 0, 0, 0)]);
    assert_eq!(effective_minor(&world), i64::try_from(PRICE_MINOR).expect("small"));
}

#[test]
fn a_statement_has_the_sums_of_its_types() {
    let mut world = ScenarioWorld::open();
    world.given(topup(1_000));
    world.given(topup(20));
    world.given(invoice(3));
    at(&mut world, JULY);
    world.fire_all();
    let sums = world.all::<Statements>()[0].entries.sums.clone();
    let sums: Vec<_> = sums.iter().map(|sum| (sum.entry_type, sum.direction, sum.count, sum.amount_minor)).collect();
    let expected = [(EntryType::AddPrefund, Direction::Credit, 2, 1_020), (EntryType::Invoice, Direction::Debit, 1, 3)];
    assert_eq!(sums, expected);
}

#[test]
fn a_capture_is_of_the_month_in_which_it_is_recorded_as_settled() {
    let mut world = ScenarioWorld::open();
    at(&mut world, Millis(JULY.0 - 1_000));
    world.held();
    at(&mut world, AUGUST);
    close_due_months(&mut world);
    at(&mut world, OCTOBER);
    close_due_months(&mut world);
    let price = i64::try_from(PRICE_MINOR).expect("small");
    let expected = [
        row("2025-06", 0, 0, 0, 0, 0),
        row("2025-07", 0, 0, 0, 0, 0),
        row("2025-08", 0, PRICE_MINOR, 0, price, 1),
        row("2025-09", price, 0, 0, price, 0),
    ];
    assert_eq!(all_shown(&world), expected, "its timer was late");
}

#[test]
fn a_merchant_without_a_balance_has_no_statements() {
    let mut world = ScenarioWorld::open();
    at(&mut world, AUGUST);
    world.given(generate_key(world.merchant_id, 2, None));
    assert_eq!((world.state.statement_period, world.timers()), (None, vec![]));
}
