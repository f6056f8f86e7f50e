//! `POST /merchants/find-dispute`, `list-disputes`, `challenge-dispute`, `concede-dispute`

use till_domain::command::{ChallengeDispute, Command};
use till_domain::dispute::{Dispute, DisputeStatus};
use till_domain::ids::DisputeId;
use till_domain::payment::PaymentRef;
use till_domain::records::{Disputes, DisputesByPayment, DisputesByStatus, Payments, Rows};
use till_domain::text::{EVIDENCE_MAX_CHARACTERS, Evidence};

use super::{by_merchant, named_payment};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt};
use crate::endpoints::forms::EXTERNAL_ID;
use crate::endpoints::shapes::dispute::{DISPUTE, DisputeShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, Text, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field::{self, PageRequest};
use crate::protocol::json::Json;
use crate::service::{Filtered, IdSpan, Page, Reader, Shared, read_index_span, read_span, rows_of_index};

const PAGE: [Argument; 3] = page_arguments(DisputeId::PREFIX);

const DISPUTE_ARGUMENT: Argument =
    Argument::required("dispute_id", ValueType::Id(DisputeId::PREFIX), "The dispute (`dsp_...`).");

const DISPUTE_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No dispute of this merchant has this id.");

const INVALID_STATE: DeclaredError =
    DeclaredError::when(Code::InvalidState, "The dispute does not permit it now: details name its `status`.")
        .with(r#"{"status": "LOST"}"#);

/// Text without control characters other than tabs and line breaks.
const EVIDENCE: ValueType = ValueType::Text(
    Text::of(1, EVIDENCE_MAX_CHARACTERS, "The parcel was signed for on 3 March.")
        .matching("^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]+$"),
);

pub(super) static FIND_DISPUTE: Declaration = Declaration {
    name: "find-dispute",
    package: Package::Merchants,
    group: "disputes",
    summary: "Returns a dispute with its status.",
    docs: "A webhook for DISPUTE_OPENED reports new disputes.",
    arguments: &[DISPUTE_ARGUMENT],
    returns: Returns::Object(&DISPUTE),
    errors: &[DISPUTE_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static LIST_DISPUTES: Declaration = Declaration {
    name: "list-disputes",
    package: Package::Merchants,
    group: "disputes",
    summary: "Lists the disputes of the merchant's payments, newest first.",
    docs: "The status of a dispute is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional("status", words_of!(DisputeStatus), "Only disputes with this status."),
        Argument::optional(
            "payment_id",
            EXTERNAL_ID,
            "Only disputes of this payment: its id (`pay_...`) or the merchant's own `external_id`.",
        ),
        CREATED_AT_ARGUMENT,
    ],
    returns: Returns::Page(&DISPUTE),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static CHALLENGE_DISPUTE: Declaration = Declaration {
    name: "challenge-dispute",
    package: Package::Merchants,
    group: "disputes",
    summary: "Gives the evidence against a dispute, once.",
    docs: "`true` means that the evidence is recorded; the provider receives it and decides. A dispute without evidence is lost at `evidence_due_at`.",
    arguments: &[
        DISPUTE_ARGUMENT,
        Argument::required("evidence", EVIDENCE, "The evidence that the payment is legitimate."),
    ],
    returns: Returns::Boolean,
    errors: &[
        DISPUTE_NOT_FOUND,
        DeclaredError::when(
            Code::InvalidState,
            "The dispute is decided, or has its evidence already: details name its `status`.",
        )
        .with(r#"{"status": "CHALLENGED"}"#),
    ],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

pub(super) static CONCEDE_DISPUTE: Declaration = Declaration {
    name: "concede-dispute",
    package: Package::Merchants,
    group: "disputes",
    summary: "Concedes a dispute: its amount is charged back.",
    docs: "It cannot be undone. A payment of which nothing remains afterwards is `REVERSED`.",
    arguments: &[DISPUTE_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[DISPUTE_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
};

/// `POST /merchants/find-dispute`
pub(super) async fn find_dispute(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("dispute_id", dispute_id());
    let id = fields.finish(|| id)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let unknown = || {
        let message =
            "No dispute of this merchant has this dispute_id (dsp_...). list-disputes lists those that exist.";
        ApiError::not_found("dispute_id", message)
    };
    let dispute = reader.get::<Disputes>(id)?.ok_or_else(unknown)?;
    Ok(Reply::new(&shape(&reader, &dispute)?))
}

/// `POST /merchants/list-disputes`
pub(super) async fn list_disputes(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, dispute_id());
    let status = fields.optional("status", field::one_of(&DisputeStatus::ALL, DisputeStatus::name));
    let payment = fields.optional("payment_id", arguments::payment_ref);
    let created = CreatedAt::read(&mut fields, &service, &reader)?;
    let request = fields.finish(|| page)?;
    let span = created.span();
    let page = match (&payment, status) {
        (Some(payment), status) => page_of_payment(&reader, payment, status, request, span).await?,
        (None, Some(status)) => {
            read_index_span::<DisputesByStatus, Disputes, _>(&reader, status, request, span).await?
        }
        (None, None) => read_span::<Disputes>(&reader, request, span).await?,
    };
    let filters = [
        ("status", status.map(|status| status.name().to_owned())),
        ("payment_id", payment.as_ref().map(named_payment::text)),
        created.given(),
    ];
    Reply::page(&page.try_map(|dispute| shape(&reader, dispute))?.carrying(&filters))
}

async fn page_of_payment(
    reader: &Reader<'_>,
    payment: &PaymentRef,
    status: Option<DisputeStatus>,
    request: PageRequest<DisputeId>,
    span: Option<IdSpan<DisputeId>>,
) -> Result<Page<Dispute>, ApiError> {
    let payment_id = named_payment::id(reader, payment)?;
    let rows = |span, direction, limit| {
        let of = |id| rows_of_index::<DisputesByPayment, Disputes, _>(reader, &id, span, direction, limit);
        payment_id.map_or(Ok(Vec::new()), of)
    };
    let passes = |dispute: &Dispute| status.is_none_or(|status| status == dispute.status);
    Filtered { rows, passes }.page(request, span.filter(|_| payment_id.is_some())).await
}

/// `POST /merchants/challenge-dispute`
pub(super) async fn challenge_dispute(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("dispute_id", dispute_id());
    let evidence = fields.required("evidence", |value| arguments::checked(Evidence::new(arguments::own_text(value)?)));
    let challenge = fields.finish(|| Some(ChallengeDispute { dispute_id: id?, evidence: evidence? }))?;
    by_merchant::submit(&service, &CHALLENGE_DISPUTE, &call, Command::ChallengeDispute(challenge)).await
}

/// `POST /merchants/concede-dispute`
pub(super) async fn concede_dispute(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("dispute_id", dispute_id());
    let id = fields.finish(|| id)?;
    by_merchant::submit(&service, &CONCEDE_DISPUTE, &call, Command::ConcedeDispute(id)).await
}

fn dispute_id() -> impl Fn(&Json) -> Result<DisputeId, String> {
    arguments::id("a dispute id (dsp_...)")
}

fn shape<'a>(reader: &Reader<'_>, dispute: &'a Dispute) -> Result<DisputeShape<'a>, ApiError> {
    let payment = reader.get::<Payments>(dispute.payment_id)?;
    Ok(DisputeShape::new(dispute, payment.and_then(|payment| payment.external_id)))
}
