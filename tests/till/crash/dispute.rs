//! The expected state of a dispute, from its opening and the accepted steps, once every call is answered.

use std::mem::discriminant;

/// The evidence with which the acquirer decides for the merchant, and for the customer.
pub(super) const WINNING: &str = "winning_evidence";
pub(super) const LOSING: &str = "losing_evidence";

/// A dispute with its accepted steps.
#[derive(Debug, Default)]
pub(super) struct Dispute {
    /// None as long as only a later step is known.
    opening: Option<DisputeOpening>,
    evidence: Option<String>,
    is_escalated: bool,
    /// The end by the merchant or the operator.
    end: Option<End>,
    /// The steps that were answered with `true`.
    answered: Vec<DisputeStep>,
}

/// The opening of a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DisputeOpening {
    pub(super) minor: u64,
    /// None where the card is disputed as soon as it is captured. No two reasons are the same.
    pub(super) reason: Option<String>,
}

/// A step of a dispute. Each kind is accepted at most once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DisputeStep {
    /// The merchant gives this evidence.
    Challenge(String),
    /// The operator escalates it.
    Escalate,
    /// The merchant concedes it, or the operator closes it.
    End(End),
}

/// The end of a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Won,
    Lost,
    Conceded,
}

/// The source of the knowledge that a step was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepSource {
    /// The call was answered with `true`.
    ByItsAnswer,
    /// The dispute shows it. Another call may have done the same.
    ByTheDispute,
}

/// A fact about a dispute.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Opened(DisputeOpening),
    Taken(DisputeStep, StepSource),
}

impl End {
    /// The status of a dispute with this end.
    pub(super) const fn status(self) -> &'static str {
        match self {
            End::Won => "WON",
            End::Lost => "LOST",
            End::Conceded => "CONCEDED",
        }
    }
}

impl Dispute {
    /// Records a fact.
    pub(super) fn note(&mut self, id: &str, change: Change) {
        match change {
            Change::Opened(opening) => {
                let before = self.opening.replace(opening);
                assert_eq!(before, None, "{id} was answered to two calls: {self:?}");
            }
            Change::Taken(step, StepSource::ByItsAnswer) => {
                let is_first = self.answered.iter().all(|other| discriminant(other) != discriminant(&step));
                assert!(is_first, "{id} takes {step:?} once: {self:?}");
                self.take(id, step.clone());
                self.answered.push(step);
            }
            Change::Taken(step, StepSource::ByTheDispute) => self.take(id, step),
        }
    }

    fn take(&mut self, id: &str, step: DisputeStep) {
        match step {
            DisputeStep::Challenge(evidence) => {
                let before = self.evidence.replace(evidence);
                assert!(
                    before.is_none() || before == self.evidence,
                    "{id} has two kinds of evidence: {before:?}, {self:?}"
                );
            }
            DisputeStep::Escalate => self.is_escalated = true,
            DisputeStep::End(end) => {
                let before = self.end.replace(end);
                assert!(before.is_none() || before == self.end, "{id} has two ends: {before:?}, {self:?}");
            }
        }
    }

    /// The opening.
    pub(super) fn opening(&self) -> &DisputeOpening {
        self.opening.as_ref().unwrap_or_else(|| panic!("a dispute that nobody opened: {self:?}"))
    }

    /// True when the card is known to have opened the dispute.
    pub(super) fn is_of_its_card(&self) -> bool {
        self.opening.as_ref().is_some_and(|opening| opening.reason.is_none())
    }

    /// The evidence of the merchant.
    pub(super) fn evidence(&self) -> Option<&str> {
        self.evidence.as_deref()
    }

    /// True when the operator has escalated the dispute.
    pub(super) fn is_escalated(&self) -> bool {
        self.is_escalated
    }

    /// The end, also one by evidence. A decision of the merchant or the operator that was not refused came first.
    pub(super) fn end(&self) -> Option<End> {
        self.end.or(match self.evidence() {
            Some(WINNING) => Some(End::Won),
            Some(LOSING) => Some(End::Lost),
            Some(_) | None => None,
        })
    }

    /// The status.
    pub(super) fn status(&self) -> &'static str {
        match (self.end(), self.is_escalated, &self.evidence) {
            (Some(end), _, _) => end.status(),
            (None, true, _) => "ESCALATED",
            (None, false, Some(_)) => "CHALLENGED",
            (None, false, None) => "OPEN",
        }
    }

    /// The types of the activities that its steps have caused, each once.
    pub(super) fn activities(&self) -> Vec<&'static str> {
        let conceded = (self.end == Some(End::Conceded)).then_some("DISPUTE_CONCEDED");
        let escalated = self.is_escalated.then_some("DISPUTE_ESCALATED");
        let challenged = self.evidence.is_some().then_some("DISPUTE_CHALLENGED");
        [challenged, escalated, conceded].into_iter().flatten().collect()
    }

    /// The amount that is charged back.
    pub(super) fn charged_back_minor(&self) -> u64 {
        match self.end() {
            Some(End::Lost | End::Conceded) => self.opening().minor,
            Some(End::Won) | None => 0,
        }
    }

    /// The amount that is not decided yet.
    pub(super) fn undecided_minor(&self) -> u64 {
        if self.end().is_none() { self.opening().minor } else { 0 }
    }
}
