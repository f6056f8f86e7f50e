//! `POST /merchants/list-metadata`

use serde_json::{Value, json};
use till_domain::cursor::Cursor;
use till_domain::ids::MetadataId;
use till_domain::metadata::{MetadataPath, MetadataRecord};
use till_domain::text::MetadataKey;
use till_storage::rows::{Beside, ScanDirection};

use super::value::{AnswerBudget, value_at};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::metadata::{METADATA, metadata_json};
use crate::service::{FoundMetadata, ListPage, MetadataReader};

pub(super) const ENDPOINTS: MerchantEndpoints = &[MerchantEndpoint(Act::SeeMetadata, &LIST_METADATA, &list_metadata)];

static LIST_METADATA: Declaration = Declaration {
    name: "list-metadata",
    summary: "Lists the merchant's metadata records, newest first.",
    docs: "A page may end early when its records are large. Of a larger set the record has the first items, \
           and `truncated` lists the bodies of the calls of retrieve-metadata for the rest.",
    arguments: &list_page_arguments(MetadataId::PREFIX),
    returns: Returns::ListPage(&METADATA),
    ..Declaration::query(Package::Merchants, "metadata")
};

/// `POST /merchants/list-metadata`
async fn list_metadata(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let request = call.fields().parse(&list_page::<MetadataId>())?;
    let reader = service.metadata(call.caller().merchant_id).await?;
    Ok(Reply::from_json(answer(&reader, request)?))
}

/// A record with its id, which cursors contain.
struct Listed {
    id: MetadataId,
    json: String,
}

/// Records of a page in the order of iteration, with a flag that says if more records follow.
struct ScannedRecords {
    listed: Vec<Listed>,
    has_more: bool,
}

fn answer(reader: &MetadataReader<'_>, request: ListPageRequest<MetadataId>) -> Result<String, ApiError> {
    let ListPageRequest { per_page, cursor } = request;
    let (direction, from) = match cursor {
        None => (ScanDirection::Backward, None),
        Some(Cursor::After(id)) => (ScanDirection::Backward, Some(id)),
        Some(Cursor::Before(id)) => (ScanDirection::Forward, Some(id)),
    };
    let ScannedRecords { mut listed, has_more } = walk(reader, direction, from, usize::from(per_page))?;
    let beside = match cursor {
        None => Beside { newer: false, older: has_more },
        Some(Cursor::After(_)) => {
            let newest = listed.first().map(|listed| listed.id).or(cursor.map(Cursor::vacancy));
            Beside { newer: has_neighbour(reader, ScanDirection::Forward, newest)?, older: has_more }
        }
        Some(Cursor::Before(_)) => {
            listed.reverse();
            let oldest = listed.last().map(|listed| listed.id).or(cursor.map(Cursor::vacancy));
            Beside { newer: has_more, older: has_neighbour(reader, ScanDirection::Backward, oldest)? }
        }
    };
    Ok(page_json(&ListPage::of_found(request, listed, |listed| listed.id, beside)))
}

fn page_json(page: &ListPage<Listed>) -> String {
    let (previous, next) = (json!(page.previous), json!(page.next));
    let records: Vec<&str> = page.page.iter().map(|listed| listed.json.as_str()).collect();
    format!(r#"{{"previous":{previous},"page":[{}],"next":{next}}}"#, records.join(","))
}

fn walk(
    reader: &MetadataReader<'_>,
    direction: ScanDirection,
    from: Option<MetadataId>,
    size: usize,
) -> Result<ScannedRecords, ApiError> {
    let records = reader.records(direction, from, size.saturating_add(1))?;
    let there = records.len();
    let mut room = AnswerBudget::of_an_answer();
    let mut listed = Vec::new();
    for record in records.into_iter().take(size) {
        listed.push(list(reader, record, &mut room)?);
        if room.is_full() {
            break;
        }
    }
    Ok(ScannedRecords { has_more: listed.len() < there, listed })
}

fn list(
    reader: &MetadataReader<'_>,
    (key, record): (MetadataKey, MetadataRecord),
    room: &mut AnswerBudget,
) -> Result<Listed, ApiError> {
    let found: FoundMetadata = reader.with_document(key, record)?;
    let (value, cut) = value_at(reader, &found, &MetadataPath::default(), room)?.ok_or_else(ApiError::unhandled)?;
    let rest: Value = cut.iter().map(|set| set.rest(&found)).collect();
    let further = if cut.is_empty() { Vec::new() } else { vec![("truncated", rest.to_string())] };
    Ok(Listed { id: found.record.id, json: metadata_json(&found.key, &found.record, &value, &further) })
}

/// True when there is a record next to `beside` in this direction.
fn has_neighbour(
    reader: &MetadataReader<'_>,
    direction: ScanDirection,
    beside: Option<MetadataId>,
) -> Result<bool, ApiError> {
    Ok(beside.is_some() && !reader.records(direction, beside, 1)?.is_empty())
}
