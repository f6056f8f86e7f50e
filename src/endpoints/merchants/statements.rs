//! `POST /merchants/list-statements`, `find-statement`, `retrieve-statement-document`

use till_domain::ids::StatementId;
use till_domain::records::{Profiles, Rows, Single, Statements};
use till_protocol::arguments::id;
use till_protocol::fault::Fault;

use super::statement_document::{self, CSV_PART_ENTRIES, DocumentFormat};
use crate::endpoints::forms::{whole_number, words};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::statement::{STATEMENT, STATEMENT_DOCUMENT, StatementDocumentShape, StatementShape};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(Act::SeeMoney, &LIST_STATEMENTS, &list::<Statements>),
    MerchantEndpoint(Act::SeeMoney, &FIND_STATEMENT, &find::<Statements>),
    MerchantEndpoint(Act::SeeMoney, &RETRIEVE_STATEMENT_DOCUMENT, &retrieve_statement_document),
];

/// The limit of the number of a part: far more than a month can have.
const PART_MAX: u64 = 1_000_000;

const STATEMENT_ARGUMENT: Required<StatementId> =
    id::<StatementId>().required("The statement's id (`stm_...`).").with_name("statement_id");

const STATEMENT_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "No statement of this merchant has this id.");

static LIST_STATEMENTS: Declaration = Declaration {
    name: "list-statements",
    summary: "Lists the merchant's statements, newest first: one for each past month.",
    docs: "Months are those of the merchant's time zone. A statement has the entries whose `effective_at` is in its \
        month, and is closed at the end of the month. The first statement is that of the month in which the balance \
        was opened.",
    arguments: &list_page_arguments(StatementId::PREFIX),
    returns: Returns::ListPage(&STATEMENT),
    ..Declaration::query(Package::Merchants, "statements")
};

static FIND_STATEMENT: Declaration = Declaration {
    name: "find-statement",
    summary: "Returns a statement.",
    docs: "A statement never changes.",
    arguments: &[STATEMENT_ARGUMENT.argument],
    returns: Returns::Object(&STATEMENT),
    errors: &[STATEMENT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "statements")
};

const DOCUMENT: ArgumentSet<(StatementId, DocumentFormat, Option<u64>)> = arguments!({
    statement_id: STATEMENT_ARGUMENT,
    format: words!(DocumentFormat).required("The form of the file."),
    part: whole_number::<1, PART_MAX>(1)
        .optional("The number of the part, from 1; 1 when left out. `parts` in the answer is the number of parts."),
} => (statement_id, format, part));

static RETRIEVE_STATEMENT_DOCUMENT: Declaration = Declaration {
    name: "retrieve-statement-document",
    summary: "Returns a statement as a file: all its entries as CSV, or a summary as PDF.",
    docs: "The CSV has the entries in the order in which they became effective, in parts of 50,000, each with a line \
        of names in front. Its columns are the members of an entry, and last the `external_id` that the entry belongs \
        to; amounts are in minor units, times in ISO 8601 in the merchant's time zone. The PDF has the balances, and \
        the sums by type between them, on one page. The same call answers the same bytes.",
    arguments: DOCUMENT.declared,
    returns: Returns::Object(&STATEMENT_DOCUMENT),
    errors: &[STATEMENT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "statements")
};

/// `POST /merchants/retrieve-statement-document`
async fn retrieve_statement_document(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (id, format, part) = call.fields().parse(&DOCUMENT)?;
    let part = part.unwrap_or(1);
    let merchant_id = call.caller().merchant_id;
    let reader = call.caller().reader(&service).await?;
    let statement = Statements::find_row(&reader, id)?;
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
    Reply::list_page(&StatementDocumentShape::new(file_name, format.media_type(), content, part, parts))
}

const UNKNOWN: &str = "No statement of this merchant has this statement_id. list-statements lists those that exist: a \
    month has one when it is over.";

kind!(Statements => StatementShape::new);
named_kind!(Statements, STATEMENT_ARGUMENT, ApiError::not_found("statement_id", UNKNOWN));
