//! The filter by time of creation: the instants that a text means in a merchant's time zone.
//!
//! | form | stands for |
//! |---|---|
//! | `2025-04-01` | that day |
//! | `2025-04` | that month |
//! | `2025-04-01T10`, `..T10:30`, `..T10:30:15`, `..T10:30:15.25`, each with `Z` or an offset or without | that hour, minute, second, fraction of a second |
//! | `a..b`, `a..`, `..b` of those | from the beginning of `a` to the end of `b` |
//! | `today`, `yesterday`, `this_week`, `last_week`, `this_month`, `last_month` | those days; weeks begin on Monday |
//!
//! A local time that the clocks skip is that much later; one that comes twice is the first of them.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};
use till_domain::ids::Id;
use till_domain::merchant::Profile;
use till_domain::records::{Profiles, Rows, Single};
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::arguments::{FieldIn, OptionalIn};
use till_protocol::declaration::{Text, ValueType};
use till_protocol::json::Json;

use crate::service::{FilterText, IdSpan, Reader, Service};

/// The message about a text of no known form.
const REMEDY: &str = "send a date (2025-04-01), a month (2025-04), a date and time (2025-04-01T10:30), a range of \
    these (a..b, a.., ..b), or today, yesterday, this_week, last_week, this_month or last_month";

/// A keyword, a point in time, or a range of which either end may be open.
const PATTERN: &str = "^(today|yesterday|this_week|last_week|this_month|last_month\
    |[0-9]{4}-[0-9]{2}(-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+)?)?)?\
    |([0-9]{4}-[0-9]{2}(-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+)?)?)?)?\\.\\.([0-9]{4}-[0-9]{2}(-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+)?)?)?)?)$";

/// The time and the time zone that a text such as `today` means.
pub(super) struct MerchantClock {
    pub(super) now: Millis,
    pub(super) zone: TimeZone,
}

impl MerchantClock {
    /// The clock of the merchant whose rows are read.
    pub(super) fn of(service: &Service, reader: &Reader<'_>) -> Result<MerchantClock, ApiError> {
        let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
        Ok(MerchantClock { now: service.clock_of(reader.merchant_id()), zone: zone(&profile) })
    }
}

/// Such a text.
pub(super) const CREATED_AT: FieldIn<CreatedRange, MerchantClock> = FieldIn {
    value_type: ValueType::Text(Text { pattern: Some(PATTERN), example: Some("this_month"), ..Text::PLAIN }),
    parse: |value, clock| created_range(value, clock.now, &clock.zone),
};

/// The filter of a list by time of creation, as an argument.
pub(super) const CREATED_AT_ARGUMENT: OptionalIn<CreatedRange, MerchantClock> = CREATED_AT
    .optional(
        "When it was recorded, in the merchant's time zone: a date, a month, an ISO 8601 date and time (the \
        minute, second or fraction that is given), a range `a..b` of these with both ends included and either left \
        out, or `today`, `yesterday`, `this_week`, `last_week`, `this_month`, `last_month`.",
    )
    .with_name("created_at");

/// The filter of a list by time of creation, when it was given.
pub(super) struct CreatedAt(pub(super) Option<CreatedRange>);

impl CreatedAt {
    /// The ids of what was created then; `None` when there can be none.
    pub(super) fn span<K: Id + Ord>(&self) -> Option<IdSpan<K>> {
        match &self.0 {
            Some(created) => IdSpan::made_between(created.from, created.until),
            None => Some(IdSpan::all()),
        }
    }

    /// The filter for the calls for the pages beside one.
    pub(super) fn filter_text(&self) -> FilterText {
        ("created_at", self.0.as_ref().map(|created| created.text.clone()))
    }
}

/// The merchant's time zone. A name that the zone database has lost since is UTC.
pub(super) fn zone(profile: &Profile) -> TimeZone {
    TimeZone::get(profile.time_zone.as_str()).unwrap_or(TimeZone::UTC)
}

