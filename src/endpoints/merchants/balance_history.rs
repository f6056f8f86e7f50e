//! `POST /merchants/balance-history`, `POST /merchants/list-entries-by-payment`

use till_domain::ids::{EntryId, PaymentId};
use till_domain::ledger::{Entry, EntryType};
use till_domain::records::{Balances, Entries, Payments, Rows, Single};
use till_storage::shapes::{ExternalIdFinder, StatementFinder};

use super::named_payment;
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedAt};
use crate::endpoints::forms::{EXTERNAL_ID, PAYMENT_ARGUMENT, PAYMENT_NOT_FOUND};
use crate::endpoints::shapes::entry::{ENTRY, EntryShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field::{self, PageRequest};
use crate::protocol::json::Json;
use crate::service::{FilterText, Filtered, IdSpan, Page, Reader, Shared, entries_of_payment};

const PAGE: [Argument; 3] = page_arguments(EntryId::PREFIX);

pub(super) static BALANCE_HISTORY: Declaration = Declaration {
    name: "balance-history",
    package: Package::Merchants,
    group: "balance",
    summary: "Lists the ledger entries of the merchant's default balance, newest first.",
    docs: "Without `created_at` there is no time window. The status of an entry is that at the time of the call. Filters given together must all hold. `next` and `previous` carry them.",
    arguments: &[
        PAGE[0],
        PAGE[1],
        PAGE[2],
        Argument::optional(
            "payment_id",
            EXTERNAL_ID,
            "Only entries of this payment, of its refunds and disputes: its id (`pay_...`) or the merchant's own `external_id`.",
        ),
        Argument::optional("type", words_of!(EntryType), "Only entries of this type."),
        CREATED_AT_ARGUMENT,
    ],
    returns: Returns::Page(&ENTRY),
    errors: &[DeclaredError::when(Code::NotFound, "No balance exists for the merchant.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_ENTRIES_BY_PAYMENT: Declaration = Declaration {
    name: "list-entries-by-payment",
    package: Package::Merchants,
    group: "balance",
    summary: "Lists the ledger entries of a payment, of its refunds and of its disputes, newest first.",
    docs: "The entries are those of `balance-history`. A payment that was not captured has none. `next` and `previous` carry the payment.",
    arguments: &[PAYMENT_ARGUMENT, PAGE[0], PAGE[1], PAGE[2]],
    returns: Returns::Page(&ENTRY),
    errors: &[PAYMENT_NOT_FOUND],
    flags: Flags::QUERY,
};

/// `POST /merchants/balance-history`
pub(super) async fn balance_history(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = service.reader(call.caller().merchant_id).await?;
    let mut fields = call.fields();
    let page = field::page(&mut fields, entry_id());
    let payment = fields.optional("payment_id", arguments::payment_ref);
    let kind = fields.optional("type", field::one_of(&EntryType::ALL, EntryType::name));
    let created = CreatedAt::read(&mut fields, &service, &reader)?;
    let request = fields.finish(|| page)?;
    reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let span = created.span();
    let page = match &payment {
        None => page_of_all(&reader, kind, request, span).await?,
        Some(payment) => page_of_payment(&reader, named_payment::id(&reader, payment)?, kind, request, span).await?,
    };
    let filters = [
        ("payment_id", payment.as_ref().map(named_payment::text)),
        ("type", kind.map(|kind| kind.name().to_owned())),
        created.given(),
    ];
    reply(&reader, page, &filters)
}

/// `POST /merchants/list-entries-by-payment`
pub(super) async fn list_entries_by_payment(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let payment = fields.required("payment_id", arguments::payment_ref);
    let page = field::page(&mut fields, entry_id());
    let (payment, request) = fields.finish(|| Some((payment?, page?)))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let found = named_payment::id(&reader, &payment)?.map_or(Ok(None), |id| reader.get::<Payments>(id))?;
    let payment_id = found.ok_or_else(named_payment::unknown)?.id;
    let page = page_of_payment(&reader, Some(payment_id), None, request, Some(IdSpan::all())).await?;
    reply(&reader, page, &[("payment_id", Some(named_payment::text(&payment)))])
}

async fn page_of_all(
    reader: &Reader<'_>,
    kind: Option<EntryType>,
    request: PageRequest<EntryId>,
    span: Option<IdSpan<EntryId>>,
) -> Result<Page<Entry>, ApiError> {
    let rows = |span: IdSpan<_>, direction, limit| Ok(reader.view().scan::<Entries>(span.range(), direction, limit)?);
    Filtered { rows, passes: is_of(kind) }.page(request, span).await
}

async fn page_of_payment(
    reader: &Reader<'_>,
    payment_id: Option<PaymentId>,
    kind: Option<EntryType>,
    request: PageRequest<EntryId>,
    span: Option<IdSpan<EntryId>>,
) -> Result<Page<Entry>, ApiError> {
    let rows = |span, direction, limit| {
        payment_id.map_or(Ok(Vec::new()), |id| entries_of_payment(reader, id, span, direction, limit))
    };
    Filtered { rows, passes: is_of(kind) }.page(request, span).await
}

/// True for the entries of a type, or of every type.
fn is_of(kind: Option<EntryType>) -> impl Fn(&Entry) -> bool {
    move |entry| kind.is_none_or(|kind| kind == entry.entry_type)
}

fn reply(reader: &Reader<'_>, page: Page<Entry>, filters: &[FilterText]) -> Result<Reply, ApiError> {
    let (mut statements, mut external_ids) = (StatementFinder::default(), ExternalIdFinder::default());
    let shapes = page.try_map(|entry| {
        let statement_id = statements.find(reader, entry)?;
        Ok::<_, ApiError>(EntryShape::new(entry, statement_id, external_ids.find(reader, entry)?))
    });
    Reply::page(&shapes?.carrying(filters))
}

fn entry_id() -> impl Fn(&Json) -> Result<EntryId, String> {
    arguments::id("an entry id (ent_...)")
}

/// The refusal before the balance is opened.
pub(super) fn no_balance() -> ApiError {
    ApiError::new(
        Code::NotFound,
        "This merchant has no balance yet. Its first captured payment or top-up opens it, or the operator does.",
    )
}
