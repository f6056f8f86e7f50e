//! `POST /merchants/balance-history`

use till_domain::ids::EntryId;
use till_domain::records::{Balances, Entries, Rows, Single};
use till_storage::shapes::StatementFinder;

use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::entry::{ENTRY, EntryShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{Declaration, DeclaredError, Flags, Package, Returns, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_page};

pub(super) static BALANCE_HISTORY: Declaration = Declaration {
    name: "balance-history",
    package: Package::Merchants,
    group: "balance",
    summary: "Lists the ledger entries of the merchant's default balance, newest first.",
    docs: "There is no time window: every entry is listed. The status of an entry is that at the time of the call.",
    arguments: &page_arguments(EntryId::PREFIX),
    returns: Returns::Page(&ENTRY),
    errors: &[DeclaredError::when(Code::NotFound, "No balance exists for the merchant.")],
    flags: Flags::QUERY,
};

/// `POST /merchants/balance-history`
pub(super) async fn balance_history(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<EntryId>("an entry id (ent_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    reader.get::<Balances>(Single)?.ok_or_else(no_balance)?;
    let mut statements = StatementFinder::default();
    let page = read_page::<Entries>(&reader, request)?;
    let page = page.try_map(|entry| Ok::<_, ApiError>(EntryShape::new(entry, statements.find(&reader, entry)?)))?;
    Reply::page(&page)
}

/// The refusal before the balance is opened.
pub(super) fn no_balance() -> ApiError {
    ApiError::new(
        Code::NotFound,
        "This merchant has no balance yet. Its first captured payment or top-up opens it, or the operator does.",
    )
}
