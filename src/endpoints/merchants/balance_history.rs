//! `POST /merchants/balance-history`, `POST /merchants/list-entries-by-payment`

use till_domain::ids::{EntryId, PaymentId};
use till_domain::ledger::{Entry, EntryType};
use till_domain::payment::PaymentRef;
use till_domain::records::{Balances, Entries, Payments, PaymentsByExternalId, Rows, Single};
use till_storage::shapes::{ExternalIdFinder, StatementFinder};

use crate::endpoints::arguments::{PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt, MerchantClock};
use crate::endpoints::forms::{PAYMENT_REF, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::entry::{ENTRY, EntryShape};
use crate::service::{FilterText, Filtered, IdSpan, ListPage, entries_of_payment};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeePayments, &BALANCE_HISTORY, &balance_history),
    MerchantEndpoint(Act::SeePayments, &LIST_ENTRIES_BY_PAYMENT, &list_entries_by_payment),
];

/// The filters of a page of entries.
type EntryFilters = (ListPageRequest<EntryId>, Option<PaymentRef>, Option<EntryType>, CreatedAt);

const HISTORY: ArgumentSet<EntryFilters, MerchantClock> = arguments!({
    page: list_page::<EntryId>(),
    payment: PAYMENT_REF
        .optional("Only entries of this payment, of its refunds and disputes: its id (`pay_...`) or the merchant's \
            own `external_id`.")
        .with_name("payment_id"),
    kind: words!(EntryType).optional("Only entries of this type.").with_name("type"),
    created: CREATED_AT_ARGUMENT,
} => (page, payment, kind, CreatedAt(created)));

static BALANCE_HISTORY: Declaration = Declaration {
    name: "balance-history",
    summary: "Lists the ledger entries of the merchant's default balance, newest first.",
    docs: "Without `created_at` there is no time window. The status of an entry is that at the time of the call. \
        Filters given together must all hold. `next` and `previous` carry them.",
    arguments: HISTORY.declared,
    returns: Returns::ListPage(&ENTRY),
    errors: &[DeclaredError::new(Code::NotFound, "No balance exists for the merchant.")],
    ..Declaration::query(Package::Merchants, "balance")
};

const BY_PAYMENT: ArgumentSet<(PaymentRef, ListPageRequest<EntryId>)> = arguments!({
    payment: PAYMENT_ARGUMENT,
    page: list_page::<EntryId>(),
} => (payment, page));

static LIST_ENTRIES_BY_PAYMENT: Declaration = Declaration {
    name: "list-entries-by-payment",
    summary: "Lists the ledger entries of a payment, of its refunds and of its disputes, newest first.",
    docs: "The entries are those of `balance-history`. A payment that was not captured has none. `next` and \
        `previous` carry the payment.",
    arguments: BY_PAYMENT.declared,
    returns: Returns::ListPage(&ENTRY),
    errors: &[PAYMENT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "balance")
};

/// `POST /merchants/balance-history`
async fn balance_history(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, payment, kind, created) = call.fields().parse_in(&HISTORY, &clock)?;
    if payment.is_none() {
        call.caller().check(Act::SeeMoney)?;
    }
    reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let span = created.span();
    let page = match &payment {
        None => page_of_all(&reader, kind, request, span).await?,
        Some(payment) => {
            page_of_payment(&reader, reader.id_of::<PaymentsByExternalId>(payment)?, kind, request, span).await?
        }
    };
    let filters = [
        ("payment_id", payment.as_ref().map(PaymentRef::to_string)),
        ("type", kind.map(|kind| kind.name().to_owned())),
        created.filter_text(),
    ];
    reply(&reader, page, &filters)
}

/// `POST /merchants/list-entries-by-payment`
async fn list_entries_by_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (payment, request) = call.fields().parse(&BY_PAYMENT)?;
    let reader = call.caller().reader(&service).await?;
    let payment_id = Payments::find_row(&reader, payment.clone())?.id;
    let page = page_of_payment(&reader, Some(payment_id), None, request, Some(IdSpan::all())).await?;
    reply(&reader, page, &[("payment_id", Some(payment.to_string()))])
}

async fn page_of_all(
    reader: &Reader<'_>,
    kind: Option<EntryType>,
    request: ListPageRequest<EntryId>,
    span: Option<IdSpan<EntryId>>,
) -> Result<ListPage<Entry>, ApiError> {
    let rows = |span: IdSpan<_>, direction, limit| Ok(reader.view().scan::<Entries>(span.range(), direction, limit)?);
    Filtered { rows, passes: is_of(kind) }.page(request, span).await
}

async fn page_of_payment(
    reader: &Reader<'_>,
    payment_id: Option<PaymentId>,
    kind: Option<EntryType>,
    request: ListPageRequest<EntryId>,
    span: Option<IdSpan<EntryId>>,
) -> Result<ListPage<Entry>, ApiError> {
    let rows = |span, direction, limit| {
        payment_id.map_or(Ok(Vec::new()), |id| entries_of_payment(reader, id, span, direction, limit))
    };
    Filtered { rows, passes: is_of(kind) }.page(request, span).await
}

/// True for the entries of a type, or of every type.
fn is_of(kind: Option<EntryType>) -> impl Fn(&Entry) -> bool {
    move |entry| kind.is_none_or(|kind| kind == entry.entry_type)
}

fn reply(reader: &Reader<'_>, page: ListPage<Entry>, filters: &[FilterText]) -> Result<Reply, ApiError> {
    let (mut statements, mut external_ids) = (StatementFinder::default(), ExternalIdFinder::default());
    let shapes = page.try_map(|entry| {
        let statement_id = statements.find(reader, entry)?;
        Ok::<_, ApiError>(EntryShape::new(entry, statement_id, external_ids.find(reader, entry)?))
    });
    Reply::list_page(&shapes?.with_filters(filters))
}

/// The refusal before the balance is opened.
pub(super) fn no_balance() -> ApiError {
    ApiError::new(
        Code::NotFound,
        "This merchant has no balance yet. Its first captured payment or top-up opens it, or the operator does.",
    )
}
