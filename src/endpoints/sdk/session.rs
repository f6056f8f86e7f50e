//! Look-up of sessions for SDK endpoints, with the payment that used the session.

use till_domain::customer_action::{CustomerAction, CustomerStep};
use till_domain::ids::SessionId;
use till_domain::payment::{Payment, PaymentStatus};
use till_domain::records::{Cards, Payments, Rows, Sessions};
use till_domain::session::{Instrument, Session};
use till_domain::time::Millis;

use serde_json::json;

use crate::endpoints::forms::SESSION_ID;
use crate::endpoints::prelude::*;
use crate::service::{NamedInstallation, open_action};

/// The arguments of a call about a session.
pub(super) const SESSION: ArgumentSet<(NamedInstallation, SessionId)> = arguments!({
    named: NamedInstallation::arguments::<()>(),
    session_id: SESSION_ID.required("The session (`pse_...`).").with_name("payment_session_id"),
} => (named, session_id));

/// The refusals that every SDK endpoint may answer.
pub(super) const INSTALLATION_ERRORS: [DeclaredError; 1] = [DeclaredError::new(
    Code::NotFound,
    "The merchant has no such installation, or the object that the call names does not exist.",
)
.with(r#"{"argument": "installation_id"}"#)];

/// A session with the payment that used it.
pub(super) struct SessionWithPayment {
    pub(super) session: Session,
    pub(super) payment: Option<Payment>,
    /// The action that the customer must take now.
    pub(super) action: Option<CustomerAction>,
    /// The time of the look-up: the later of the clock and the merchant's last event, so that expired objects remain
    /// expired.
    pub(super) now: Millis,
}

till_domain::word_enum! {
    /// The progress of the customer's payment.
    pub(super) enum PaymentProgress: name {
        /// The merchant has not initiated it yet, but still can.
        Selected => "PENDING",
        /// The acquirer is processing it.
        Initiated => "INITIATED",
        /// It succeeded.
        Successful => "SUCCESSFUL",
        /// It failed, or cannot be initiated any more.
        Failed => "FAILED",
    }
}

till_domain::word_enum! {
    /// The next step of the client.
    pub(super) enum NextAction: name {
        /// It can only ask again.
        Wait => "WAIT",
        /// It sends the customer to the address that `get-redirect-url` answers.
        Redirect => "REDIRECT",
        /// It shows the QR code of the text that `retrieve-qr-data` answers.
        DisplayQr => "DISPLAY_QR",
        /// The outcome is known.
        CheckStatus => "CHECK_STATUS",
    }
}

impl SessionWithPayment {
    pub(super) fn next_action(&self) -> NextAction {
        match (self.progress(), self.action.as_ref().map(|action| &action.step)) {
            (PaymentProgress::Successful | PaymentProgress::Failed, _) => NextAction::CheckStatus,
            (PaymentProgress::Selected | PaymentProgress::Initiated, None) => NextAction::Wait,
            (_, Some(CustomerStep::Redirect(_) | CustomerStep::AcquirerPage)) => NextAction::Redirect,
            (_, Some(CustomerStep::DisplayQr(_))) => NextAction::DisplayQr,
        }
    }

    /// The refusal of a call for something that is not there yet, or not any more.
    pub(super) fn not_ready(&self) -> ApiError {
        let next = self.next_action().name();
        let message = format!("The payment has nothing of the kind now: discover-next-action says {next}.");
        ApiError::new(Code::NotReady, message).with_details(json!({ "next_action": next }))
    }

    pub(super) fn progress(&self) -> PaymentProgress {
        match &self.payment {
            None if self.session.is_active(self.now) => PaymentProgress::Selected,
            None => PaymentProgress::Failed,
            Some(payment) => of_payment(payment.status),
        }
    }
}

fn of_payment(status: PaymentStatus) -> PaymentProgress {
    match status {
        PaymentStatus::Pending => PaymentProgress::Initiated,
        PaymentStatus::Authorized
        | PaymentStatus::Successful
        | PaymentStatus::PartiallyRefunded
        | PaymentStatus::Refunded
        | PaymentStatus::Disputed => PaymentProgress::Successful,
        PaymentStatus::Failed | PaymentStatus::Expired | PaymentStatus::Voided | PaymentStatus::Reversed => {
            PaymentProgress::Failed
        }
    }
}

/// Reads [`SESSION`] and looks up the session.
pub(super) async fn find(service: &Shared, call: &Call<MerchantCaller>) -> Result<SessionWithPayment, ApiError> {
    let (caller, session_id) = service.sdk_call(call, call.fields().parse(&SESSION)).await?;
    read(service, &caller.reader, session_id)
}

pub(super) fn read(
    service: &Shared,
    reader: &Reader<'_>,
    session_id: SessionId,
) -> Result<SessionWithPayment, ApiError> {
    let session = reader.get::<Sessions>(session_id)?;
    let unknown = || {
        let message = "No payment session of this merchant has this payment_session_id. Have the customer select the \
            payment method again.";
        ApiError::not_found("payment_session_id", message)
    };
    let session = session.ok_or_else(unknown)?;
    if session.payment_id.is_none() && has_lost_its_card(reader, &session)? {
        return Err(unknown());
    }
    let payment = session.payment_id.map_or(Ok(None), |payment_id| reader.get::<Payments>(payment_id))?;
    let now = service.merchant_now(reader.merchant_id())?;
    let action = payment.as_ref().map_or(Ok(None), |payment| open_action(reader, payment, now))?;
    Ok(SessionWithPayment { session, payment, action, now })
}

/// True when the saved card that the session was made with is forgotten, so that it cannot be used any more.
fn has_lost_its_card(reader: &Reader<'_>, session: &Session) -> Result<bool, ApiError> {
    let Instrument::SavedCard { card_id, owner: _, card: _ } = &session.instrument else { return Ok(false) };
    Ok(reader.get::<Cards>(*card_id)?.is_none_or(|card| card.deleted_at.is_some()))
}
