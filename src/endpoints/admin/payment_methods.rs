//! `POST /admin/configure-payment-method`

use till_domain::command::Command;
use till_domain::merchant::{AcquirerName, Integration, PaymentMethod};
use till_domain::money::{AMOUNT_MAX_MINOR, FeeRate};

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::forms::PAYMENT_METHOD_WORDS;
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, ValueType, words_of};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::Shared;

pub(super) static CONFIGURE_PAYMENT_METHOD: Declaration = Declaration {
    name: "configure-payment-method",
    package: Package::Admin,
    group: "payment methods",
    summary: "Configures a payment method of a merchant; `false` when nothing changed.",
    docs: "Fees apply to captures from now on. A fee that is left out is 0.",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required("payment_method", PAYMENT_METHOD_WORDS, "The payment method."),
        Argument::required("acquirer", words_of!(AcquirerName), "The acquirer that carries it out."),
        Argument::required("enabled", ValueType::BOOLEAN, "True when it can be selected and initiated."),
        Argument::required(
            "authorizes_without_capture",
            ValueType::BOOLEAN,
            "True when `capture: false` is supported.",
        ),
        Argument::optional(
            "fee_basis_points",
            ValueType::integer(0, FeeRate::BASIS_POINTS_MAX as u64, 295),
            "Hundredths of a percent of the captured amount, 0 to 10000.",
        )
        .shown(),
        Argument::optional(
            "fee_fixed",
            ValueType::integer(0, AMOUNT_MAX_MINOR, 1_000),
            "Added to that, in minor units, from 0.",
        )
        .shown(),
    ],
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

/// `POST /admin/configure-payment-method`
pub(super) async fn configure_payment_method(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let method = fields.required("payment_method", field::one_of(&PaymentMethod::ALL, PaymentMethod::name));
    let acquirer = fields.required("acquirer", field::one_of(&AcquirerName::ALL, AcquirerName::name));
    let enabled = fields.required("enabled", field::boolean);
    let authorizes_without_capture = fields.required("authorizes_without_capture", field::boolean);
    let basis_points = fields.optional("fee_basis_points", field::integer(0..=FeeRate::BASIS_POINTS_MAX));
    let fixed_minor = fields.optional("fee_fixed", field::integer(0..=AMOUNT_MAX_MINOR));
    let fee = FeeRate { basis_points: basis_points.unwrap_or(0), fixed_minor: fixed_minor.unwrap_or(0) };
    let (merchant_id, command) = fields.finish(|| {
        let integration = Integration {
            acquirer: acquirer?,
            enabled: enabled?,
            authorizes_without_capture: authorizes_without_capture?,
            fee,
        };
        Some((merchant_id?, Command::ConfigurePaymentMethod(method?, integration)))
    })?;
    Ok(submit(&service, &CONFIGURE_PAYMENT_METHOD, &call, merchant_id, command, None).await?.into())
}
