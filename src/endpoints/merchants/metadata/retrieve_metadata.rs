//! `POST /merchants/retrieve-metadata`

use serde_json::Value;
use till_domain::metadata::{CanonicalJson, MetadataPath, PathTarget};
use till_domain::text::MetadataKey;
use till_protocol::fault::Fault;

use super::arguments::{KEY, PATH};
use super::paging::{ITEM_PAGE, ItemPageCall, ItemPageRequest};
use super::value::{AnswerBudget, joined, value_at};
use crate::endpoints::forms::BOOLEAN;
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::metadata::{METADATA, METADATA_ITEMS, metadata_json};
use crate::service::{FoundMetadata, ItemPage, MetadataReader};

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::SeeMetadata, &RETRIEVE_METADATA, &retrieve_metadata)];

const RETRIEVED: ArgumentSet<Retrieval> = arguments!({
    key: KEY,
    path: PATH,
    data_only: BOOLEAN.optional("True to answer the value without the record."),
    page: ITEM_PAGE,
} => Retrieval { key, path: path.unwrap_or_default(), data_only: data_only.unwrap_or(false), page });

static RETRIEVE_METADATA: Declaration = Declaration {
    name: "retrieve-metadata",
    summary: "Returns a metadata record, or its value alone.",
    docs: "With `path`, `metadata` is the value at the path. A set of more than 10,000 items at the path is answered \
        page by page: the record has the members `previous` and `next`, the bodies of the calls for the adjacent \
        pages; with `data_only` the answer is an object of `previous`, `page` and `next`. Any paging argument asks for \
        such a page of a smaller set, too. A page may end early when its items are large. Larger sets below the path \
        stand there with their first items, and `truncated` lists the bodies of the calls for the rest.",
    arguments: RETRIEVED.declared,
    returns: Returns::AnyOf(&[&METADATA, &METADATA_ITEMS]),
    errors: &[DeclaredError::new(
        Code::NotFound,
        "There is no record under this key, it has expired, or there is no value at the path.",
    )],
    ..Declaration::query(Package::Merchants, "metadata")
};

/// `POST /merchants/retrieve-metadata`
async fn retrieve_metadata(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let asked = call.fields().parse(&RETRIEVED)?;
    let reader = service.metadata(call.caller().merchant_id).await?;
    let found = reader.find(asked.key.clone())?.ok_or_else(not_found)?;
    let json = match page(&reader, &found, &asked)? {
        Some(page) => page_answer(&found, &asked, page),
        None => value_answer(&reader, &found, &asked)?,
    };
    Ok(Reply::from_json(json))
}

struct Retrieval {
    key: MetadataKey,
    path: MetadataPath,
    data_only: bool,
    page: ItemPageRequest,
}

fn not_found() -> ApiError {
    ApiError::not_found(
        "key",
        "There is no metadata under this key and path, or it has expired. list-metadata shows all keys.",
    )
}

/// The requested page, or the first page of a set that is too large to be answered whole. None when the whole value is
/// answered.
fn page(reader: &MetadataReader<'_>, found: &FoundMetadata, asked: &Retrieval) -> Result<Option<ItemPage>, ApiError> {
    let ItemPageRequest { range, limit, is_given } = asked.page;
    let value = found.document.value_at(&asked.path).ok_or_else(not_found)?;
    match found.document.place(&asked.path) {
        PathTarget::Set(number) => {
            let page = reader.items(found.record.id, number, range, limit)?;
            Ok((is_given || page.later).then_some(page))
        }
        PathTarget::Array(_) if is_given => {
            let array = CanonicalJson::from_canonical(value);
            Ok(Some(ItemPage::of_array(array.items(), range, limit)))
        }
        PathTarget::Vacant | PathTarget::Other if is_given => {
            let fault = Fault::not_a_set("path", "leads to no array, and only those have pages");
            Err(ApiError::invalid_arguments(&[fault]))
        }
        PathTarget::Array(_) | PathTarget::Vacant | PathTarget::Other => Ok(None),
    }
}

fn page_answer(found: &FoundMetadata, asked: &Retrieval, page: ItemPage) -> String {
    let Retrieval { key, path, data_only, page: ItemPageRequest { range, limit, .. } } = asked;
    let call = ItemPageCall { key, path, data_only: *data_only, range: *range, limit: *limit };
    let (previous, next) = call.neighbours(&page);
    let items = joined(page.items);
    if *data_only {
        format!(r#"{{"previous":{previous},"page":{items},"next":{next}}}"#)
    } else {
        let further = [("previous", previous.to_string()), ("next", next.to_string())];
        metadata_json(&found.key, &found.record, &items, &further)
    }
}

fn value_answer(reader: &MetadataReader<'_>, found: &FoundMetadata, asked: &Retrieval) -> Result<String, ApiError> {
    let mut room = AnswerBudget::of_an_answer();
    let (value, cut) = value_at(reader, found, &asked.path, &mut room)?.ok_or_else(not_found)?;
    match (asked.data_only, cut.first()) {
        (true, None) => Ok(value),
        (true, Some(set)) => {
            let message = format!("the set at {} is too large for one answer; retrieve it by its path", set.path);
            Err(ApiError::invalid_arguments(&[Fault::invalid("data_only", message)]))
        }
        (false, None) => Ok(metadata_json(&found.key, &found.record, &value, &[])),
        (false, Some(_)) => {
            let rest: Value = cut.iter().map(|set| set.rest(found)).collect();
            Ok(metadata_json(&found.key, &found.record, &value, &[("truncated", rest.to_string())]))
        }
    }
}
