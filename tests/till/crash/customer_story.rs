//! A payment whose customer must act: what was done about it, what was acknowledged of that, and how it may have ended.

use std::fmt::Debug;

use serde_json::Value;

/// The act of a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Succeed,
    Fail,
    Cancel,
}

impl Act {
    pub(super) const ALL: [Act; 3] = [Act::Succeed, Act::Fail, Act::Cancel];

    /// The form of a page, and the word of the operator's call.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Act::Succeed => ("outcome=succeed", "SUCCEEDED"),
            Act::Fail => ("outcome=fail", "FAILED"),
            Act::Cancel => ("outcome=cancel", "CANCELED"),
        }
    }
}

/// The end of a payment whose customer has not acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closure {
    GivenUp,
    Voided,
    LeftAlone,
}

/// The answer to something that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Done,
    /// It was not done: something else was done before.
    Refused,
    /// There was no answer.
    Nothing,
}

/// Something that is done at most once: what was acknowledged, and what may have been done.
#[derive(Debug, Clone)]
pub(super) struct Once<T> {
    sure: Option<T>,
    maybe: Vec<T>,
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once { sure: None, maybe: Vec::new() }
    }
}

impl<T: Copy + Debug> Once<T> {
    /// Records what was heard; None when there was no answer.
    pub(super) fn note(&mut self, what: T, heard: Heard) -> Option<()> {
        match heard {
            Heard::Done => {
                let before = self.sure.replace(what);
                assert!(before.is_none(), "{before:?} and {what:?} were both acknowledged");
            }
            Heard::Refused => {}
            Heard::Nothing => self.maybe.push(what),
        }
        (heard != Heard::Nothing).then_some(())
    }

    /// True when it was acknowledged.
    pub(super) const fn is_sure(&self) -> bool {
        self.sure.is_some()
    }

    /// True when it was not even asked for, or refused.
    pub(super) const fn is_nothing(&self) -> bool {
        self.sure.is_none() && self.maybe.is_empty()
    }

    /// The acts that may have been done; None for nothing.
    fn possible(&self) -> Vec<Option<T>> {
        match self.sure {
            Some(sure) => vec![Some(sure)],
            None => std::iter::once(None).chain(self.maybe.iter().copied().map(Some)).collect(),
        }
    }
}

/// The end of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: String,
    pub(super) failure_code: Option<String>,
    /// True when a success came afterwards, which is given back.
    pub(super) is_late: bool,
    /// True when a success came before, which a void may have ended.
    pub(super) was_authorized: bool,
}

impl End {
    /// The end that a payment shows.
    pub(super) fn of(payment: &Value) -> End {
        let text = |name: &str| payment[name].as_str().map(str::to_owned);
        let is_late = !payment["late_success"].is_null();
        let was_authorized = !payment["authorized_at"].is_null() && !is_late;
        End { status: text("status").expect("a status"), failure_code: text("failure_code"), is_late, was_authorized }
    }

    fn new(status: &str, failure_code: Option<&str>, is_late: bool) -> End {
        let was_authorized = matches!(status, "AUTHORIZED" | "SUCCESSFUL");
        End { status: status.to_owned(), failure_code: failure_code.map(str::to_owned), is_late, was_authorized }
    }

    /// True when a void released authorized money.
    pub(super) fn is_voided_authorization(&self) -> bool {
        self.status == "VOIDED" && self.was_authorized
    }
}

/// A payment with its customer.
#[derive(Debug, Clone)]
pub(super) struct Story {
    /// The body of the initiation, to be sent again.
    pub(super) body: Value,
    pub(super) payment: Option<String>,
    pub(super) minor: u64,
    pub(super) is_card: bool,
    pub(super) acts: Once<Act>,
    pub(super) closures: Once<Closure>,
    /// The operator's success after the end.
    pub(super) late: Once<()>,
    /// The end, once it was checked.
    pub(super) end: Option<End>,
}

impl Story {
    /// The id of the payment.
    pub(super) fn id(&self) -> &str {
        self.payment.as_deref().expect("it was made")
    }

    /// The external id of the payment.
    pub(super) fn external_id(&self) -> &str {
        self.body["external_id"].as_str().expect("every one has one")
    }

    /// True when the payment is only authorized at first.
    pub(super) fn is_manual(&self) -> bool {
        self.body["capture"] == false
    }

    /// Everything that the payment may have become.
    pub(super) fn ends(&self) -> Vec<End> {
        let closures = self.closures.possible();
        let pairs = self.acts.possible().into_iter().flat_map(|act| closures.iter().map(move |it| (act, *it)));
        pairs.flat_map(|(act, closure)| self.ends_by(act, closure)).collect()
    }

    fn ends_by(&self, act: Option<Act>, closure: Option<Closure>) -> Vec<End> {
        match (act, closure) {
            (None, None) => Vec::new(),
            (Some(act), None) => vec![self.acted(act)],
            // The merchant voids after the success, or before it.
            (Some(Act::Succeed), Some(Closure::Voided)) if self.is_manual() => {
                let late = closed(Closure::Voided, true);
                vec![End { is_late: false, was_authorized: true, ..late.clone() }, late]
            }
            (Some(act), Some(closure)) => vec![closed(closure, act == Act::Succeed)],
            (None, Some(closure)) => {
                let is_late = |late: Option<()>| late.is_some() || self.succeeds_by_itself(closure);
                self.late.possible().into_iter().map(|late| closed(closure, is_late(late))).collect()
            }
        }
    }

    /// True for the amounts for which the sandbox reports a success five seconds after the deadline.
    fn succeeds_by_itself(&self, closure: Closure) -> bool {
        closure == Closure::LeftAlone && self.minor % 100 == 94 && !self.is_card
    }

    fn acted(&self, act: Act) -> End {
        match act {
            Act::Succeed => End::new(if self.is_manual() { "AUTHORIZED" } else { "SUCCESSFUL" }, None, false),
            Act::Fail if self.is_card => End::new("FAILED", Some("authentication_failed"), false),
            Act::Fail => End::new("FAILED", Some("payment_declined"), false),
            Act::Cancel => End::new("FAILED", Some("canceled_by_customer"), false),
        }
    }
}

fn closed(closure: Closure, is_late: bool) -> End {
    match closure {
        Closure::GivenUp => End::new("FAILED", Some("canceled_by_customer"), is_late),
        Closure::Voided => End::new("VOIDED", None, is_late),
        Closure::LeftAlone => End::new("EXPIRED", Some("customer_action_timed_out"), is_late),
    }
}
