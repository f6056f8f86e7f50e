//! The actions of customers, as the pages of the sandbox show them.

use crate::book::{ActionId, ActionPage, BookOperation};
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::money::Money;

use super::queue::Answered;

/// The result of an act of a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActResult {
    /// It is recorded, and its result is sent.
    Recorded,
    /// It changed nothing: there is no such action, its page has no such button, the customer has acted, or it was
    /// canceled.
    Nothing,
}

/// An action, for its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownAction {
    /// Its id, which is the capability to act.
    pub id: ActionId,
    /// The page on which the customer acts.
    pub page: ActionPage,
    /// The merchant of the payment.
    pub merchant: MerchantId,
    /// The payment.
    pub payment: PaymentId,
    /// The amount.
    pub money: Money,
    /// The path to which the customer comes back.
    pub return_path: String,
    /// True until the customer has acted or the action is canceled. The sandbox knows no deadline.
    pub is_open: bool,
}

impl ShownAction {
    /// The action of an authorization; none when it has none, or it is not given yet.
    pub(super) fn of(answered: &Answered) -> Option<ShownAction> {
        let line = answered.line.as_ref()?;
        let BookOperation::Authorize { action: Some(action), .. } = &line.operation else { return None };
        (action.given_at_ms <= answered.at_ms).then(|| ShownAction {
            id: action.id,
            page: action.page,
            merchant: line.merchant,
            payment: line.payment.expect("an authorization is of a payment"),
            money: line.money,
            return_path: action.return_path.clone(),
            is_open: action.taken.is_none() && action.canceled_at_ms.is_none(),
        })
    }

    /// The path of its page, below the server's public address.
    #[must_use]
    pub fn path(&self) -> String {
        self.page.path(self.id)
    }
}
