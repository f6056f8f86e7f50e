//! `POST /merchants/capture-payment`, `void-payment`, `reverse-payment`

use till_domain::command::{CapturePayment, Command};

use super::by_merchant::ByMerchant;
use crate::endpoints::arguments::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::endpoints::forms::AMOUNT;
use crate::endpoints::prelude::*;

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(
        Act::OperatePayments,
        &CAPTURE_PAYMENT,
        &ByMerchant(CAPTURE, |_, capture| Command::CapturePayment(capture)),
    ),
    MerchantEndpoint(
        Act::OperatePayments,
        &VOID_PAYMENT,
        &ByMerchant(PAYMENT_ARGUMENT, |_, payment| Command::VoidPayment(payment)),
    ),
    MerchantEndpoint(
        Act::GiveBack,
        &REVERSE_PAYMENT,
        &ByMerchant(PAYMENT_ARGUMENT, |_, payment| Command::ReversePayment(payment)),
    ),
];

const INVALID_STATE: DeclaredError = DeclaredError::new(
    Code::InvalidState,
    "The payment does not permit it now: details name its `status` and its open `operation`.",
)
.with(r#"{"status": "VOIDED", "operation": null}"#);

const CAPTURE: ArgumentSet<CapturePayment> = arguments!(CapturePayment {
    payment: PAYMENT_ARGUMENT,
    amount: AMOUNT.optional("The amount in minor units; the whole authorized amount when left out."),
});

static CAPTURE_PAYMENT: Declaration = Declaration {
    name: "capture-payment",
    summary: "Captures an authorized payment, whole or in part; a part releases the rest.",
    docs: "`true` means that the capture is accepted. It takes effect when the acquirer confirms it: until then \
        `find-payment` shows it as `operation`, and afterwards the payment is `SUCCESSFUL` or `last_operation` has \
        the reason.",
    arguments: CAPTURE.declared,
    errors: &[
        PAYMENT_NOT_FOUND,
        INVALID_STATE,
        DeclaredError::new(Code::AmountExceedsLimit, "More than was authorized: details name the `limit`.")
            .with(r#"{"limit": 10000}"#),
    ],
    ..Declaration::command(Package::Merchants, "payments")
};

static VOID_PAYMENT: Declaration = Declaration {
    name: "void-payment",
    summary: "Voids an authorization before it is captured.",
    docs: "`true` means that the void is accepted. The payment is `VOIDED` when the acquirer confirms it; else \
        `last_operation` has the reason.",
    arguments: &[PAYMENT_ARGUMENT.argument],
    errors: &[PAYMENT_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "payments")
};

static REVERSE_PAYMENT: Declaration = Declaration {
    name: "reverse-payment",
    summary: "Reverses a captured payment before it settles.",
    docs: "Only before settlement, and while no refund of the payment is accepted; use `refund-payment` afterwards. \
        `true` means that the reversal is accepted. The payment is `REVERSED` when the acquirer confirms it; else \
        `last_operation` has the reason.",
    arguments: &[PAYMENT_ARGUMENT.argument],
    errors: &[PAYMENT_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "payments")
};
