//! The picture of payments by day, and the table behind it.

use std::collections::BTreeMap;

use askama::Template;
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use serde::Deserialize;

use crate::pages::parts::{Cell, Merchant, Table, number};

/// The lowest number of days that are drawn, so that a few of them are no walls, and the highest.
const DAYS_MIN: i64 = 21;
const DAYS_MAX: i64 = 92;

/// The height of the highest bar, and the width of a day, in the units of the picture.
const HEIGHT: usize = 100;
const DAY_WIDTH: usize = 10;

/// A payment, as far as the picture tells of it.
#[derive(Debug, Deserialize)]
pub(super) struct CountedPayment {
    amount: i64,
    created_at: i64,
    /// The time of its approval, where there was one.
    authorized_at: Option<i64>,
}

/// The payments of a day.
#[derive(Debug, Default, Clone, Copy)]
struct Day {
    payments: usize,
    sum_minor: i64,
    succeeded: usize,
}

/// A picture of days.
#[derive(Template)]
#[template(path = "dashboard/chart.html")]
pub(super) struct Chart {
    pub(super) payments: usize,
    pub(super) since: Date,
    pub(super) bars: Vec<Bar>,
    pub(super) width: usize,
    pub(super) table: Table,
}

/// The bar of a day: all payments, and before them those that succeeded.
pub(super) struct Bar {
    pub(super) x: usize,
    pub(super) height: usize,
    pub(super) height_succeeded: usize,
    pub(super) told: String,
}

impl Day {
    fn share(self) -> String {
        format!("{} %", self.succeeded * 100 / self.payments.max(1))
    }
}

impl Chart {
    pub(super) fn markup(&self) -> String {
        self.render().expect("a template into a text cannot fail")
    }

    /// The picture of these payments. None without any.
    pub(super) fn of(payments: &[CountedPayment], merchant: &Merchant) -> Option<Chart> {
        let mut days: BTreeMap<Date, Day> = BTreeMap::new();
        for payment in payments {
            let time = Timestamp::from_second(payment.created_at).ok()?.to_zoned(merchant.zone.clone());
            let day = days.entry(time.date()).or_default();
            day.payments += 1;
            day.sum_minor = day.sum_minor.saturating_add(payment.amount);
            day.succeeded += usize::from(payment.authorized_at.is_some());
        }
        let (since, last) = (*days.first_key_value()?.0, *days.last_key_value()?.0);
        let earliest = |drawn: i64| last.saturating_sub((drawn - 1).days());
        let drawn =
            since.clamp(earliest(DAYS_MAX), earliest(DAYS_MIN)).series(1.day()).take_while(|date| *date <= last);
        let most = days.values().map(|day| day.payments).max().unwrap_or(1);
        let bar = |(place, date): (usize, Date)| {
            let day = days.get(&date).copied().unwrap_or_default();
            Bar {
                x: place * DAY_WIDTH + 1,
                height: day.payments * HEIGHT / most,
                height_succeeded: day.succeeded * HEIGHT / most,
                told: format!("{date}: {}, {}, {} succeeded", day.payments, merchant.money(day.sum_minor), day.share()),
            }
        };
        let bars: Vec<Bar> = drawn.enumerate().map(bar).collect();
        let row = |(date, day): (&Date, &Day)| {
            vec![
                ("Day".to_owned(), Cell { text: date.to_string(), ..Cell::default() }),
                number("Payments", day.payments.to_string()),
                number("Sum", merchant.money(day.sum_minor)),
                number("Succeeded", day.share()),
            ]
        };
        let table = Table::new("Payments by day", "", days.iter().rev().map(row));
        Some(Chart { payments: payments.len(), since, width: bars.len() * DAY_WIDTH, bars, table })
    }
}
