//! The months of time zones: the domain's rules have no time zone database, and get them from here.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use till_domain::statement::{Calendar, Month, MonthBounds, UtcCalendar};
use till_domain::text;
use till_domain::time::Millis;

/// The months of the time zone database. A month begins with the first instant of its first day, even where the clocks
/// skip midnight. A zone that the database no longer has counts as UTC.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ZoneCalendar;

impl Calendar for ZoneCalendar {
    fn month_at(&self, zone: &text::TimeZone, at: Millis) -> MonthBounds {
        let known = TimeZone::get(zone.as_str()).unwrap_or(TimeZone::UTC);
        bounds(&known, at).unwrap_or_else(|| UtcCalendar.month_at(zone, at))
    }
}

/// The month of a zone at an instant; none outside of the years that the library supports.
fn bounds(zone: &TimeZone, at: Millis) -> Option<MonthBounds> {
    let instant = Timestamp::from_millisecond(i64::try_from(at.0).ok()?).ok()?;
    let first = zone.to_datetime(instant).date().first_of_month();
    let next = first.checked_add(1.month()).ok()?;
    let bounds = of(zone, first, next)?;
    // When clocks are turned back across midnight, the last hour of a month is repeated after the next one has begun.
    if bounds.ends_at > at { Some(bounds) } else { of(zone, next, next.checked_add(1.month()).ok()?) }
}

fn of(zone: &TimeZone, first: Date, next: Date) -> Option<MonthBounds> {
    let month = Month { year: u16::try_from(first.year()).ok()?, number: u8::try_from(first.month()).ok()? };
    Some(MonthBounds { month, starts_at: beginning(zone, first)?, ends_at: beginning(zone, next)? })
}

/// The first instant of a day.
fn beginning(zone: &TimeZone, day: Date) -> Option<Millis> {
    let millis = day.to_zoned(zone.clone()).ok()?.timestamp().as_millisecond();
    u64::try_from(millis).ok().map(Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn month(zone: &str, at: &str) -> (String, String, String) {
        let instant =
            |text: &str| Millis(text.parse::<Timestamp>().expect("a timestamp").as_millisecond().unsigned_abs());
        let bounds = ZoneCalendar.month_at(&text::TimeZone::from_stored(zone.to_owned()), instant(at));
        let text = |millis: Millis| {
            let millis = i64::try_from(millis.0).expect("in range");
            Timestamp::from_millisecond(millis).expect("in range").to_string()
        };
        (bounds.month.to_string(), text(bounds.starts_at), text(bounds.ends_at))
    }

    fn of(month: &str, starts_at: &str, ends_at: &str) -> (String, String, String) {
        (month.to_owned(), starts_at.to_owned(), ends_at.to_owned())
    }

    #[test]
    fn a_month_begins_at_midnight_of_its_zone() {
        let bangkok = of("2026-11", "2026-10-31T17:00:00Z", "2026-11-30T17:00:00Z");
        assert_eq!(month("Asia/Bangkok", "2026-10-31T17:00:00Z"), bangkok);
        assert_eq!(month("Asia/Bangkok", "2026-11-30T16:59:59.999Z"), bangkok);
        assert_eq!(month("Asia/Bangkok", "2026-11-30T17:00:00Z").0, "2026-12");
        let kathmandu = of("2026-02", "2026-01-31T18:15:00Z", "2026-02-28T18:15:00Z");
        assert_eq!(month("Asia/Kathmandu", "2026-02-10T00:00:00Z"), kathmandu);
    }

    #[test]
    fn a_month_in_which_clocks_change_begins_and_ends_at_midnight() {
        let spring = of("2026-03", "2026-03-01T05:00:00Z", "2026-04-01T04:00:00Z");
        assert_eq!(month("America/New_York", "2026-03-20T00:00:00Z"), spring);
        let autumn = of("2026-11", "2026-11-01T04:00:00Z", "2026-12-01T05:00:00Z");
        assert_eq!(month("America/New_York", "2026-11-20T00:00:00Z"), autumn);
    }

    #[test]
    fn a_zone_that_is_not_known_has_the_months_of_utc() {
        let utc = of("2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z");
        assert_eq!(month("Nowhere/Lost", "2026-12-31T23:59:59Z"), utc);
    }

    #[test]
    fn months_follow_each_other_without_a_gap_in_every_zone() {
        for zone in jiff::tz::db().available() {
            let (zone, mut at) = (text::TimeZone::from_stored(zone.as_str().to_owned()), Millis(1_735_700_000_000));
            for _ in 0..60 {
                let bounds = ZoneCalendar.month_at(&zone, at);
                assert!(bounds.starts_at <= at && at < bounds.ends_at, "{zone:?} {bounds:?} {at:?}");
                at = bounds.ends_at;
                assert_eq!(ZoneCalendar.month_at(&zone, at).starts_at, at, "{zone:?}");
            }
        }
    }
}
