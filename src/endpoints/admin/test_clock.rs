//! `POST /admin/advance-clock`

use till_domain::command::AdvanceClock;
use till_domain::time::Millis;

use super::about_merchant::{MERCHANT_ARGUMENT, merchant_argument};
use super::merchants::check_exists;
use crate::access::Operator;
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Argument, Declaration, DeclaredError, Flags, Integer, Package, Returns, ValueType};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::Shared;

/// The largest number of seconds that JSON readers keep exactly.
const SECONDS_MAX: u64 = (1 << 53) - 1;
/// A time that JSON readers keep exactly.
const TIME: ValueType =
    ValueType::Integer(Integer { is_time: true, limits: Some((0, SECONDS_MAX)), example: Some(4_102_444_800) });

pub(super) static ADVANCE_CLOCK: Declaration = Declaration {
    name: "advance-clock",
    package: Package::Admin,
    group: "merchants",
    summary: "Advances the test clock of a merchant, and answers when everything due by then is recorded.",
    docs: "Everything due happens step by step, each at its own time: captures settle, authorizations lapse, metadata expires. Between two steps the call waits for calls to the acquirer, except for those that wait for the operator. When this takes more than 25 seconds, the answer is `503` with `unknown`: the clock then shows the time of the last step, and the same call continues from there.",
    arguments: &[
        MERCHANT_ARGUMENT,
        Argument::required(
            "to",
            TIME,
            "The new time of the merchant: later than its present one, by at most 400 days.",
        ),
    ],
    returns: Returns::Boolean,
    errors: &[
        DeclaredError::when(Code::NotFound, "No merchant has this id."),
        DeclaredError::when(Code::InvalidState, "The merchant has no test clock."),
    ],
    flags: Flags::COMMAND,
};

/// `POST /admin/advance-clock`
pub(super) async fn advance_clock(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let to = fields.required("to", field::integer(0..=SECONDS_MAX));
    let (merchant_id, to) = fields.finish(|| Some((merchant_id?, Millis(0).plus_seconds(to?))))?;
    check_exists(&service, merchant_id)?;
    call.log_subject(merchant_id, None);
    let command = AdvanceClock { merchant_id, to };
    Ok(service.advance_clock(&ADVANCE_CLOCK, &call, command).await?.into())
}
