//! The trait of acquirers, and their answers.

use std::future::{Future, ready};
use std::pin::Pin;

use till_domain::command::{ApprovedAuthorization, AuthenticationResult, EvidenceResult, MovedMoney, RequiredAction};
use till_domain::failure::Failure;
use till_domain::ids::MerchantId;
use till_domain::preparation::Preparation;
use tokio::sync::mpsc;

use super::balance::{BalancePage, ListedBalance};
use super::requests::AcquirerCall;

/// A pending answer. Dropping it does not cancel the call.
pub type AcquirerAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, AcquirerUnavailable>> + Send + 'a>>;

/// The party that moves the money of card holders.
///
/// It need not know a repeated call by its reference: Till looks each call up before it makes it again.
pub trait Acquirer: Send + Sync + 'static {
    /// Makes ready at the acquirer what a call needs before it can move money: its answer is recorded before the call
    /// is made. It moves no money, and may be asked again after a lost answer.
    ///
    /// Only authorizations are prepared. An acquirer that prepares them is never asked to make one without a
    /// preparation; a look-up of one that has none answers [`LookedUp::NotDone`].
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] when there is no clear answer. Whatever its outcome, the call counts as not sent.
    fn prepare<'a>(&'a self, _call: &'a AcquirerCall) -> AcquirerAnswer<'a, Prepared> {
        Box::pin(ready(Ok(Prepared::Nothing)))
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] when there is no clear answer: its outcome says whether the call may have been carried
    /// out.
    fn act(&self, call: AcquirerCall) -> AcquirerAnswer<'_, CallAnswer>;

    /// Looks up what has become of a call that was made, or may have been. It changes nothing.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] when there is no clear answer, whatever its outcome.
    fn look_up<'a>(&'a self, call: &'a AcquirerCall) -> AcquirerAnswer<'a, LookedUp>;

    /// Lists the changes of an account's balance, for reconciliation: one page, the newest first. It changes nothing.
    ///
    /// # Errors
    /// [`AcquirerUnavailable`] when there is no clear answer, and always of an acquirer without accounts.
    fn list(&self, _listed: &ListedBalance) -> AcquirerAnswer<'_, BalancePage> {
        Box::pin(ready(Err(AcquirerUnavailable::not_sent("the acquirer has no accounts"))))
    }

    /// True for an acquirer in this process that takes calls and look-ups in order: nothing that was sent before a
    /// look-up is on its way any more when that is answered, so that [`LookedUp::NotDone`] is final.
    fn is_in_process(&self) -> bool {
        false
    }

    /// Registers the receiver of late answers: an acquirer without accounts may send one by itself when a pending call
    /// has ended, and may answer twice. An answer that cannot be sent may be dropped, since every pending call is
    /// looked up.
    fn send_late_answers(&self, _to: LateAnswers) {}
}

/// The answer to a request to prepare a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// The call needs no preparation.
    Nothing,
    /// The acquirer's id of what it made ready, and the page that the customer is to open when there is one.
    Ready(Preparation),
    /// The acquirer refused; the call is not made.
    Declined(Failure),
}

/// The channel to Till for answers that it did not ask for.
pub type LateAnswers = mpsc::Sender<LateAnswer>;

/// An answer that Till did not ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateAnswer {
    /// The merchant of the payment or payout.
    pub merchant: MerchantId,
    /// Till's reference of the call.
    pub reference: String,
    /// The answer.
    pub answer: CallAnswer,
}

/// There is no clear answer, so that nothing is known of the call but what the outcome says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the acquirer gave no answer: {reason}")]
pub struct AcquirerUnavailable {
    /// What is known of the call.
    pub outcome: UnansweredOutcome,
    /// The reason, for the log.
    pub reason: String,
}

impl AcquirerUnavailable {
    /// An error after which it is unknown whether the call was carried out.
    pub fn unknown(reason: impl Into<String>) -> AcquirerUnavailable {
        AcquirerUnavailable { outcome: UnansweredOutcome::Unknown, reason: reason.into() }
    }

    /// An error after which the call was surely not carried out.
    pub fn not_sent(reason: impl Into<String>) -> AcquirerUnavailable {
        AcquirerUnavailable { outcome: UnansweredOutcome::NotSent, reason: reason.into() }
    }

    /// The error of an answer whose `member` differs from what was asked.
    pub fn mismatch(member: &str) -> AcquirerUnavailable {
        AcquirerUnavailable { outcome: UnansweredOutcome::Mismatch, reason: format!("its answer has another {member}") }
    }
}

/// What is known of a call without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnansweredOutcome {
    /// It may have been carried out, or may still be: it is looked up before it is made again.
    Unknown,
    /// The answer is about another amount, currency, reference or mode than the call, so that it tells nothing of it:
    /// as [`UnansweredOutcome::Unknown`], and operators are told.
    Mismatch,
    /// It was surely not carried out, and will not be.
    NotSent,
    /// The acquirer refused the secret of the account: as [`UnansweredOutcome::NotSent`], and it stays so until the
    /// secret is replaced.
    CredentialsRefused,
    /// The acquirer refused it since there were too many: it was surely not carried out, and may come again.
    Limited,
}

impl UnansweredOutcome {
    /// True when the call may have been carried out, or may still be.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        matches!(self, UnansweredOutcome::Unknown | UnansweredOutcome::Mismatch)
    }
}

/// The result of a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookedUp {
    /// The call was made, and this is its answer as of now.
    Found(CallAnswer),
    /// The call was not carried out. It may still be, as long as its request is on its way.
    NotDone,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAnswer {
    /// It is done.
    Done(CallDone),
    /// It is declined, and will not be carried out under this reference.
    Declined {
        /// The reason.
        failure: Failure,
        /// Of an authorization: the authentication of the card, when there was one.
        authentication: Option<AuthenticationResult>,
    },
    /// An authorization waits for its customer, who must act first.
    NeedsAction(RequiredAction),
    /// It is under way, and no money has moved yet: a look-up finds its end.
    Pending(Awaited),
}

/// What was done by a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDone {
    /// An authorization was approved; as the answer to a cancellation, before that came.
    Approved(ApprovedAuthorization),
    /// The action of a customer was canceled: nothing was charged, and nothing will be.
    Canceled,
    /// Money was captured, released, given back or paid out.
    Moved(MovedMoney),
    /// Evidence was accepted.
    EvidenceTaken(EvidenceResult),
}

/// The reason why a call has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// It ends by itself after some time.
    Time,
    /// It waits for a decision of a person, which may never be made.
    Decision,
}
