//! A payment whose customer must act: the calls that were made, their answers, and the ends that the payment may have.

use serde_json::Value;

/// An act that ends a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// The customer succeeds.
    Succeed,
    /// The customer fails.
    Fail,
    /// The customer cancels.
    Cancel,
    /// The shop gives the customer up.
    GiveUp,
    /// The merchant voids the payment.
    Void,
    /// The time passes in which the customer can act.
    LeaveAlone,
}

impl Deed {
    /// The acts of a customer.
    pub(super) const ACTS: [Deed; 3] = [Deed::Succeed, Deed::Fail, Deed::Cancel];

    pub(super) fn is_act(self) -> bool {
        Deed::ACTS.contains(&self)
    }

    /// The form of a page for an act, and the word of the operator's call.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Deed::Succeed => ("outcome=succeed", "SUCCEEDED"),
            Deed::Fail => ("outcome=fail", "FAILED"),
            Deed::Cancel => ("outcome=cancel", "CANCELED"),
            Deed::GiveUp | Deed::Void | Deed::LeaveAlone => panic!("{self:?} is no act of a customer"),
        }
    }

    /// The statuses that a payment has by it.
    const fn statuses(self) -> &'static [&'static str] {
        match self {
            Deed::Succeed => &["AUTHORIZED", "SUCCESSFUL"],
            Deed::Fail | Deed::Cancel | Deed::GiveUp => &["FAILED"],
            Deed::Void => &["VOIDED"],
            Deed::LeaveAlone => &["EXPIRED"],
        }
    }
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

impl Heard {
    /// None without an answer.
    pub(super) fn go_on(self) -> Option<()> {
        (self != Heard::Nothing).then_some(())
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
    /// The calls that were made, with their answers.
    pub(super) asked: Vec<(Deed, Heard)>,
    /// The answer to the operator's success after the end, if there was such a call.
    pub(super) late: Option<Heard>,
    /// The payment, once it was checked.
    pub(super) end: Option<Value>,
}

impl Story {
    /// The id of the payment.
    pub(super) fn id(&self) -> &str {
        self.payment.as_deref().expect("it was made")
    }

    /// Records what was heard; None when there was no answer. One act and one other end are acknowledged at most.
    pub(super) fn note(&mut self, deed: Deed, heard: Heard) -> Option<()> {
        let before = if deed.is_act() { self.acknowledged_act() } else { self.acknowledged_end() };
        let before = before.filter(|_| heard == Heard::Done);
        assert_eq!(before, None, "{deed:?} was acknowledged as well: {self:?}");
        self.asked.push((deed, heard));
        heard.go_on()
    }

    /// The act of the customer that was acknowledged.
    pub(super) fn acknowledged_act(&self) -> Option<Deed> {
        self.acknowledged_deeds().find(|deed| deed.is_act())
    }

    /// The other end that was acknowledged.
    pub(super) fn acknowledged_end(&self) -> Option<Deed> {
        self.acknowledged_deeds().find(|deed| !deed.is_act())
    }

    fn acknowledged_deeds(&self) -> impl Iterator<Item = Deed> {
        self.asked.iter().filter(|(_, heard)| *heard == Heard::Done).map(|(deed, _)| *deed)
    }

    /// True when the customer may have acted.
    pub(super) fn may_be_acted(&self) -> bool {
        self.asked.iter().any(|(deed, heard)| deed.is_act() && *heard != Heard::Refused)
    }

    /// True when the payment may have this status: by the other end that was acknowledged, else by the acknowledged
    /// act, or by anything that may have been done without an answer.
    pub(super) fn may_end_as(&self, status: &str) -> bool {
        let (act, other) = (self.acknowledged_act(), self.acknowledged_end());
        let is_possible = |deed: Deed, heard: Heard| match (deed.is_act(), heard) {
            (_, Heard::Refused) => false,
            (true, _) => other.is_none() && act.is_none_or(|act| act == deed),
            (false, _) => other.is_none_or(|other| other == deed),
        };
        self.asked.iter().any(|(deed, heard)| is_possible(*deed, *heard) && deed.statuses().contains(&status))
    }

    /// True when a success comes after this status: one that was acknowledged, or that the sandbox reports five seconds
    /// after the deadline for some amounts. A void may also have released a success that came before.
    pub(super) fn succeeds_after(&self, status: &str) -> bool {
        let by_itself = status == "EXPIRED" && self.minor % 100 == 94 && !self.is_card && !self.may_be_acted();
        let is_released = status == "VOIDED" && self.body["capture"] == false;
        let is_ended = !Deed::Succeed.statuses().contains(&status) && !is_released;
        by_itself || self.late == Some(Heard::Done) || (self.acknowledged_act() == Some(Deed::Succeed) && is_ended)
    }
}
