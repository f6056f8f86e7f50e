//! `POST /admin/advance-clock`

use till_domain::command::AdvanceClock;

use super::about_merchant::{MERCHANT_ARGUMENT, check_exists};
use crate::endpoints::forms::time;
use crate::endpoints::prelude::*;
use crate::service::reply_of;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&ADVANCE_CLOCK, &advance_clock)];

const ADVANCED: ArgumentSet<AdvanceClock> = arguments!(AdvanceClock {
    merchant_id: MERCHANT_ARGUMENT,
    to: time(4_102_444_800).required("The new time of the merchant: later than its present one, by at most 400 days."),
});

static ADVANCE_CLOCK: Declaration = Declaration {
    name: "advance-clock",
    summary: "Advances the test clock of a merchant, and answers when everything due by then is recorded.",
    docs: "Everything due happens step by step, each at its own time: captures settle, authorizations lapse, metadata \
        expires. Between two steps the call waits for calls to the acquirer, except for those that wait for the \
        operator. When this takes more than 25 seconds, the answer is `503` with `unknown`: the clock then shows the \
        time of the last step, and the same call continues from there.",
    arguments: ADVANCED.declared,
    errors: &[
        DeclaredError::new(Code::NotFound, "No merchant has this id."),
        DeclaredError::new(Code::InvalidState, "The merchant has no test clock."),
    ],
    ..Declaration::command(Package::Admin, "merchants")
};

/// `POST /admin/advance-clock`
async fn advance_clock(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let command = call.fields().parse(&ADVANCED)?;
    let merchant_id = command.merchant_id;
    check_exists(&service, merchant_id)?;
    call.log_subject(merchant_id, None);
    Ok(reply_of(service.advance_clock(&call, command).await?))
}
