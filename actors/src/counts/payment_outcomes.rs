//! Counts what became of payments, and logs those that failed.

use till_domain::event::{Event, Mutation};
use till_domain::failure::FailureCode;
use till_domain::ids::{MerchantId, PaymentId};
use till_domain::payment::{CaptureMode, OperationKind};

use crate::changes::Changes;

/// Payments by what became of them first. A payment is counted once, when its record is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentCounts {
    /// Captured with their authorization, or at once after it.
    pub successful: u64,
    /// Authorized for a later capture, which is not counted.
    pub authorized: u64,
    /// Not answered in time by the acquirer.
    pub expired: u64,
    /// Failed, in the order of [`FailureCode::ALL`].
    pub failed: [u64; FailureCode::ALL.len()],
}

impl Default for PaymentCounts {
    fn default() -> PaymentCounts {
        PaymentCounts { successful: 0, authorized: 0, expired: 0, failed: [0; FailureCode::ALL.len()] }
    }
}

impl PaymentCounts {
    /// The payments that were counted since an earlier moment.
    #[must_use]
    pub fn increase_since(&self, earlier: &PaymentCounts) -> PaymentCounts {
        PaymentCounts {
            successful: self.successful.saturating_sub(earlier.successful),
            authorized: self.authorized.saturating_sub(earlier.authorized),
            expired: self.expired.saturating_sub(earlier.expired),
            failed: std::array::from_fn(|code| self.failed[code].saturating_sub(earlier.failed[code])),
        }
    }

    /// The failed payments, by code.
    pub fn failed_by_code(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FailureCode::ALL.map(FailureCode::name).into_iter().zip(self.failed)
    }

    /// Counts the outcome of a durable record, and logs it unless the payment succeeded.
    pub(crate) fn note(&mut self, merchant_id: MerchantId, outcome: &PaymentOutcome) {
        match outcome {
            PaymentOutcome::Successful => self.successful += 1,
            PaymentOutcome::Authorized => self.authorized += 1,
            PaymentOutcome::Expired { payment_id } => {
                self.expired += 1;
                tracing::info!(%merchant_id, %payment_id, "a payment expired");
            }
            PaymentOutcome::Failed { payment_id, failure_code } => {
                self.failed[*failure_code as usize] += 1;
                let failure_code = failure_code.name();
                tracing::info!(%merchant_id, %payment_id, failure_code, "a payment failed");
            }
            PaymentOutcome::OperationRefused { payment_id, kind, failure_code } => {
                let (operation, failure_code) = (kind.name(), failure_code.name());
                tracing::info!(%merchant_id, %payment_id, operation, failure_code, "an operation of a payment was \
                    refused");
            }
        }
    }
}

/// The outcome of a payment that a record has. A record has at most one answer of an acquirer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PaymentOutcome {
    /// It was captured, and was to be captured at once.
    Successful,
    /// It was authorized for a later capture.
    Authorized,
    /// The acquirer did not answer in time.
    Expired { payment_id: PaymentId },
    /// It failed.
    Failed { payment_id: PaymentId, failure_code: FailureCode },
    /// A capture, a void or a reversal was refused. The payment may fail later by it.
    OperationRefused { payment_id: PaymentId, kind: OperationKind, failure_code: FailureCode },
}

impl PaymentOutcome {
    /// The outcome that a record has, if it has one.
    pub(crate) fn of(mutation: &Mutation, changes: &Changes) -> Option<PaymentOutcome> {
        let is = |payment_id, mode| changes.payment(payment_id).is_some_and(|payment| payment.capture_mode == mode);
        mutation.events.iter().find_map(|event| {
            if let Event::PaymentAuthorized { payment_id, .. } = event {
                is(*payment_id, CaptureMode::Manual).then_some(PaymentOutcome::Authorized)
            } else if let Event::PaymentCaptured { payment_id, .. } = event {
                is(*payment_id, CaptureMode::Automatic).then_some(PaymentOutcome::Successful)
            } else if let Event::PaymentExpired { payment_id, .. } = event {
                Some(PaymentOutcome::Expired { payment_id: *payment_id })
            } else if let Event::PaymentFailed { payment_id, failure, .. } = event {
                Some(PaymentOutcome::Failed { payment_id: *payment_id, failure_code: failure.code })
            } else if let Event::OperationRefused { payment_id, refused, .. } = event {
                let (payment_id, kind, failure_code) = (*payment_id, refused.kind, refused.failure.code);
                Some(PaymentOutcome::OperationRefused { payment_id, kind, failure_code })
            } else {
                None
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERCHANT: MerchantId = MerchantId::from_bytes([1; 16]);
    const PAYMENT: PaymentId = PaymentId::from_bytes([2; 16]);

    #[test]
    fn failed_payments_are_counted_by_their_code() {
        let mut counts = PaymentCounts::default();
        for failure_code in [FailureCode::ExpiredCard, FailureCode::AcquirerRefusedRequest, FailureCode::ExpiredCard] {
            counts.note(MERCHANT, &PaymentOutcome::Failed { payment_id: PAYMENT, failure_code });
        }
        let failed: Vec<(&str, u64)> = counts.failed_by_code().filter(|(_, count)| *count > 0).collect();
        assert_eq!(failed, [("expired_card", 2), ("acquirer_refused_request", 1)]);
    }

    #[test]
    fn counts_since_a_moment_leave_out_earlier_ones() {
        let mut counts = PaymentCounts::default();
        counts.note(MERCHANT, &PaymentOutcome::Successful);
        let earlier = counts;
        counts.note(MERCHANT, &PaymentOutcome::Authorized);
        counts.note(MERCHANT, &PaymentOutcome::Expired { payment_id: PAYMENT });
        let expected = PaymentCounts { authorized: 1, expired: 1, ..PaymentCounts::default() };
        assert_eq!(counts.increase_since(&earlier), expected);
    }
}
