//! The filter `created_at` at the edges of its ranges: specification 4.3 and contract, section 6.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use crate::harness::{Shop, Stage, merged};

/// Zones on both sides of UTC, up to both ends of the world, and one with an offset that is not a whole hour.
const ZONES: [&str; 7] = [
    "UTC",
    "Asia/Bangkok",
    "America/Los_Angeles",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "America/St_Johns",
];

/// A merchant in a time zone whose activity log has an entry at each of some instants, identified by their indexes.
struct TimedEntries<'a> {
    stage: &'a Stage,
    shop: Shop,
}

impl<'a> TimedEntries<'a> {
    fn new(stage: &'a Stage, zone: &str, instants: &[String]) -> TimedEntries<'a> {
        stage.set(&at(&instants[0], -86_400_000));
        let shop = stage.shop_with(json!({ "name": "Shop", "currency": "THB", "time_zone": zone }));
        for (place, instant) in instants.iter().enumerate() {
            stage.set(instant);
            shop.call("invite-user", &json!({ "email": format!("e{place}@shop.example") })).id();
        }
        TimedEntries { stage, shop }
    }

    fn list(&self, body: &Value) -> Value {
        self.shop.call("list-activity-logs", body).ok()
    }

    /// The indexes of the entries that a filter finds, the oldest first.
    #[track_caller]
    fn found(&self, created_at: &str) -> Vec<usize> {
        let page = self.list(&json!({ "created_at": created_at, "per_page": 100 }));
        let place = |entry: &Value| {
            let email = entry["user_email"].as_str().expect("an address");
            email[1..].split('@').next().and_then(|place| place.parse().ok()).expect("a place")
        };
        let mut places: Vec<usize> = page["page"].as_array().expect("a page").iter().map(place).collect();
        places.reverse();
        places
    }

    /// Checks that at an instant a keyword finds the entries of the days from the first to the last, and that the next
    /// page names these days.
    #[track_caller]
    fn means(&self, now: &str, keyword: &str, days: &str, places: &[usize]) {
        self.stage.set(now);
        assert_eq!(self.found(keyword), places, "{keyword} at {now}");
        assert_eq!(self.found(days), places, "{days}");
        let first = self.list(&json!({ "created_at": keyword, "per_page": 1 }));
        assert_eq!(first["next"]["created_at"], days, "{keyword} at {now}");
        self.stage.set(&at(now, 40 * 86_400_000));
        let second = self.list(&first["next"]);
        assert_eq!(second["page"].as_array().map(Vec::len), Some(1), "it still means {days} when they have passed");
    }
}

/// The instant that is `after_ms` milliseconds after another.
fn at(instant: &str, after_ms: i64) -> String {
    let instant: Timestamp = instant.parse().expect("an instant");
    instant.checked_add(after_ms.milliseconds()).expect("near it").to_string()
}

/// The instant at which a day begins in a zone.
fn begin(day: Date, zone: &str) -> String {
    let zone = TimeZone::get(zone).expect("a zone");
    day.to_zoned(zone).expect("a day that there was").timestamp().to_string()
}

/// The last millisecond before days, their first, their last, and the first after them.
fn edges(first: Date, last: Date, zone: &str) -> [String; 4] {
    let (from, until) = (begin(first, zone), begin(last.tomorrow().expect("not the last day"), zone));
    [at(&from, -1), from, at(&until, -1), until]
}

fn day(text: &str) -> Date {
    text.parse().expect("a day")
}

#[test]
fn days_and_months_are_exact_in_the_merchants_zone() {
    let stage = Stage::at("2023-01-01T00:00:00Z");
    for zone in ZONES {
        let log = TimedEntries::new(&stage, zone, &edges(day("2024-02-29"), day("2024-02-29"), zone));
        assert_eq!(log.found("2024-02-29"), [1, 2], "{zone}");
        assert_eq!(log.found("2024-02-29..2024-02-29"), [1, 2], "{zone}");
        assert_eq!((log.found("2024-02-28"), log.found("2024-03-01")), (vec![0], vec![3]), "{zone}");
        assert_eq!((log.found("2024-02"), log.found("2024-03")), (vec![0, 1, 2], vec![3]), "{zone}");
        assert_eq!(log.found("2024-02-28..2024-03-01"), [0, 1, 2, 3], "{zone}");
        assert_eq!((log.found("2024-02-29.."), log.found("..2024-02-29")), (vec![1, 2, 3], vec![0, 1, 2]), "{zone}");
        assert_eq!((log.found("2024-03-01.."), log.found("..2024-02-28")), (vec![3], vec![0]), "{zone}");
        assert_eq!((log.found("2024-03.."), log.found("..2024-02")), (vec![3], vec![0, 1, 2]), "{zone}");
    }
}

#[test]
fn a_day_of_a_clock_change_has_its_real_length() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    for (zone, changed, hours) in [
        ("Europe/Berlin", "2025-03-30", 23),
        ("Europe/Berlin", "2025-10-26", 25),
        ("America/New_York", "2025-03-09", 23),
        ("America/New_York", "2025-11-02", 25),
        ("America/Santiago", "2025-09-07", 23),
    ] {
        let edges = edges(day(changed), day(changed), zone);
        let [_, from, last, _] = &edges;
        assert_eq!(at(from, hours * 3_600_000 - 1), *last, "{changed} in {zone} has {hours} hours");
        let log = TimedEntries::new(&stage, zone, &edges);
        assert_eq!(log.found(changed), [1, 2], "{changed} in {zone}");
        log.means(from, "today", &format!("{changed}..{changed}"), &[1, 2]);
        log.means(last, "today", &format!("{changed}..{changed}"), &[1, 2]);
        log.means(&edges[3], "yesterday", &format!("{changed}..{changed}"), &[1, 2]);
    }
}

