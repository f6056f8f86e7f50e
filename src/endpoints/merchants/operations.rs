//! `POST /merchants/capture-payment`, `void-payment`, `reverse-payment`

use till_domain::command::{CapturePayment, Command};

use super::by_merchant;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::service::Shared;

const INVALID_STATE: DeclaredError = DeclaredError::when(
    Code::InvalidState,
    "The payment does not permit it now: details name its `status` and its open `operation`.",
)
.with(r#"{"status": "VOIDED", "operation": null}"#);

pub(super) static CAPTURE_PAYMENT: Declaration = Declaration {
    name: "capture-payment",
    package: Package::Merchants,
    group: "payments",
    summary: "Captures an authorized payment, whole or in part; a part releases the rest.",
    docs: "`true` means that the capture is accepted. It takes effect when the acquirer confirms it: until then `find-payment` shows it as `operation`, and afterwards the payment is `SUCCESSFUL` or `last_operation` has the reason.",
    arguments: &[
        PAYMENT_ARGUMENT,
        Argument::optional(
            "amount",
            ValueType::AMOUNT,
            "The amount in minor units; the whole authorized amount when left out.",
        ),
    ],
    returns: Returns::Boolean,
    errors: &[
        PAYMENT_NOT_FOUND,
        INVALID_STATE,
        DeclaredError::when(Code::AmountExceedsLimit, "More than was authorized: details name the `limit`.")
            .with(r#"{"limit": 10000}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static VOID_PAYMENT: Declaration = Declaration {
    name: "void-payment",
    package: Package::Merchants,
    group: "payments",
    summary: "Voids an authorization before it is captured.",
    docs: "`true` means that the void is accepted. The payment is `VOIDED` when the acquirer confirms it; else `last_operation` has the reason.",
    arguments: &[PAYMENT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[PAYMENT_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

pub(super) static REVERSE_PAYMENT: Declaration = Declaration {
    name: "reverse-payment",
    package: Package::Merchants,
    group: "payments",
    summary: "Reverses a captured payment before it settles.",
    docs: "Only before settlement, and while no refund of the payment is accepted; use `refund-payment` afterwards. `true` means that the reversal is accepted. The payment is `REVERSED` when the acquirer confirms it; else `last_operation` has the reason.",
    arguments: &[PAYMENT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[PAYMENT_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// `POST /merchants/capture-payment`
pub(super) async fn capture_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let amount = fields.optional("amount", arguments::amount);
    let capture = fields.finish(|| Some(CapturePayment { payment: payment?, amount }))?;
    by_merchant::submit(&service, &CAPTURE_PAYMENT, &call, Command::CapturePayment(capture)).await
}

/// `POST /merchants/void-payment`
pub(super) async fn void_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let payment = fields.finish(|| payment)?;
    by_merchant::submit(&service, &VOID_PAYMENT, &call, Command::VoidPayment(payment)).await
}

/// `POST /merchants/reverse-payment`
pub(super) async fn reverse_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let payment = fields.finish(|| payment)?;
    by_merchant::submit(&service, &REVERSE_PAYMENT, &call, Command::ReversePayment(payment)).await
}
