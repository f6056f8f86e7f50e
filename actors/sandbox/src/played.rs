//! The interface of an acquirer that the operator plays: what happens at a real one by itself, or is done by customers
//! on its pages, is done here by calls and pages of this server.

use till_actors::acquirer::{Acquirer, AcquirerAnswer, CallAnswer, NamedCall};
use till_domain::ids::{MerchantId, PaymentId};

use crate::actions::{ActResult, ShownAction};
use crate::book::{ActionId, ActionOutcome};
use crate::judgement::PendingEnd;

/// A pending answer of an acquirer that is played.
pub type PlayedAnswer<T> = AcquirerAnswer<'static, T>;

/// An acquirer whose provider and customers are played by callers of this server.
///
/// # Errors
/// Each answer may be [`AcquirerUnavailable`](till_actors::acquirer::AcquirerUnavailable): it is unknown then if
/// anything was recorded.
pub trait PlayedAcquirer: Acquirer {
    /// Ends a merchant's pending refund or payout, as the provider would, and sends the result; the answer is false
    /// when none is pending under the reference.
    fn end_pending(&self, merchant: MerchantId, reference: NamedCall, end: PendingEnd) -> PlayedAnswer<bool>;

    /// The action with this id, for its page; none when there is no such action, or it is not given yet.
    fn find_action(&self, id: ActionId) -> PlayedAnswer<Option<ShownAction>>;

    /// The action of the payment that an id names, whatever its own id is: the book of a restored store asks again for
    /// actions that it did not have.
    fn find_action_of_same_payment(&self, id: ActionId) -> PlayedAnswer<Option<ShownAction>>;

    /// What has become of the authorization of a merchant's payment; none when it was not asked for.
    fn find_authorization(&self, merchant: MerchantId, payment: PaymentId) -> PlayedAnswer<Option<CallAnswer>>;

    /// The action on the wallet's page to which the text of a QR code leads; none when it is no text of the sandbox's.
    fn find_bill(&self, qr_text: &str) -> PlayedAnswer<Option<ShownAction>>;

    /// Records what a customer did on the page of an action, at most once and as long as the action is open, and sends
    /// the result. The caller judges the deadline before, by the merchant's time.
    ///
    /// Ask again when the answer fails: if it was recorded, the answer is then [`ActResult::Nothing`].
    fn act_on_page(&self, id: ActionId, outcome: ActionOutcome) -> PlayedAnswer<ActResult>;

    /// Records what the customer of a merchant's payment did, also after the action was canceled: then a success is a
    /// late one, which is sent until its money is given back, and anything else changes nothing at the acquirer.
    fn complete_action(
        &self,
        merchant: MerchantId,
        payment: PaymentId,
        outcome: ActionOutcome,
    ) -> PlayedAnswer<ActResult>;
}
