//! Shapes of payments, refunds, disputes and payouts, and of the calls to an acquirer that they wait for.

use till_domain::dispute::{Dispute, DisputeOutcome, DisputeStatus, OpenDispute};
use till_domain::effect::{Effect, EffectKind};
use till_domain::event::DisputeClosing;
use till_domain::ids::{CustomerId, PaymentId};
use till_domain::payment::{
    Authorization, Capture, CaptureMode, Failure, Operation, OperationKind, Payment, PaymentStatus, RefusedOperation,
};
use till_domain::payout::{Payout, PayoutStatus};
use till_domain::records::Unreadable;
use till_domain::refund::{Refund, RefundStatus};

use crate::vault::SubjectId;

use super::activity::{ActivityV1, ActorV1};
use super::card::SaveCardV1;
use super::codec::{Decode, Out, ShapeError};
use super::customer::{ContactV1, OF_PAYMENT};
use super::merchant::AcquirerNameV1;
use super::personal::Personal;
use super::session::{InstrumentV1, MoneyV1};
use super::shape::{Shape, shape_enum, shape_struct};

shape_enum! {
    /// The status of a payment.
    PaymentStatusV1 of PaymentStatus {
        Pending,
        Authorized,
        Successful,
        Failed,
        Expired,
        Voided,
        Reversed,
        PartiallyRefunded,
        Refunded,
        Disputed,
    }
}

shape_enum! {
    /// The mode that tells if an authorization is captured automatically.
    CaptureModeV1 of CaptureMode {
        Automatic,
        Manual,
    }
}

shape_struct! {
    /// The reason for which an acquirer refused a call.
    FailureV1 of Failure {
        code: String,
        message: String,
    }
}

shape_struct! {
    /// A capture that happened.
    CaptureV1 of Capture {
        amount_minor: u64,
        fee_minor: u64,
        transaction_id: [u8; 16],
        at: u64,
        settles_at: u64,
    }
}

shape_struct! {
    /// An authorization that the acquirer gave.
    AuthorizationV1 of Authorization {
        acquirer_reference: String,
        at: u64,
        lapses_at: Option<u64>,
    }
}

shape_enum! {
    /// The kind of a call to the acquirer.
    EffectKindV1 of EffectKind {
        Authorize,
        Void,
        Capture,
        Reverse,
        Refund(refund_id: [u8; 16]),
        VoidLate,
        RefundLate,
    }
}

shape_struct! {
    /// A call to an acquirer, open until its result is recorded.
    EffectV1 of Effect {
        payment_id: [u8; 16],
        kind: EffectKindV1,
        opened_at: u64,
    }
}

shape_enum! {
    /// The kind of an operation on a payment.
    OperationKindV1 of OperationKind {
        Capture,
        Void,
        Reverse,
    }
}

shape_struct! {
    /// An operation that the acquirer has not answered.
    OperationV1 of Operation {
        kind: OperationKindV1,
        amount: u64,
        requested_by: ActorV1,
        requested_at: u64,
        attempt: u32,
    }
}

shape_struct! {
    /// An operation that the acquirer refused.
    RefusedOperationV1 of RefusedOperation {
        kind: OperationKindV1,
        failure: FailureV1,
        at: u64,
        attempt: u32,
    }
}

shape_enum! {
    /// The status of a refund.
    RefundStatusV1 of RefundStatus {
        Pending,
        Successful,
        Failed,
    }
}

shape_struct! {
    /// A refund.
    RefundV1 of Refund {
        id: [u8; 16],
        external_id: Option<String>,
        payment_id: [u8; 16],
        status: RefundStatusV1,
        money: MoneyV1,
        is_full: bool,
        reason: Option<String>,
        failure: Option<FailureV1>,
        requested_by: ActorV1,
        transaction_id: [u8; 16],
        created_at: u64,
        refunded_at: Option<u64>,
    }
}

shape_enum! {
    /// The status of a dispute.
    DisputeStatusV1 of DisputeStatus {
        Open,
        Challenged,
        Escalated,
        Won,
        Lost,
        Conceded,
    }
}

