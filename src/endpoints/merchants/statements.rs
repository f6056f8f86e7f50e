//! `POST /merchants/list-statements`, `find-statement`, `retrieve-statement-document`

use till_domain::ids::StatementId;
use till_domain::records::{Profiles, Rows, Single, Statements};
use till_domain::statement::Statement;

use super::statement_document::{self, CSV_PART_ENTRIES, DocumentFormat};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::statement::{STATEMENT, STATEMENT_DOCUMENT, StatementDocumentShape, StatementShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments, words_of,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::fault::Fault;
use crate::protocol::field;
use crate::service::{Reader, Shared, read_page};

/// The limit of the number of a part: far more than a month can have.
const PART_MAX: u64 = 1_000_000;

const STATEMENT_ID: Argument =
    Argument::required("statement_id", ValueType::Id(StatementId::PREFIX), "The statement's id (`stm_...`).");

const STATEMENT_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "No statement of this merchant has this id.");

pub(super) static LIST_STATEMENTS: Declaration = Declaration {
    name: "list-statements",
    package: Package::Merchants,
    group: "statements",
    summary: "Lists the merchant's statements, newest first: one for each past month.",
    docs: "Months are those of the merchant's time zone. A statement has the entries whose `effective_at` is in its month, and is closed at the end of the month. The first statement is that of the month in which the balance was opened.",
    arguments: &page_arguments(StatementId::PREFIX),
    returns: Returns::Page(&STATEMENT),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static FIND_STATEMENT: Declaration = Declaration {
    name: "find-statement",
    package: Package::Merchants,
    group: "statements",
    summary: "Returns a statement.",
    docs: "A statement never changes.",
    arguments: &[STATEMENT_ID],
    returns: Returns::Object(&STATEMENT),
    errors: &[STATEMENT_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static RETRIEVE_STATEMENT_DOCUMENT: Declaration = Declaration {
    name: "retrieve-statement-document",
    package: Package::Merchants,
    group: "statements",
    summary: "Returns a statement as a file: all its entries as CSV, or a summary as PDF.",
    docs: "The CSV has the entries in the order in which they became effective, in parts of 50,000, each with a line of names in front. Its columns are the members of an entry, and last the `external_id` that the entry belongs to; amounts are in minor units, times in ISO 8601 in the merchant's time zone. The PDF has the balances, and the sums by type between them, on one page. The same call answers the same bytes.",
    arguments: &[
        STATEMENT_ID,
        Argument::required("format", words_of!(DocumentFormat), "The form of the file."),
        Argument::optional(
            "part",
            ValueType::integer(1, PART_MAX, 1),
            "The number of the part, from 1; 1 when left out. `parts` in the answer is the number of parts.",
        ),
    ],
    returns: Returns::Object(&STATEMENT_DOCUMENT),
    errors: &[STATEMENT_NOT_FOUND],
    flags: Flags::QUERY,
};

/// `POST /merchants/list-statements`
pub(super) async fn list_statements(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<StatementId>("a statement id (stm_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Reply::page(&read_page::<Statements>(&reader, request)?.map(StatementShape::new))
}

/// `POST /merchants/find-statement`
pub(super) async fn find_statement(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("statement_id", arguments::id::<StatementId>("a statement id (stm_...)"));
    let id = fields.finish(|| id)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&StatementShape::new(&find(&reader, id)?)))
}

/// `POST /merchants/retrieve-statement-document`
pub(super) async fn retrieve_statement_document(
    service: Shared,
    call: Call<MerchantCaller>,
) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let id = fields.required("statement_id", arguments::id::<StatementId>("a statement id (stm_...)"));
    let format = fields.required("format", field::one_of(&DocumentFormat::ALL, DocumentFormat::name));
    let part = fields.optional("part", field::integer(1..=PART_MAX));
    let (id, format, part) = fields.finish(|| Some((id?, format?, part.unwrap_or(1))))?;
    let merchant_id = call.caller().merchant_id;
    let reader = service.reader(merchant_id).await?;
    let statement = find(&reader, id)?;
    let parts = match format {
        DocumentFormat::Csv => statement_document::csv_parts(&statement, CSV_PART_ENTRIES),
        DocumentFormat::Pdf => 1,
    };
    if part > parts {
        let fault = Fault::invalid("part", format!("must be at most {parts}, the number of parts of this document"));
        return Err(ApiError::invalid_arguments(&[fault]));
    }
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
    let content = match format {
        DocumentFormat::Csv => {
            statement_document::csv_part(&reader, &statement, &profile, (part, CSV_PART_ENTRIES)).await?
        }
        DocumentFormat::Pdf => statement_document::pdf(&statement, merchant_id, &profile)?,
    };
    let file_name = statement_document::file_name(&statement, format, (part, parts));
    let content = statement_document::base64(&content)?;
    Reply::page(&StatementDocumentShape::new(file_name, format.media_type(), content, part, parts))
}

fn find(reader: &Reader<'_>, id: StatementId) -> Result<Statement, ApiError> {
    let unknown = || {
        let message = "No statement of this merchant has this statement_id. list-statements lists those that exist: a month has one when it is over.";
        ApiError::not_found("statement_id", message)
    };
    reader.get::<Statements>(id)?.ok_or_else(unknown)
}