#[test]
fn today_and_yesterday_change_at_midnight_in_the_merchants_zone() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    for zone in ZONES {
        let edges = edges(day("2025-12-31"), day("2025-12-31"), zone);
        let [before, from, last, after] = &edges;
        let log = TimedEntries::new(&stage, zone, &edges);
        log.means(from, "today", "2025-12-31..2025-12-31", &[1, 2]);
        log.means(last, "today", "2025-12-31..2025-12-31", &[1, 2]);
        log.means(after, "yesterday", "2025-12-31..2025-12-31", &[1, 2]);
        stage.set(before);
        assert_eq!((log.found("today"), log.found("yesterday")), (vec![0], vec![]), "{zone}");
        stage.set(from);
        assert_eq!(log.found("yesterday"), [0], "{zone}");
        stage.set(after);
        assert_eq!(log.found("today"), [3], "{zone}");
    }
}

#[test]
fn weeks_run_from_monday_to_sunday_over_every_boundary() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    for (zone, first, last) in [
        ("UTC", "2025-12-29", "2026-01-04"),
        ("Asia/Bangkok", "2025-09-29", "2025-10-05"),
        ("America/Los_Angeles", "2025-06-30", "2025-07-06"),
        ("Europe/Berlin", "2025-10-20", "2025-10-26"),
        ("America/New_York", "2025-03-03", "2025-03-09"),
        ("Pacific/Kiritimati", "2024-02-26", "2024-03-03"),
        ("Pacific/Pago_Pago", "2025-11-17", "2025-11-23"),
    ] {
        let edges = edges(day(first), day(last), zone);
        let log = TimedEntries::new(&stage, zone, &edges);
        let days = format!("{first}..{last}");
        log.means(&edges[1], "this_week", &days, &[1, 2]);
        log.means(&edges[2], "this_week", &days, &[1, 2]);
        log.means(&edges[3], "last_week", &days, &[1, 2]);
        log.means(&at(&edges[3], 7 * 86_400_000 - 3_600_000 * 2), "last_week", &days, &[1, 2]);
        stage.set(&edges[0]);
        assert_eq!((log.found("this_week"), log.found("last_week")), (vec![0], vec![]), "{zone}");
        stage.set(&edges[3]);
        assert_eq!(log.found("this_week"), [3], "{zone}");
    }
}

#[test]
fn months_have_their_own_lengths_over_every_boundary() {
    let stage = Stage::at("2023-01-01T00:00:00Z");
    for (zone, first, last) in [
        ("UTC", "2024-02-01", "2024-02-29"),
        ("UTC", "2025-02-01", "2025-02-28"),
        ("Asia/Bangkok", "2025-12-01", "2025-12-31"),
        ("America/Los_Angeles", "2025-11-01", "2025-11-30"),
        ("Europe/Berlin", "2025-03-01", "2025-03-31"),
        ("Pacific/Kiritimati", "2025-04-01", "2025-04-30"),
        ("Pacific/Pago_Pago", "2026-01-01", "2026-01-31"),
    ] {
        let edges = edges(day(first), day(last), zone);
        let log = TimedEntries::new(&stage, zone, &edges);
        let days = format!("{first}..{last}");
        log.means(&edges[1], "this_month", &days, &[1, 2]);
        log.means(&edges[2], "this_month", &days, &[1, 2]);
        log.means(&edges[3], "last_month", &days, &[1, 2]);
        log.means(&at(&edges[3], 27 * 86_400_000), "last_month", &days, &[1, 2]);
        stage.set(&edges[0]);
        assert_eq!((log.found("this_month"), log.found("last_month")), (vec![0], vec![]), "{zone}");
        stage.set(&edges[3]);
        assert_eq!(log.found("this_month"), [3], "{zone}");
    }
}