shape_enum! {
    /// The decision that ends a dispute.
    DisputeOutcomeV1 of DisputeOutcome {
        Won,
        Lost,
        Conceded,
    }
}

shape_struct! {
    /// A dispute.
    DisputeV1 of Dispute {
        id: [u8; 16],
        payment_id: [u8; 16],
        status: DisputeStatusV1,
        reason: Option<String>,
        money: MoneyV1,
        evidence: Option<String>,
        evidence_due_at: u64,
        transaction_id: [u8; 16],
        created_at: u64,
        closed_at: Option<u64>,
    }
}

shape_struct! {
    /// The decision of a dispute, with all its consequences.
    DisputeClosingV1 of DisputeClosing {
        dispute_id: [u8; 16],
        payment_id: [u8; 16],
        outcome: DisputeOutcomeV1,
        amount_minor: u64,
        payment_status: PaymentStatusV1,
        uncovered_minor: u64,
        settles_at: Option<u64>,
        at: u64,
        activities: Vec<ActivityV1>,
    }
}

shape_struct! {
    /// The dispute of a payment that is not decided.
    OpenDisputeV1 of OpenDispute {
        id: [u8; 16],
        amount_minor: u64,
    }
}

shape_enum! {
    /// The status of a payout.
    PayoutStatusV1 of PayoutStatus {
        Pending,
        Successful,
        Failed,
    }
}

shape_struct! {
    /// A payout.
    PayoutV1 of Payout {
        id: [u8; 16],
        external_id: Option<String>,
        status: PayoutStatusV1,
        money: MoneyV1,
        description: Option<String>,
        acquirer: AcquirerNameV1,
        failure: Option<FailureV1>,
        transaction_id: [u8; 16],
        created_at: u64,
        paid_at: Option<u64>,
    }
}

/// A payment. The subject of its contact is the customer when there is one, else the payment.
#[derive(Debug, Decode)]
pub(super) struct PaymentV1 {
    id: [u8; 16],
    external_id: Option<String>,
    session_id: [u8; 16],
    status: PaymentStatusV1,
    money: MoneyV1,
    instrument: InstrumentV1,
    acquirer: AcquirerNameV1,
    capture_mode: CaptureModeV1,
    return_url: String,
    customer_id: Option<[u8; 16]>,
    contact: ContactV1,
    save_card: Option<SaveCardV1>,
    created_at: u64,
    authorization: Option<AuthorizationV1>,
    capture: Option<CaptureV1>,
    failure: Option<FailureV1>,
    refunded_minor: u64,
}

/// A payment with fields that the first shape does not have.
#[derive(Debug, Decode)]
pub(super) struct PaymentV2 {
    first: PaymentV1,
    confirmed_refund_minor: u64,
    operation: Option<OperationV1>,
    last_operation: Option<RefusedOperationV1>,
}

/// A payment that was disputed.
#[derive(Debug, Decode)]
pub(super) struct PaymentV3 {
    second: PaymentV2,
    charged_back_minor: u64,
    open_dispute: Option<OpenDisputeV1>,
}

fn subject(id: PaymentId, customer_id: Option<CustomerId>) -> SubjectId {
    customer_id.map_or(SubjectId::payment(id), SubjectId::customer)
}

impl PaymentV1 {
    /// Returns true when the shape holds all of the payment.
    pub(super) fn holds(payment: &Payment) -> bool {
        let Payment { confirmed_refund_minor, operation, last_operation, .. } = payment;
        let is_plain = *confirmed_refund_minor == 0 && operation.is_none() && last_operation.is_none();
        is_plain && PaymentV2::holds(payment)
    }

