//! `POST /merchants/find-dispute`, `list-disputes`, `challenge-dispute`, `concede-dispute`

use till_domain::command::{ChallengeDispute, Command};
use till_domain::dispute::{Dispute, DisputeStatus};
use till_domain::ids::DisputeId;
use till_domain::payment::PaymentRef;
use till_domain::records::{Disputes, DisputesByPayment, DisputesByStatus, Payments, PaymentsByExternalId, Rows};
use till_domain::text::{EVIDENCE_MAX_CHARACTERS, Evidence};
use till_protocol::arguments::id;

use super::by_merchant::ByMerchant;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::{PAYMENT_REF, checked, own_text, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::dispute::{DISPUTE, DisputeShape};
use crate::service::{Filtered, IdSpan, ListPage, read_index_span, read_span, rows_of_index};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeePayments, &FIND_DISPUTE, &find::<Disputes>),
    MerchantEndpoint(Act::SeePayments, &LIST_DISPUTES, &list_disputes),
    MerchantEndpoint(
        Act::OperatePayments,
        &CHALLENGE_DISPUTE,
        &ByMerchant(CHALLENGE, |_, challenge| Command::ChallengeDispute(challenge)),
    ),
    MerchantEndpoint(
        Act::GiveBack,
        &CONCEDE_DISPUTE,
        &ByMerchant(DISPUTE_ARGUMENT, |_, dispute_id| Command::ConcedeDispute(dispute_id)),
    ),
];

const DISPUTE_ARGUMENT: Required<DisputeId> =
    id::<DisputeId>().required("The dispute (`dsp_...`).").with_name("dispute_id");

const DISPUTE_NOT_FOUND: DeclaredError = DeclaredError::new(Code::NotFound, "No dispute of this merchant has this id.");

const INVALID_STATE: DeclaredError =
    DeclaredError::new(Code::InvalidState, "The dispute does not permit it now: details name its `status`.")
        .with(r#"{"status": "LOST"}"#);

/// Text without control characters other than tabs and line breaks.
const EVIDENCE: Field<Evidence> = Field {
    value_type: ValueType::Text(
        Text::of(1, EVIDENCE_MAX_CHARACTERS, "The parcel was signed for on 3 March.")
            .matching("^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]+$"),
    ),
    parse: |value| checked(Evidence::new(own_text(value)?)),
};

static FIND_DISPUTE: Declaration = Declaration {
    name: "find-dispute",
    summary: "Returns a dispute with its status.",
    docs: "A webhook for DISPUTE_OPENED reports new disputes.",
    arguments: &[DISPUTE_ARGUMENT.argument],
    returns: Returns::Object(&DISPUTE),
    errors: &[DISPUTE_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "disputes")
};

/// The filters of a page of disputes.
type DisputeFilters = (ListPageRequest<DisputeId>, Option<DisputeStatus>, Option<PaymentRef>, CreatedAt);

const LIST: ArgumentSet<DisputeFilters, MerchantClock> = arguments!({
    page: list_page::<DisputeId>(),
    status: words!(DisputeStatus).optional("Only disputes with this status."),
    payment: PAYMENT_REF
        .optional("Only disputes of this payment: its id (`pay_...`) or the merchant's own `external_id`.")
        .with_name("payment_id"),
    created: CREATED_AT_ARGUMENT,
} => (page, status, payment, CreatedAt(created)));

static LIST_DISPUTES: Declaration = Declaration {
    name: "list-disputes",
    summary: "Lists the disputes of the merchant's payments, newest first.",
    docs: "The status of a dispute is that at the time of the call. `next` and `previous` carry the filters.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&DISPUTE),
    ..Declaration::query(Package::Merchants, "disputes")
};

const CHALLENGE: ArgumentSet<ChallengeDispute> = arguments!(ChallengeDispute {
    dispute_id: DISPUTE_ARGUMENT,
    evidence: EVIDENCE.required("The evidence that the payment is legitimate."),
});

static CHALLENGE_DISPUTE: Declaration = Declaration {
    name: "challenge-dispute",
    summary: "Gives the evidence against a dispute, once.",
    docs: "`true` means that the evidence is recorded; the provider receives it and decides. A dispute without \
        evidence is lost at `evidence_due_at`.",
    arguments: CHALLENGE.declared,
    errors: &[
        DISPUTE_NOT_FOUND,
        DeclaredError::new(
            Code::InvalidState,
            "The dispute is decided, or has its evidence already: details name its `status`.",
        )
        .with(r#"{"status": "CHALLENGED"}"#),
    ],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "disputes")
};

static CONCEDE_DISPUTE: Declaration = Declaration {
    name: "concede-dispute",
    summary: "Concedes a dispute: its amount is charged back.",
    docs: "It cannot be undone. A payment of which nothing remains afterwards is `REVERSED`.",
    arguments: &[DISPUTE_ARGUMENT.argument],
    errors: &[DISPUTE_NOT_FOUND, INVALID_STATE],
    flags: Flags { works_while_suspended: true, ..Flags::COMMAND },
    ..Declaration::command(Package::Merchants, "disputes")
};

/// `POST /merchants/list-disputes`
async fn list_disputes(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, status, payment, created) = call.fields().parse_in(&LIST, &clock)?;
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
        ("payment_id", payment.as_ref().map(PaymentRef::to_string)),
        created.filter_text(),
    ];
    Reply::list_page(&page.try_map(|dispute| shape(&reader, dispute))?.with_filters(&filters))
}

async fn page_of_payment(
    reader: &Reader<'_>,
    payment: &PaymentRef,
    status: Option<DisputeStatus>,
    request: ListPageRequest<DisputeId>,
    span: Option<IdSpan<DisputeId>>,
) -> Result<ListPage<Dispute>, ApiError> {
    let payment_id = reader.id_of::<PaymentsByExternalId>(payment)?;
    let rows = |span, direction, limit| {
        let of = |id| rows_of_index::<DisputesByPayment, Disputes, _>(reader, &id, span, direction, limit);
        payment_id.map_or(Ok(Vec::new()), of)
    };
    let passes = |dispute: &Dispute| status.is_none_or(|status| status == dispute.status);
    Filtered { rows, passes }.page(request, span.filter(|_| payment_id.is_some())).await
}

const UNKNOWN: &str =
    "No dispute of this merchant has this dispute_id (dsp_...). list-disputes lists those that exist.";

kind!(Disputes, (): |_, _| Ok(()) => |dispute, (), reader| shape(reader, dispute));
named_kind!(Disputes, DISPUTE_ARGUMENT, ApiError::not_found("dispute_id", UNKNOWN));

fn shape<'a>(reader: &Reader<'_>, dispute: &'a Dispute) -> Result<DisputeShape<'a>, ApiError> {
    let payment = reader.get::<Payments>(dispute.payment_id)?;
    Ok(DisputeShape::new(dispute, payment.and_then(|payment| payment.external_id)))
}
