//! `POST /merchants/list-activity-logs`

use till_domain::activity::{ActivityObject, ActivityType};
use till_domain::ids::{ActivityId, KeyId};
use till_domain::merchant::Profile;
use till_domain::payment::PaymentRef;
use till_domain::records::{
    ActivityEmails, ApiKeys, PaymentsByExternalId, PayoutsByExternalId, Profiles, RefundsByExternalId, Rows, Single,
};
use till_domain::text::{Email, ExternalId};
use till_protocol::arguments::id;
use till_protocol::json::Json;
use till_storage::shapes::ActivityIndex;

use crate::endpoints::created_at::{CREATED_AT_ARGUMENT, CreatedRange, MerchantClock, zone};
use crate::endpoints::forms::{EMAIL, PAYMENT_REF, checked, own_text, terms};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::activity::{ACTIVITY_LOG, ActivityShape};
use crate::service::{ActivityTerms, FilterText, Selection, search};

pub(super) const ENDPOINTS: MerchantEndpoints =
    &[MerchantEndpoint(Act::SeePayments, &LIST_ACTIVITY_LOGS, &list_activity_logs)];

/// The word for the group of types about disputes.
const DISPUTE: &str = "dispute";

/// The values of `activity_type`: the group of those about disputes, or one type.
const WORDS: [&str; ActivityType::ALL.len() + 1] = {
    let mut words = [DISPUTE; ActivityType::ALL.len() + 1];
    let mut at = 0;
    while at < ActivityType::ALL.len() {
        words[at + 1] = ActivityType::ALL[at].filter_name();
        at += 1;
    }
    words
};

const TYPE_WORDS: ValueType = ValueType::words(&WORDS);

const FILTERS: ArgumentSet<Filters, MerchantClock> = arguments!(Filters {
    types: Field { value_type: TYPE_WORDS, parse: activity_types }
        .optional("What happened; `dispute` is `dispute_challenged`, `dispute_escalated` and `dispute_conceded`.")
        .with_name("activity_type"),
    actor_email: EMAIL.optional("The address of the user who acted."),
    actor_key_id: id::<KeyId>().optional("The uid of the API key that acted."),
    object: Field { value_type: PAYMENT_REF.value_type, parse: object_ref }
        .optional(
            "What it is about: an id as `object_id` of the entries says it, or the merchant's own identifier, \
            of a payment, a refund and a payout alike."
        )
        .with_name("object_id"),
    parent: PAYMENT_REF
        .optional("The payment of the refund or dispute that it is about: its id or the merchant's own identifier.")
        .with_name("parent_id"),
    created: CREATED_AT_ARGUMENT,
    terms: terms("somchai").optional(
        "A part, in any letter case, of the actor's or the team member's address, of the object's or the \
            parent's id."
    ),
});

const LIST: ArgumentSet<(ListPageRequest<ActivityId>, Filters), MerchantClock> =
    arguments!({ page: list_page::<ActivityId>(), filters: FILTERS } => (page, filters));