/// The instants from one, inclusive, to another, exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CreatedRange {
    pub(super) from: Millis,
    /// The first instant after the range.
    pub(super) until: Millis,
    /// A text with the same meaning whenever it is sent: a keyword as the days that it meant.
    pub(super) text: String,
}

/// The range that a text means at `now`.
///
/// # Errors
/// The message says what form to send.
pub(super) fn created_range(value: &Json, now: Millis, zone: &TimeZone) -> Result<CreatedRange, String> {
    let text = value.as_str().ok_or_else(|| format!("{REMEDY}, and not {}", value.kind()))?;
    let text = keyword(text, now, zone).unwrap_or_else(|| text.to_owned());
    let (from, until) = match text.split_once("..") {
        Some(("", "")) => return Err(REMEDY.to_owned()),
        Some((first, last)) => (parse_open(first)?, parse_open(last)?),
        None => {
            let point = Point::parse(&text)?;
            (Some(point), Some(point))
        }
    };
    let from = from.map_or(Millis(0), |point| point.begin(zone));
    let until = until.map_or(Millis(u64::MAX), |point| point.end(zone));
    // A range that is wholly outside of the time that can be stored is well-formed, and empty.
    if from >= until && until > Millis(0) && from < Millis(u64::MAX) {
        return Err("the range begins after it ends".to_owned());
    }
    Ok(CreatedRange { from, until, text })
}

/// The days that a keyword means.
fn keyword(word: &str, now: Millis, zone: &TimeZone) -> Option<String> {
    let now = Timestamp::from_millisecond(i64::try_from(now.0).ok()?).ok()?;
    let today = zone.to_datetime(now).date();
    let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).ok()?;
    let (first, last) = match word {
        "today" => (today, today),
        "yesterday" => (today.yesterday().ok()?, today.yesterday().ok()?),
        "this_week" => (monday, monday.checked_add(6.days()).ok()?),
        "last_week" => (monday.checked_sub(7.days()).ok()?, monday.yesterday().ok()?),
        "this_month" => (today.first_of_month(), today.last_of_month()),
        "last_month" => {
            let last = today.first_of_month().yesterday().ok()?;
            (last.first_of_month(), last)
        }
        _ => return None,
    };
    Some(format!("{first}..{last}"))
}

fn parse_open(text: &str) -> Result<Option<Point>, String> {
    if text.is_empty() { Ok(None) } else { Point::parse(text).map(Some) }
}

/// A stretch of time that a text names.
#[derive(Debug, Clone, Copy)]
enum Point {
    Month(Date),
    Day(Date),
    /// A date and time with its own unit.
    Instant {
        begin: DateTime,
        unit: SignedDuration,
        offset: Option<Offset>,
    },
}

impl Point {
    fn parse(text: &str) -> Result<Point, String> {
        let point = if !text.is_ascii() {
            None
        } else if text.len() == "2025-04".len() {
            date(&format!("{text}-01")).map(Point::Month)
        } else if text.len() == "2025-04-01".len() {
            date(text).map(Point::Day)
        } else {
            instant(text)
        };
        point.ok_or_else(|| REMEDY.to_owned())
    }

    fn begin(self, zone: &TimeZone) -> Millis {
        match self {
            Point::Month(date) | Point::Day(date) => midnight(date, zone),
            Point::Instant { begin, unit: _, offset } => millis(timestamp(begin, offset, zone)),
        }
    }

    /// The first instant after it; none where the calendar ends.
    fn end(self, zone: &TimeZone) -> Millis {
        let next = match self {
            Point::Month(date) => date.last_of_month().tomorrow().ok().map(|date| midnight(date, zone)),
            Point::Day(date) => date.tomorrow().ok().map(|date| midnight(date, zone)),
            Point::Instant { begin, unit, offset } => {
                let begin = timestamp(begin, offset, zone);
                begin.and_then(|begin| begin.checked_add(unit).ok()).map(|end| millis(Some(end)))
            }
        };
        next.unwrap_or(Millis(u64::MAX))
    }
}

