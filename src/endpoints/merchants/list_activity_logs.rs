//! `POST /merchants/list-activity-logs`

use till_domain::ids::ActivityId;

use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::shapes::activity::{ACTIVITY_LOG, ActivityShape};
use crate::protocol::api_error::ApiError;
use crate::protocol::declaration::{Declaration, Flags, PAGE_ARGUMENTS, Package, Returns};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::service::{Shared, read_page};

/// The declaration.
pub(super) static LIST_ACTIVITY_LOGS: Declaration = Declaration {
    name: "list-activity-logs",
    package: Package::Merchants,
    group: "activity",
    summary: "Lists the merchant's activity, newest first.",
    docs: "",
    arguments: &PAGE_ARGUMENTS,
    returns: Returns::Page(&ACTIVITY_LOG),
    errors: &[],
    flags: Flags::QUERY,
};

/// `POST /merchants/list-activity-logs`
pub(super) async fn list_activity_logs(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<ActivityId>("an activity log id (act_...)"));
    let request = fields.finish(|| page)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    Ok(Reply::new(&read_page(&reader, request)?.map(ActivityShape::new)))
}