static LIST_ACTIVITY_LOGS: Declaration = Declaration {
    name: "list-activity-logs",
    summary: "Lists the merchant's activity, newest first.",
    docs: "Filters given together must all hold. `next` and `previous` carry them.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&ACTIVITY_LOG),
    errors: &[DeclaredError::new(
        Code::NotFound,
        "`actor_email` or `actor_key_id` has never belonged to this merchant.",
    )
    .with(r#"{"argument": "actor_key_id"}"#)],
    ..Declaration::query(Package::Merchants, "activity")
};

/// The filters as they were given.
struct Filters {
    types: Option<(&'static str, &'static [ActivityType])>,
    actor_email: Option<Email>,
    actor_key_id: Option<KeyId>,
    object: Option<ObjectRef>,
    parent: Option<PaymentRef>,
    created: Option<CreatedRange>,
    terms: Option<String>,
}

/// The object of an activity by its id, or the objects that have the merchant's own identifier.
enum ObjectRef {
    Own(ActivityObject),
    External(ExternalId),
}

/// `POST /merchants/list-activity-logs`
async fn list_activity_logs(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let reader = call.caller().reader(&service).await?;
    let profile = reader.get::<Profiles>(Single)?.ok_or_else(ApiError::unhandled)?;
    let clock = MerchantClock { now: service.clock_of(reader.merchant_id()), zone: zone(&profile) };
    let (request, filters) = call.fields().parse_in(&LIST, &clock)?;
    filters.check_actors(&reader, &profile)?;
    let page = search(&reader, &filters.selection(&reader)?, request).await?;
    Reply::list_page(&page.map(ActivityShape::new).with_filters(&filters.texts()))
}

impl Filters {
    /// Refuses actors that have never belonged to the merchant. Former members and revoked keys have.
    fn check_actors(&self, reader: &Reader<'_>, profile: &Profile) -> Result<(), ApiError> {
        if let Some(email) = &self.actor_email {
            let known = reader.get::<ActivityEmails>(email.clone())?;
            let is_support = profile.support_email.as_ref() == Some(email);
            if !is_support && !known.is_some_and(|known| known.has_belonged) {
                return Err(ApiError::not_found(
                    "actor_email",
                    "No user of this merchant has or had this actor_email. list-users shows its users.",
                ));
            }
        }
        if let Some(key_id) = self.actor_key_id {
            let none = || {
                ApiError::not_found(
                    "actor_key_id",
                    "No API key of this merchant has or had this actor_key_id. list-keys shows them all.",
                )
            };
            reader.get::<ApiKeys>(key_id)?.ok_or_else(none)?;
        }
        Ok(())
    }

    fn selection(&self, reader: &Reader<'_>) -> Result<Selection<ActivityIndex>, ApiError> {
        let mut selection = Selection::default();
        if let Some(object) = &self.object {
            selection.any_of(object.objects(reader)?.into_iter().map(ActivityIndex::Object).collect());
        }
        if let Some(parent) = &self.parent {
            let payment_id = reader.id_of::<PaymentsByExternalId>(parent)?;
            selection.any_of(payment_id.map(ActivityIndex::Parent).into_iter().collect());
        }
        if let Some(email) = &self.actor_email {
            selection.any_of(vec![ActivityIndex::ActorEmail(email.clone())]);
        }
        if let Some(terms) = &self.terms {
            ActivityTerms::find(terms, reader)?.select(&mut selection);
        }
        if let Some(key_id) = self.actor_key_id {
            selection.any_of(vec![ActivityIndex::ActorKey(key_id)]);
        }
        if let Some((_, types)) = self.types {
            selection.any_of(types.iter().copied().map(ActivityIndex::Type).collect());
        }
        if let Some(created) = &self.created {
            selection.recorded(created.from, created.until);
        }
        Ok(selection)
    }

    /// The filters for the calls for the pages beside this one.
    fn texts(&self) -> Vec<FilterText> {
        let object = self.object.as_ref().map(|object| match object {
            ObjectRef::Own(object) => object.id_text(),
            ObjectRef::External(external_id) => external_id.as_str().to_owned(),
        });
        let parent = self.parent.as_ref().map(PaymentRef::to_string);
        vec![
            ("activity_type", self.types.map(|(word, _)| word.to_owned())),
            ("actor_email", self.actor_email.as_ref().map(|email| email.as_str().to_owned())),
            ("actor_key_id", self.actor_key_id.map(|key_id| key_id.to_string())),
            ("object_id", object),
            ("parent_id", parent),
            ("created_at", self.created.as_ref().map(|created| created.text.clone())),
            ("terms", self.terms.clone()),
        ]
    }
}

impl ObjectRef {
    /// The objects: one identifier may name a payment, a refund and a payout at once.
    fn objects(&self, reader: &Reader<'_>) -> Result<Vec<ActivityObject>, ApiError> {
        let external_id = match self {
            ObjectRef::Own(object) => return Ok(vec![*object]),
            ObjectRef::External(external_id) => external_id,
        };
        let payment = reader.get::<PaymentsByExternalId>(external_id.clone())?.map(ActivityObject::Payment);
        let refund = reader.get::<RefundsByExternalId>(external_id.clone())?.map(ActivityObject::Refund);
        let payout = reader.get::<PayoutsByExternalId>(external_id.clone())?.map(ActivityObject::Payout);
        Ok([payment, refund, payout].into_iter().flatten().collect())
    }
}

fn activity_types(value: &Json) -> Result<(&'static str, &'static [ActivityType]), String> {
    let text = own_text(value)?;
    if text == DISPUTE {
        return Ok((DISPUTE, &ActivityType::DISPUTE));
    }
    let found = ActivityType::ALL.iter().find(|found| found.filter_name() == text);
    let found = found.map(|found| (found.filter_name(), std::slice::from_ref(found)));
    found.ok_or_else(|| format!("must be one of: {}", TYPE_WORDS.choices().join(", ")))
}

fn object_ref(value: &Json) -> Result<ObjectRef, String> {
    let text = own_text(value)?;
    match ActivityObject::from_id_text(&text) {
        Some(object) => Ok(ObjectRef::Own(object)),
        None => checked(ExternalId::new(text)).map(ObjectRef::External),
    }
}