/// Entries around half past ten on the first of April 2025, UTC.
fn around_half_past_ten() -> Vec<String> {
    ["10:29:59.999", "10:30:00", "10:30:15", "10:30:15.999", "10:30:59.999", "10:31:00"]
        .map(|time| format!("2025-04-01T{time}Z"))
        .to_vec()
}

#[test]
fn a_date_and_time_is_its_own_unit_down_to_milliseconds() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    let log = TimedEntries::new(&stage, "Asia/Bangkok", &around_half_past_ten());
    for (filter, places) in [
        ("2025-04-01T10Z", &[0, 1, 2, 3, 4, 5][..]),
        ("2025-04-01T10:30Z", &[1, 2, 3, 4]),
        ("2025-04-01T10:30:15Z", &[2, 3]),
        ("2025-04-01T10:30:15.999Z", &[3]),
        ("2025-04-01T10:30:15.9Z", &[3]),
        ("2025-04-01T10:30:16Z", &[]),
        ("2025-04-01T12:30+02:00", &[1, 2, 3, 4]),
        ("2025-04-01T05:30:15-05:00", &[2, 3]),
        ("2025-04-01T17:30", &[1, 2, 3, 4]),
        ("2025-04-01T17:30:15", &[2, 3]),
        ("2025-04-01T10:30", &[]),
    ] {
        assert_eq!(log.found(filter), places, "{filter}");
    }
}

#[test]
fn both_ends_of_a_range_are_included_and_may_be_open() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    let log = TimedEntries::new(&stage, "UTC", &around_half_past_ten());
    for (filter, places) in [
        ("2025-04-01T10:30Z..2025-04-01T10:30Z", &[1, 2, 3, 4][..]),
        ("2025-04-01T10:30:15Z..2025-04-01T10:30:59Z", &[2, 3, 4]),
        ("2025-04-01T10:30:15.999Z..2025-04-01T10:31Z", &[3, 4, 5]),
        ("2025-04-01T10:29Z..2025-04-01T10:30:15.998Z", &[0, 1, 2]),
        ("2025-04-01T10:30:16Z..", &[4, 5]),
        ("..2025-04-01T10:30:15Z", &[0, 1, 2, 3]),
        ("..2025-04-01T10:29Z", &[0]),
        ("2025-04-01T10:31:00.001Z..", &[]),
        ("2025-04-01T10:31Z..2025-04-02", &[5]),
        ("2025-04-01..2025-04-01", &[0, 1, 2, 3, 4, 5]),
        ("2025-04-02..", &[]),
        ("..2025-03-31", &[]),
    ] {
        assert_eq!(log.found(filter), places, "{filter}");
    }
}

#[test]
fn a_repeated_local_time_is_the_first_and_a_skipped_one_later() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    let instants = ["2025-03-30T01:30:00Z", "2025-10-26T00:30:00Z", "2025-10-26T01:30:00Z"].map(str::to_owned);
    let log = TimedEntries::new(&stage, "Europe/Berlin", &instants);
    for (filter, places) in [
        ("2025-03-30T02:30", &[0][..]),
        ("2025-03-30T03:30", &[0]),
        ("2025-10-26T02:30", &[1]),
        ("2025-10-26T02:30+02:00", &[1]),
        ("2025-10-26T02:30+01:00", &[2]),
        ("2025-10-26T03:30", &[]),
    ] {
        assert_eq!(log.found(filter), places, "{filter}");
    }
}

#[test]
fn a_time_filter_and_another_are_combined_and_carried_on() {
    let stage = Stage::at("2025-01-01T00:00:00Z");
    let log = TimedEntries::new(&stage, "UTC", &around_half_past_ten());
    let filters = json!({ "created_at": "2025-04-01T10:30Z", "activity_type": "user_invited", "terms": "@SHOP" });
    let first = log.list(&merged(&filters, &json!({ "per_page": 3 })));
    let expected = json!({ "after": first["page"][2]["activity_log_id"], "per_page": 3 });
    assert_eq!(first["next"], merged(&filters, &expected));
    let second = log.list(&first["next"]);
    assert_eq!((second["page"].as_array().map(Vec::len), &second["next"]), (Some(1), &Value::Null));
}