    fn write_fields(payment: &Payment, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Payment { id, external_id, session_id, status, money, instrument, acquirer, capture_mode, .. } = payment;
        let Payment { return_url, customer_id, contact, save_card, created_at, authorization, .. } = payment;
        let Payment { capture, failure, refunded_minor, .. } = payment;
        <[u8; 16]>::write(id, personal, out)?;
        Option::<String>::write(external_id, personal, out)?;
        <[u8; 16]>::write(session_id, personal, out)?;
        PaymentStatusV1::write(status, personal, out)?;
        MoneyV1::write(money, personal, out)?;
        InstrumentV1::write(instrument, personal, out)?;
        AcquirerNameV1::write(acquirer, personal, out)?;
        CaptureModeV1::write(capture_mode, personal, out)?;
        String::write(return_url, personal, out)?;
        Option::<[u8; 16]>::write(customer_id, personal, out)?;
        ContactV1::seal(contact, subject(*id, *customer_id), &OF_PAYMENT, personal, out)?;
        Option::<SaveCardV1>::write(save_card, personal, out)?;
        u64::write(created_at, personal, out)?;
        Option::<AuthorizationV1>::write(authorization, personal, out)?;
        Option::<CaptureV1>::write(capture, personal, out)?;
        Option::<FailureV1>::write(failure, personal, out)?;
        u64::write(refunded_minor, personal, out)
    }
}

impl Shape<Payment> for PaymentV1 {
    fn write(payment: &Payment, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        if !PaymentV1::holds(payment) {
            return Err(Unreadable {
                reason: "an operation or a confirmed refund of a payment has no shape".to_owned(),
            });
        }
        PaymentV1::write_fields(payment, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Payment, ShapeError> {
        let id: PaymentId = self.id.unpack(personal)?;
        let customer_id: Option<CustomerId> = self.customer_id.unpack(personal)?;
        // Every field by name: one that the domain adds does not compile before it has a shape.
        Ok(Payment {
            id,
            external_id: self.external_id.unpack(personal)?,
            session_id: self.session_id.unpack(personal)?,
            status: self.status.unpack(personal)?,
            money: self.money.unpack(personal)?,
            instrument: self.instrument.unpack(personal)?,
            acquirer: self.acquirer.unpack(personal)?,
            capture_mode: self.capture_mode.unpack(personal)?,
            return_url: self.return_url.unpack(personal)?,
            customer_id,
            contact: self.contact.open(subject(id, customer_id), &OF_PAYMENT, personal)?,
            save_card: self.save_card.unpack(personal)?,
            created_at: self.created_at.unpack(personal)?,
            authorization: self.authorization.unpack(personal)?,
            capture: self.capture.unpack(personal)?,
            failure: self.failure.unpack(personal)?,
            refunded_minor: self.refunded_minor,
            confirmed_refund_minor: 0,
            operation: None,
            last_operation: None,
            charged_back_minor: 0,
            open_dispute: None,
        })
    }
}

impl PaymentV2 {
    /// Returns true when the shape holds all of the payment.
    pub(super) fn holds(payment: &Payment) -> bool {
        let Payment { charged_back_minor, open_dispute, .. } = payment;
        *charged_back_minor == 0 && open_dispute.is_none()
    }

    fn write_fields(payment: &Payment, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        PaymentV1::write_fields(payment, personal, out)?;
        u64::write(&payment.confirmed_refund_minor, personal, out)?;
        Option::<OperationV1>::write(&payment.operation, personal, out)?;
        Option::<RefusedOperationV1>::write(&payment.last_operation, personal, out)
    }
}

impl Shape<Payment> for PaymentV2 {
    fn write(payment: &Payment, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        if !PaymentV2::holds(payment) {
            return Err(Unreadable { reason: "a dispute of a payment has no shape".to_owned() });
        }
        PaymentV2::write_fields(payment, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Payment, ShapeError> {
        Ok(Payment {
            confirmed_refund_minor: self.confirmed_refund_minor,
            operation: self.operation.unpack(personal)?,
            last_operation: self.last_operation.unpack(personal)?,
            ..self.first.unpack(personal)?
        })
    }
}

impl Shape<Payment> for PaymentV3 {
    fn write(payment: &Payment, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        PaymentV2::write_fields(payment, personal, out)?;
        u64::write(&payment.charged_back_minor, personal, out)?;
        Option::<OpenDisputeV1>::write(&payment.open_dispute, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Payment, ShapeError> {
        Ok(Payment {
            charged_back_minor: self.charged_back_minor,
            open_dispute: self.open_dispute.unpack(personal)?,
            ..self.second.unpack(personal)?
        })
    }
}
