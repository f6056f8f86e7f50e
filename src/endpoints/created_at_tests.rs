//! The forms of `created_at`: all of them, their limits, and the refused ones.

use super::*;

/// Thursday, 20 November 2025, 18:30 UTC.
const NOW: &str = "2025-11-20T18:30:00Z";

fn millis_of(text: &str) -> u64 {
    let timestamp: Timestamp = text.parse().expect("a timestamp of a test");
    u64::try_from(timestamp.as_millisecond()).expect("after 1970")
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).expect("a zone of the database")
}

fn read(text: &str, zone_name: &str) -> CreatedRange {
    read_at(text, zone_name, NOW)
}

fn read_at(text: &str, zone_name: &str, now: &str) -> CreatedRange {
    created_range(&Json::String(text.to_owned()), Millis(millis_of(now)), &zone(zone_name))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Checks that `text` stands for the time from one instant, inclusive, to another, exclusive.
#[track_caller]
fn stands_for(text: &str, zone_name: &str, from: &str, until: &str) {
    let found = read(text, zone_name);
    assert_eq!((found.from, found.until), (Millis(millis_of(from)), Millis(millis_of(until))), "{text} in {zone_name}");
}

/// Checks the days that a keyword stands for at `now`.
#[track_caller]
fn means(word: &str, zone_name: &str, now: &str, days: &str) {
    assert_eq!(read_at(word, zone_name, now).text, days, "{word} in {zone_name} at {now}");
}

#[test]
fn a_date_is_that_day_in_the_merchants_zone() {
    stands_for("2025-04-01", "UTC", "2025-04-01T00:00:00Z", "2025-04-02T00:00:00Z");
    stands_for("2025-04-01", "Asia/Bangkok", "2025-03-31T17:00:00Z", "2025-04-01T17:00:00Z");
    stands_for("2025-04-01", "America/New_York", "2025-04-01T04:00:00Z", "2025-04-02T04:00:00Z");
    stands_for("2024-02-29", "Pacific/Kiritimati", "2024-02-28T10:00:00Z", "2024-02-29T10:00:00Z");
}

#[test]
fn a_month_is_from_its_first_day_to_its_last() {
    stands_for("2024-02", "UTC", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z");
    stands_for("2025-12", "Asia/Tokyo", "2025-11-30T15:00:00Z", "2025-12-31T15:00:00Z");
}

#[test]
fn a_day_on_which_the_clocks_change_is_longer_or_shorter() {
    stands_for("2025-03-30", "Europe/Berlin", "2025-03-29T23:00:00Z", "2025-03-30T22:00:00Z");
    stands_for("2025-10-26", "Europe/Berlin", "2025-10-25T22:00:00Z", "2025-10-26T23:00:00Z");
    stands_for("2025-03-09", "America/New_York", "2025-03-09T05:00:00Z", "2025-03-10T04:00:00Z");
}

#[test]
fn a_day_without_a_midnight_begins_with_its_first_instant() {
    // On 6 September 2025 the clocks of Santiago went from 24:00 to 01:00.
    stands_for("2025-09-07", "America/Santiago", "2025-09-07T04:00:00Z", "2025-09-08T03:00:00Z");
    stands_for("2025-09-06", "America/Santiago", "2025-09-06T04:00:00Z", "2025-09-07T04:00:00Z");
}

#[test]
fn a_date_and_time_is_its_own_unit() {
    stands_for("2025-04-01T10", "UTC", "2025-04-01T10:00:00Z", "2025-04-01T11:00:00Z");
    stands_for("2025-04-01T10:30", "UTC", "2025-04-01T10:30:00Z", "2025-04-01T10:31:00Z");
    stands_for("2025-04-01T10:30:59", "UTC", "2025-04-01T10:30:59Z", "2025-04-01T10:31:00Z");
    stands_for("2025-04-01T10:30:15.2", "UTC", "2025-04-01T10:30:15.2Z", "2025-04-01T10:30:15.3Z");
    stands_for("2025-04-01T10:30:15.123456", "UTC", "2025-04-01T10:30:15.123Z", "2025-04-01T10:30:15.124Z");
}

#[test]
fn a_date_and_time_is_local_unless_it_names_an_offset() {
    stands_for("2025-04-01T10:30", "Asia/Bangkok", "2025-04-01T03:30:00Z", "2025-04-01T03:31:00Z");
    for text in ["2025-04-01T10:30Z", "2025-04-01t10:30z", "2025-04-01T12:30+02:00", "2025-04-01T05:30-0500"] {
        stands_for(text, "Asia/Bangkok", "2025-04-01T10:30:00Z", "2025-04-01T10:31:00Z");
    }
    stands_for("2025-04-01T12+02", "UTC", "2025-04-01T10:00:00Z", "2025-04-01T11:00:00Z");
}

#[test]
fn skipped_local_times_are_later_and_repeated_ones_the_first() {
    stands_for("2025-03-30T02:30", "Europe/Berlin", "2025-03-30T01:30:00Z", "2025-03-30T01:31:00Z");
    stands_for("2025-10-26T02:30", "Europe/Berlin", "2025-10-26T00:30:00Z", "2025-10-26T00:31:00Z");
    stands_for("2025-10-26T02:30+01:00", "Europe/Berlin", "2025-10-26T01:30:00Z", "2025-10-26T01:31:00Z");
}

#[test]
fn both_ends_of_a_range_are_included() {
    stands_for("2025-04-01..2025-04-01", "UTC", "2025-04-01T00:00:00Z", "2025-04-02T00:00:00Z");
    stands_for("2025-04-01..2025-04-30", "Asia/Bangkok", "2025-03-31T17:00:00Z", "2025-04-30T17:00:00Z");
    stands_for("2025-04..2025-05", "UTC", "2025-04-01T00:00:00Z", "2025-06-01T00:00:00Z");
    stands_for("2025-04-01T10:00..2025-04-01T10:30", "UTC", "2025-04-01T10:00:00Z", "2025-04-01T10:31:00Z");
    stands_for("2025-04-01T23:59:59..2025-04-02", "UTC", "2025-04-01T23:59:59Z", "2025-04-03T00:00:00Z");
    stands_for("2025-04-01T10:00:00.5..2025-04-01T10:00:01", "UTC", "2025-04-01T10:00:00.5Z", "2025-04-01T10:00:02Z");
}

#[test]
fn a_range_may_be_open_at_either_end() {
    let from = read("2025-04-01..", "UTC");
    assert_eq!((from.from, from.until), (Millis(millis_of("2025-04-01T00:00:00Z")), Millis(u64::MAX)));
    let until = read("..2025-04-01", "UTC");
    assert_eq!((until.from, until.until), (Millis(0), Millis(millis_of("2025-04-02T00:00:00Z"))));
}

#[test]
fn a_range_outside_of_stored_time_is_empty_or_cut() {
    let before = read("1969-12-31", "UTC");
    assert_eq!((before.from, before.until), (Millis(0), Millis(0)));
    assert_eq!(read("9999-12-31", "UTC").until, Millis(u64::MAX));
    assert_eq!(read("9999-12", "Asia/Tokyo").until, Millis(u64::MAX));
}

#[test]
fn keywords_are_days_of_the_merchants_zone() {
    means("today", "UTC", NOW, "2025-11-20..2025-11-20");
    means("today", "Asia/Bangkok", NOW, "2025-11-21..2025-11-21");
    means("yesterday", "Asia/Bangkok", NOW, "2025-11-20..2025-11-20");
    means("today", "America/Los_Angeles", "2025-11-20T07:59:59.999Z", "2025-11-19..2025-11-19");
    means("today", "America/Los_Angeles", "2025-11-20T08:00:00Z", "2025-11-20..2025-11-20");
    means("yesterday", "UTC", "2024-03-01T00:00:00Z", "2024-02-29..2024-02-29");
    means("yesterday", "UTC", "2026-01-01T00:00:00Z", "2025-12-31..2025-12-31");
}

#[test]
fn weeks_begin_on_monday() {
    means("this_week", "UTC", NOW, "2025-11-17..2025-11-23");
    means("last_week", "UTC", NOW, "2025-11-10..2025-11-16");
    means("this_week", "UTC", "2025-11-17T00:00:00Z", "2025-11-17..2025-11-23");
    means("this_week", "UTC", "2025-11-23T23:59:59.999Z", "2025-11-17..2025-11-23");
    means("last_week", "UTC", "2025-11-24T00:00:00Z", "2025-11-17..2025-11-23");
    means("this_week", "Pacific/Auckland", "2025-11-23T11:00:00Z", "2025-11-24..2025-11-30");
    means("last_week", "UTC", "2026-01-01T12:00:00Z", "2025-12-22..2025-12-28");
}

#[test]
fn months_have_their_own_lengths() {
    means("this_month", "UTC", NOW, "2025-11-01..2025-11-30");
    means("last_month", "UTC", NOW, "2025-10-01..2025-10-31");
    means("last_month", "UTC", "2024-03-31T23:59:59Z", "2024-02-01..2024-02-29");
    means("last_month", "UTC", "2026-01-31T00:00:00Z", "2025-12-01..2025-12-31");
    means("this_month", "America/New_York", "2025-12-01T04:59:59Z", "2025-11-01..2025-11-30");
}

#[test]
fn a_week_in_which_the_clocks_change_is_as_long_as_it_is() {
    let week = read_at("this_week", "Europe/Berlin", "2025-10-22T12:00:00Z");
    assert_eq!(
        (week.from, week.until),
        (Millis(millis_of("2025-10-19T22:00:00Z")), Millis(millis_of("2025-10-26T23:00:00Z")))
    );
}

#[test]
fn the_cursor_of_a_keyword_keeps_the_days_that_it_meant() {
    let today = read("today", "Asia/Bangkok");
    let tomorrow = read_at(&today.text, "Asia/Bangkok", "2025-11-22T00:00:00Z");
    assert_eq!(today, tomorrow);
}

#[test]
fn anything_else_is_refused_with_the_forms() {
    for text in [
        "",
        "..",
        "tomorrow",
        "Today",
        "2025",
        "2025-4-1",
        "2025-04-31",
        "2025-13",
        "2025-00-01",
        "20250401",
        "2025-04-01 10:30",
        "2025-04-01T",
        "2025-04-01T24:00",
        "2025-04-01T10:60",
        "2025-04-01T10:30:60",
        "2025-04-01T10:30:15.",
        "2025-04-01T1:30",
        "2025-04-01T10:30+25:00",
        "2025-04-01T10:30+02:0",
        "2025-04-01Z",
        "2025-04-01T10:30[Asia/Bangkok]",
        "today..",
        "2025-04-01..today",
        "2025-04-01...2025-04-02",
        "2025-04-01..2025-04-02..2025-04-03",
        "+2025-04-01",
        "２０２５-04-01",
        "2025-04-01T10:30:15.1234567890",
    ] {
        let refused = created_range(&Json::String(text.to_owned()), Millis(millis_of(NOW)), &TimeZone::UTC);
        assert_eq!(refused, Err(REMEDY.to_owned()), "{text}");
    }
}

#[test]
fn a_range_that_begins_after_it_ends_is_refused() {
    for text in ["2025-04-02..2025-04-01", "2025-04-01T10:31..2025-04-01T10:30", "2025-05..2025-04"] {
        let refused = created_range(&Json::String(text.to_owned()), Millis(millis_of(NOW)), &TimeZone::UTC);
        assert_eq!(refused, Err("the range begins after it ends".to_owned()), "{text}");
    }
}
