//! Sentences that a reader must know of the figures of one run.

use super::text::{count, latency, rate};
use crate::recording::CustomerCounts;
use crate::run::Point;
use crate::scenarios::Deliveries;

/// The facts that a reader needs in order to judge the figures.
pub(super) fn remarks(point: &Point) -> Vec<String> {
    let mut remarks = Vec::new();
    for (code, failure) in &point.failures {
        remarks.push(format!("FAILED {} times: {code}: {}", count(failure.count), failure.example));
    }
    if point.wrong.count > 0 {
        remarks.push(format!("WRONG ANSWERS: {}: {}", count(point.wrong.count), point.wrong.examples.join("; ")));
    }
    if point.never_made > 0 {
        let never = count(point.never_made);
        remarks.push(format!(
            "NEVER MADE: {never} calls that were due; the server, or the load tester, is too slow for this rate"
        ));
    }
    remarks.extend(point.ended_early.as_ref().map(|reason| format!("ENDED EARLY: {reason}")));
    remarks.extend(rate_kept(point));
    remarks.extend(point.customers.map(customers));
    remarks.extend(follow_up(point));
    remarks.extend(point.deliveries.map(deliveries));
    remarks
}

/// A remark on the rate of an open loop: reached or not.
fn rate_kept(point: &Point) -> Option<String> {
    let (reached, intended) = (rate(point.rate), rate(point.intended_rate?));
    Some(match (point.rate_kept?, &point.ended_early) {
        (true, _) => format!("keeps up with its rate: {reached}/s of {intended}/s"),
        (false, None) => format!("DOES NOT KEEP UP with its rate: {reached}/s of {intended}/s"),
        (false, Some(_)) => format!("DOES NOT KEEP UP with its rate of {intended}/s: it was not called to the end"),
    })
}

/// A remark on the payments that asked their customers.
fn customers(CustomerCounts { asked, completed }: CustomerCounts) -> String {
    let begin = if completed < asked { "UNFINISHED: " } else { "" };
    format!("{begin}customers completed {} of {} payments that asked them", count(completed), count(asked))
}

fn follow_up(point: &Point) -> Option<String> {
    let follow_up = point.follow_up?;
    let backlog = count(follow_up.backlog_at_end);
    let Some(after) = follow_up.last_captured_after_micros else {
        return Some(format!(
            "LAGS: when the last answer came, {backlog} payments were not captured, and some never were"
        ));
    };
    let later = latency(after);
    let captured =
        format!("when the last answer came, {backlog} payments were not captured yet, the last one {later} later");
    let with = rate(point.rate_with_captures().unwrap_or_default());
    Some(if point.ended_early.is_some() {
        format!("captures until then: {captured}")
    } else if follow_up.kept_up {
        format!("captures keep up: {captured}")
    } else {
        format!("LAGS: {captured}; with all captures it is {with}/s")
    })
}

fn deliveries(Deliveries { events, delivered, rate: by_second, all_after_micros, repeated }: Deliveries) -> String {
    let when = match all_after_micros {
        Some(after) => format!("the receiver had all {} after the last answer", latency(after)),
        None => "the receiver did not get all in time".to_owned(),
    };
    let (delivered, events, by_second) = (count(delivered), count(events), rate(by_second));
    format!("webhooks: {delivered} of {events} events delivered, {by_second}/s; {when}; {} repeated", count(repeated))
}

#[cfg(test)]
mod tests {
    use super::super::examples::point;
    use super::*;
    use crate::scenarios::FollowUp;

    #[test]
    fn a_lag_is_marked_with_the_rate_that_can_be_sustained() {
        let follow_up = FollowUp {
            payments: 100,
            backlog_at_end: 60,
            last_captured_after_micros: Some(2_000_000),
            kept_up: false,
            unexplained_minor: 0,
        };
        let lagging = Point { follow_up: Some(follow_up), ..point() };
        let text = remarks(&lagging).join("\n");
        assert!(
            text.starts_with("LAGS: when the last answer came, 60 payments")
                && text.ends_with("with all captures it is 25.0/s"),
            "{text}"
        );
        assert!(
            remarks(&Point { follow_up: Some(FollowUp { kept_up: true, ..follow_up }), ..lagging })[0]
                .starts_with("captures keep up")
        );
    }

    #[test]
    fn a_rate_is_kept_only_by_a_run_that_came_to_its_end() {
        let open = |ended_early: Option<&str>| {
            let open = Point { intended_rate: Some(50.0), ended_early: ended_early.map(str::to_owned), ..point() };
            remarks(&Point { rate_kept: Some(open.keeps_rate(50.0)), ..open })
        };
        assert_eq!(open(None), ["keeps up with its rate: 50.0/s of 50.0/s"]);
        let verdict = "DOES NOT KEEP UP with its rate of 50.0/s: it was not called to the end";
        assert_eq!(open(Some("used up")), ["ENDED EARLY: used up", verdict]);
    }

    #[test]
    fn payments_that_their_customers_did_not_complete_are_marked() {
        let told = |asked, completed| {
            remarks(&Point { customers: Some(CustomerCounts { asked, completed }), ..point() }).join("\n")
        };
        assert_eq!(told(1_200, 1_200), "customers completed 1,200 of 1,200 payments that asked them");
        assert_eq!(told(7, 5), "UNFINISHED: customers completed 5 of 7 payments that asked them");
    }

    #[test]
    fn deliveries_are_shown_with_missing_and_repeated_ones() {
        let all =
            Deliveries { events: 2_000, delivered: 2_000, rate: 400.0, all_after_micros: Some(1_500), repeated: 0 };
        let told = "webhooks: 2,000 of 2,000 events delivered, 400/s; the receiver had all 1.50 ms after the last \
            answer; 0 repeated";
        assert_eq!(remarks(&Point { deliveries: Some(all), ..point() }), [told]);
        let some = Deliveries { delivered: 1_990, all_after_micros: None, repeated: 3, ..all };
        let text = remarks(&Point { deliveries: Some(some), ..point() }).join("\n");
        assert!(text.contains("1,990 of 2,000") && text.ends_with("did not get all in time; 3 repeated"), "{text}");
    }
}
