//! `POST /admin/reconcile-acquirer`

use jiff::civil::Date;
use till_actors::reconciliation::{
    Compared, Difference, DifferenceKind, NotReconciled, ReconciledRange, Reconciliation,
};
use till_domain::ids::{AcquirerId, MerchantId, PaymentId, RefundId};
use till_domain::records::{AcquirerAccounts, Profiles, Rows, Single};
use till_domain::refusal::Refusal;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use till_protocol::fault::Fault;
use till_protocol::fields::Fields;
use till_protocol::request_thread;

use super::about_merchant::{MERCHANT_ARGUMENT, check_exists};
use super::acquirers::{ACQUIRER_ARGUMENT, ACQUIRER_NOT_FOUND};
use crate::endpoints::created_at::{date, midnight, zone};
use crate::endpoints::forms::own_text;
use crate::endpoints::prelude::*;
use crate::service::refused;

pub(super) const ENDPOINTS: Endpoints<Operator> = &[Endpoint(&RECONCILE_ACQUIRER, &reconcile_acquirer)];

/// The maximum number of days that are compared at once.
const DAYS_MAX: i32 = 31;

const DATE: Field<Date> = Field {
    value_type: ValueType::Text(Text::of(10, 10, "2026-01-31").matching("^[0-9]{4}-[0-9]{2}-[0-9]{2}$")),
    parse: |value| date(&own_text(value)?).ok_or_else(|| "send a date, such as 2026-01-31".to_owned()),
};

object! {
    /// What both sides have alike.
    COMPARED "compared" as ComparedShape of (compared: Compared) {
        captures: INTEGER = compared.captures, "The number of captures.", such_as("120");
        captured_amount: MINOR_UNITS = compared.captured_minor, "Their sum in minor units.", such_as("1200000");
        refunds: INTEGER = compared.refunds, "The number of refunds and reversals.", such_as("3");
        refunded_amount: MINOR_UNITS = compared.refunded_minor, "Their sum in minor units.", such_as("30000");
    }
}

object! {
    /// A difference.
    DIFFERENCE "difference" as DifferenceShape<'a> of (difference: &'a Difference) {
        kind: words_of(DifferenceKind) = difference.kind.name(), "Its kind.", such_as("twice");
        payment_id: Id(PaymentId::PREFIX) or null = difference.payment_id,
            "The payment (`pay_...`): the acquirer may name one that Till does not have.";
        refund_id: Id(RefundId::PREFIX) or null = difference.refund_id, "The refund (`rfn_...`), likewise.";
        acquirer_reference: STRING or null = difference.acquirer_reference,
            "The acquirer's own id of what moved the money, or of the payment that it does not list.",
            such_as("ch_EXAMPLE");
        type: STRING or null = difference.word, "The acquirer's word for what it lists.", such_as("charge");
        amount: MINOR_UNITS or null = difference.amount_minor, "The amount by Till in minor units.", such_as("10000");
        acquirer_amount: MINOR_UNITS or null = difference.acquirer_amount_minor,
            "The amount by the acquirer in minor units; negative when it takes from the balance.", such_as("10000");
        currency: STRING = difference.currency,
            "The ISO 4217 code: the acquirer's, for what it lists.", such_as("THB");
        at: TIMESTAMP = difference.at, "The time: the acquirer's, for what it lists.";
    }
}

object! {
    /// The result of a reconciliation.
    RECONCILIATION "reconciliation" as ReconciliationShape<'a> of (found: &'a Reconciliation) {
        compared: Object(&COMPARED) = ComparedShape::new(found.compared), "What both sides have alike.";
        under_way: INTEGER = found.under_way,
            "Captures and refunds that are no differences yet: their calls are open, or they are of the last 15 \
             minutes.",
            such_as("0");
        acquirer_fees: MINOR_UNITS = found.acquirer_fees_minor, "The acquirer's fees in minor units.", such_as("43800");
        count: INTEGER = found.count(), "The number of all differences.", such_as("1");
        differences: Array(&ValueType::Object(&DIFFERENCE)) =
            found.differences.iter().map(DifferenceShape::new).collect::<Vec<_>>(), "The first 1,000 of them.";
    }
}

const ASKED: ArgumentSet<(MerchantId, AcquirerId, Date, Date)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    acquirer_id: ACQUIRER_ARGUMENT,
    from: DATE.required("The first day, in the merchant's time zone.").such_as("\"2026-01-01\""),
    to: DATE.required("The last day: at most 31 days in all.").such_as("\"2026-01-31\""),
} judged by |fields: &mut Fields<'_>| {
    let days = from.zip(to).and_then(|(from, to)| to.since(from).ok()).map(|span| span.get_days());
    if days.is_some_and(|days| !(0..DAYS_MAX).contains(&days)) {
        fields.fault(Fault::invalid("to", "must not be before from, and at most 30 days after it"));
    }
} => (merchant_id, acquirer_id, from, to));

static RECONCILE_ACQUIRER: Declaration = Declaration {
    name: "reconcile-acquirer",
    summary: "Compares the acquirer's own list of an account's money with Till's captures and refunds.",
    docs: "It changes nothing, and works while the server is paused. It reads everything that the acquirer lists in \
        these days, 100 changes a call to it. Disputes, payouts and what is done in the acquirer's dashboard are \
        `unknown_to_till`.",
    arguments: ASKED.declared,
    returns: Returns::Object(&RECONCILIATION),
    errors: &[
        ACQUIRER_NOT_FOUND,
        DeclaredError::new(Code::Conflict, "Another account is being reconciled: there is one at a time."),
        DeclaredError::new(Code::Unavailable, "The acquirer gave no answer.").with(r#"{"outcome": "not_done"}"#),
    ],
    ..Declaration::query(Package::Admin, "acquirers")
};

/// `POST /admin/reconcile-acquirer`
async fn reconcile_acquirer(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let (merchant_id, acquirer_id, from, to) = call.fields().parse(&ASKED)?;
    check_exists(&service, merchant_id)?;
    let reader = service.reader(merchant_id).await?;
    let account = reader.get::<AcquirerAccounts>(acquirer_id)?.ok_or_else(|| refused(&Refusal::AcquirerNotFound))?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
    if request_thread::is_here() {
        return Err(ApiError::for_worker_pool());
    }
    let (zone, end) = (zone(&profile), to.tomorrow().unwrap_or(to));
    let range = ReconciledRange {
        merchant_id,
        account: account.reference(),
        currency: profile.currency,
        from: midnight(from, &zone),
        until: midnight(end, &zone),
        now: service.now(),
    };
    call.give_permit_back();
    let found = service.engine().reconcile(range).await.map_err(not_reconciled)?;
    Ok(Reply::new(&ReconciliationShape::new(&found)))
}

fn not_reconciled(error: NotReconciled) -> ApiError {
    match error {
        NotReconciled::Busy => ApiError::new(Code::Conflict, error.to_string()),
        NotReconciled::TooMany => {
            ApiError::invalid_arguments(&[Fault::invalid("to", format!("{error}: ask for fewer days"))])
        }
        NotReconciled::NoAnswer(reason) => {
            ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS).with_cause(reason)
        }
        NotReconciled::Unreadable(error) => error.into(),
    }
}
