//! Shapes of payments, refunds, disputes and payouts, and of the calls to an acquirer that they wait for.

use std::sync::Arc;

use till_domain::customer_action::{ActionStage, Authentication, CustomerAction, CustomerStep, LateSuccess};
use till_domain::dispute::{Dispute, OpenDispute};
use till_domain::effect::{Effect, EffectKind};
use till_domain::event::DisputeClosing;
use till_domain::failure::Failure;
use till_domain::ids::{CustomerId, PaymentId};
use till_domain::payment::{Authorization, Capture, Operation, Payment, RefusedOperation};
use till_domain::payout::Payout;
use till_domain::preparation::Preparation;
use till_domain::records::Unreadable;
use till_domain::refund::Refund;

use crate::vault::SubjectId;

use super::acquirer::AcquirerRefV1;
use super::activity::{ActivityV1, ActorV1};
use super::codec::{Out, ShapeError};
use super::customer::{ContactV1, OF_PAYMENT};
use super::declared::{shape_enum, shape_struct};
use super::personal::Personal;
use super::session::{InstrumentV1, MoneyV1};
use super::shape::Shape;
use super::tag::Tag;

shape_struct! {
    /// The reason for which something failed.
    FailureV1 of Failure {
        code: Tag,
        acquirer_code: Option<String>,
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
        CancelAction,
        AuthorizePrepared,
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

shape_struct! {
    /// An operation that the acquirer has not answered.
    OperationV1 of Operation {
        kind: Tag,
        amount: u64,
        requested_by: ActorV1,
        requested_at: u64,
        attempt: u32,
    }
}

shape_struct! {
    /// An operation that the acquirer refused.
    RefusedOperationV1 of RefusedOperation {
        kind: Tag,
        failure: FailureV1,
        at: u64,
        attempt: u32,
    }
}

shape_struct! {
    /// A refund.
    RefundV1 of Refund {
        id: [u8; 16],
        external_id: Option<String>,
        payment_id: [u8; 16],
        status: Tag,
        money: MoneyV1,
        is_full: bool,
        reason: Option<String>,
        failure: Option<FailureV1>,
        requested_by: ActorV1,
        transaction_id: [u8; 16],
        created_at: u64,
        refunded_at: Option<u64>,
        acquirer_reference: Option<String>,
    }
}

shape_struct! {
    /// A dispute.
    DisputeV1 of Dispute {
        id: [u8; 16],
        payment_id: [u8; 16],
        status: Tag,
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
        outcome: Tag,
        amount_minor: u64,
        payment_status: Tag,
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

shape_struct! {
    /// A payout.
    PayoutV1 of Payout {
        id: [u8; 16],
        external_id: Option<String>,
        status: Tag,
        money: MoneyV1,
        description: Option<String>,
        acquirer: AcquirerRefV1,
        failure: Option<FailureV1>,
        transaction_id: [u8; 16],
        created_at: u64,
        paid_at: Option<u64>,
    }
}

shape_struct! {
    /// The preparation of a payment. The address of the page opens it to whoever has it, so it is sealed as texts about
    /// persons are.
    PreparedPaymentV1 of Preparation {
        payment_id: [u8; 16],
        acquirer_reference: String,
        page: Option<Vec<u8>> as "preparation.page",
    } sealed under SubjectId::acquirer_page(*payment_id)
}

shape_enum! {
    /// The step that a customer is asked to take.
    CustomerStepV1 of CustomerStep {
        Redirect(address: String),
        DisplayQr(text: String),
        AcquirerPage,
    }
}

shape_struct! {
    /// An action of the customer that the acquirer waits for.
    CustomerActionV1 of CustomerAction {
        step: CustomerStepV1,
        authenticates: bool,
        recorded_at: u64,
        expires_at: u64,
    }
}

shape_enum! {
    /// The stage of the action of a payment.
    ActionStageV1 of ActionStage {
        Open(until: u64),
        Over,
    }
}

shape_struct! {
    /// An authentication of a card by 3-D Secure.
    AuthenticationV1 of Authentication {
        flow: Tag,
        status: Tag,
        eci: Option<u8>,
        version: Option<Tag>,
        at: Option<u64>,
    }
}

shape_struct! {
    /// An approval that came after the end of a payment.
    LateSuccessV1 of LateSuccess {
        received_at: u64,
        returned_at: Option<u64>,
    }
}

fn payment_subject(id: PaymentId, customer_id: Option<CustomerId>) -> SubjectId {
    customer_id.map_or(SubjectId::payment(id), SubjectId::customer)
}

shape_struct! {
    /// A payment. The subject of its contact is the customer when there is one, else the payment.
    PaymentV1 of Payment {
        id: [u8; 16],
        external_id: Option<String>,
        checkout_id: Option<[u8; 16]>,
        session_id: [u8; 16],
        status: Tag,
        money: MoneyV1,
        instrument: InstrumentV1,
        acquirer: AcquirerRefV1,
        capture_mode: Tag,
        return_url: String,
        customer_id: Option<[u8; 16]>,
        contact: ContactV1 as OF_PAYMENT,
        save_card: Option<Tag>,
        created_at: u64,
        authorization: Option<AuthorizationV1>,
        capture: Option<CaptureV1>,
        failure: Option<FailureV1>,
        refunded_minor: u64,
        confirmed_refund_minor: u64,
        operation: Option<OperationV1>,
        last_operation: Option<RefusedOperationV1>,
        charged_back_minor: u64,
        open_dispute: Option<OpenDisputeV1>,
        action: Option<ActionStageV1>,
        authentication: Option<AuthenticationV1>,
        late_success: Option<LateSuccessV1>,
    } sealed under payment_subject(*id, *customer_id)
}

/// The event of an initiation shares its payment with the row.
impl Shape<Arc<Payment>> for PaymentV1 {
    fn write(payment: &Arc<Payment>, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        <PaymentV1 as Shape<Payment>>::write(payment, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Arc<Payment>, ShapeError> {
        <PaymentV1 as Shape<Payment>>::unpack(self, personal).map(Arc::new)
    }
}