/// The first instant of a day, which is not at midnight where the clocks skip it.
pub(super) fn midnight(date: Date, zone: &TimeZone) -> Millis {
    millis(timestamp(date.to_datetime(Time::midnight()), None, zone))
}

fn timestamp(civil: DateTime, offset: Option<Offset>, zone: &TimeZone) -> Option<Timestamp> {
    match offset {
        Some(offset) => offset.to_timestamp(civil).ok(),
        None => zone.to_ambiguous_timestamp(civil).compatible().ok(),
    }
}

/// Milliseconds; a time before 1970 is the beginning of 1970, and a time beyond the calendar is its end.
fn millis(timestamp: Option<Timestamp>) -> Millis {
    timestamp.map_or(Millis(u64::MAX), |at| Millis(u64::try_from(at.as_millisecond()).unwrap_or(0)))
}

/// A date such as `2025-04-01`.
pub(super) fn date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if parts.next().is_some() {
        return None;
    }
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

fn instant(text: &str) -> Option<Point> {
    let (day, rest) = text.split_once(['T', 't'])?;
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone_at);
    let (time, unit) = time_of_day(time)?;
    let offset = if zone.is_empty() { None } else { Some(offset(zone)?) };
    Some(Point::Instant { begin: date(day)?.to_datetime(time), unit, offset })
}

/// A time of day and the unit that it is given to.
fn time_of_day(text: &str) -> Option<(Time, SignedDuration)> {
    let mut parts = text.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = parts.next();
    let second = parts.next();
    if parts.next().is_some() {
        return None;
    }
    let (second, fraction) = match second {
        Some(second) => second.split_once('.').map_or((Some(second), None), |(whole, part)| (Some(whole), Some(part))),
        None => (None, None),
    };
    let (nanoseconds, unit) = match (minute, second, fraction) {
        (_, _, Some(fraction)) => parse_fraction(fraction)?,
        (_, Some(_), None) => (0, SignedDuration::from_secs(1)),
        (Some(_), None, None) => (0, SignedDuration::from_mins(1)),
        (None, None, None) => (0, SignedDuration::from_hours(1)),
    };
    let two = |text: Option<&str>| text.map_or(Some(0), |text| digits(text, 2));
    let part = |number: u32| i8::try_from(number).ok();
    let time = Time::new(part(hour)?, part(two(minute)?)?, part(two(second)?)?, nanoseconds).ok()?;
    Some((time, unit))
}

/// A fraction of a second in nanoseconds, and its unit; times are kept to the millisecond, so that no unit is
/// smaller.
fn parse_fraction(text: &str) -> Option<(i32, SignedDuration)> {
    let count = Some(text.len()).filter(|count| (1..=9).contains(count))?;
    let kept = count.min(3);
    digits(text, count)?;
    let unit = 10_i32.pow(9 - u32::try_from(kept).ok()?);
    let nanoseconds = i32::try_from(digits(&text[..kept], kept)?).ok()?.checked_mul(unit)?;
    Some((nanoseconds, SignedDuration::from_nanos(i64::from(unit))))
}

fn offset(text: &str) -> Option<Offset> {
    if matches!(text, "Z" | "z") {
        return Some(Offset::UTC);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let rest = &text[1..];
    let (hours, minutes) = match rest.len() {
        2 => (digits(rest, 2)?, 0),
        4 => (digits(&rest[..2], 2)?, digits(&rest[2..], 2)?),
        5 if rest.as_bytes()[2] == b':' => (digits(&rest[..2], 2)?, digits(&rest[3..], 2)?),
        _ => return None,
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * i32::try_from(hours * 3_600 + minutes * 60).ok()?).ok()
}

/// A number of exactly so many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let is_plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
#[path = "created_at_tests.rs"]
mod tests;
