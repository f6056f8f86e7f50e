//! `POST /admin/create-merchant`, `update-merchant`, `find-merchant`, `list-merchants`, `suspend-merchant`,
//! `resume-merchant`

use till_actors::Answered;
use till_domain::command::{Caller, Command, CreateMerchant, Idempotency, UpdateMerchant};
use till_domain::event::Answer;
use till_domain::ids::{IdPosition, MerchantId, RawId};
use till_domain::merchant::{Color, SETTLEMENT_DELAY_DEFAULT_SECONDS, SETTLEMENT_DELAY_MAX_SECONDS};
use till_domain::records::{CreatedMerchant, CreatedMerchants, MerchantDirectory, Rows};
use till_domain::text::TimeZone;
use till_domain::time::Millis;
use till_protocol::api_error::{CallEffect, RETRY_AFTER_SECONDS};
use tracing::Instrument;

use super::about_merchant::{ByOperator, MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, check_exists};
use crate::endpoints::forms::{ACCOUNT_CURRENCY, BOOLEAN, CLEAR_EMAIL, NAME, TIME_ZONE, whole_number};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::merchant::{MERCHANT, MerchantShape};
use crate::service::{read_list_page_with_ids, reply_of};

pub(super) const ENDPOINTS: Endpoints<Operator> = &[
    Endpoint(&CREATE_MERCHANT, &create_merchant),
    Endpoint(&UPDATE_MERCHANT, &ByOperator(UPDATED, Command::UpdateMerchant)),
    Endpoint(&FIND_MERCHANT, &find_merchant),
    Endpoint(&LIST_MERCHANTS, &list_merchants),
    Endpoint(&SUSPEND_MERCHANT, &ByOperator(NAMED, |()| Command::SuspendMerchant)),
    Endpoint(&RESUME_MERCHANT, &ByOperator(NAMED, |()| Command::ResumeMerchant)),
];

/// A colour as style sheets write it.
const COLOR: Field<Color> = Field {
    value_type: ValueType::Text(Text::of(7, 7, "#0a7fff").matching("^#[0-9a-f]{6}$")),
    parse: |value| {
        let color = value.as_str().and_then(Color::parse);
        color.ok_or_else(|| "must be # and six lower-case hexadecimal digits, such as #0a7fff".to_owned())
    },
};

/// The argument that permits identifiers that look like card numbers.
const CARD_NUMBERS_ARGUMENT: Optional<bool> = BOOLEAN
    .optional(
        "True permits identifiers, keys and metadata that look like card numbers; a new merchant may not use them.",
    )
    .with_name("card_numbers_in_identifiers");

/// The merchant alone, for commands that need no more.
const NAMED: ArgumentSet<(MerchantId, ())> = arguments!({ merchant_id: MERCHANT_ARGUMENT } => (merchant_id, ()));

const CREATED: ArgumentSet<CreateMerchant, MerchantId> = arguments!(with merchant_id; {
    name: NAME.required("Its name."),
    currency: ACCOUNT_CURRENCY.required("The ISO 4217 code of its account."),
    time_zone: TIME_ZONE.optional("The IANA time zone in which its days begin; UTC when left out.").in_examples(),
    settlement_delay_seconds: whole_number::<0, SETTLEMENT_DELAY_MAX_SECONDS>(SETTLEMENT_DELAY_DEFAULT_SECONDS)
        .optional("The seconds for which captured money is held, up to a year; 172800 when left out."),
    support_email: CLEAR_EMAIL.optional("The e-mail address that its activity log shows for the operator."),
    card_numbers: CARD_NUMBERS_ARGUMENT,
    test_clock: BOOLEAN
        .optional("True gives it a test clock, which advance-clock advances; false when left out. It cannot be \
            changed later."),
} => CreateMerchant {
    merchant_id: *merchant_id,
    name,
    currency,
    time_zone: time_zone.unwrap_or_else(|| TimeZone::from_stored("UTC".to_owned())),
    settlement_delay_seconds: settlement_delay_seconds.unwrap_or(SETTLEMENT_DELAY_DEFAULT_SECONDS),
    support_email,
    card_numbers_in_identifiers: card_numbers.unwrap_or(false),
    test_clock: test_clock.unwrap_or(false),
});

static CREATE_MERCHANT: Declaration = Declaration {
    name: "create-merchant",
    summary: "Creates a merchant and answers its id (`mer_...`).",
    docs: "It begins with CARD and INSTALLMENT on the sandbox, without fees and without a balance.",
    arguments: CREATED.declared,
    returns: Returns::Id(MerchantId::PREFIX),
    ..Declaration::command(Package::Admin, "merchants")
};

const UPDATED: ArgumentSet<(MerchantId, UpdateMerchant)> = arguments!({
    merchant_id: MERCHANT_ARGUMENT,
    card_numbers_in_identifiers: CARD_NUMBERS_ARGUMENT,
    color: COLOR.optional(
        "The colour of its pages for customers, `#rrggbb` in lower case. It is used only where it has enough contrast.",
    ),
} => (merchant_id, UpdateMerchant { card_numbers_in_identifiers, color }));

static UPDATE_MERCHANT: Declaration = Declaration {
    name: "update-merchant",
    summary: "Changes the settings of a merchant; `false` when nothing changed.",
    docs: "An argument that is left out changes nothing.",
    arguments: UPDATED.declared,
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::command(Package::Admin, "merchants")
};

static FIND_MERCHANT: Declaration = Declaration {
    name: "find-merchant",
    summary: "Returns a merchant.",
    arguments: &[MERCHANT_ARGUMENT.argument],
    returns: Returns::Object(&MERCHANT),
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::query(Package::Admin, "merchants")
};

static LIST_MERCHANTS: Declaration = Declaration {
    name: "list-merchants",
    summary: "Lists the merchants, newest first.",
    arguments: &list_page_arguments(MerchantId::PREFIX),
    returns: Returns::ListPage(&MERCHANT),
    ..Declaration::query(Package::Admin, "merchants")
};

static SUSPEND_MERCHANT: Declaration = Declaration {
    name: "suspend-merchant",
    summary: "Refuses a merchant's calls that change something; `false` when it was suspended already.",
    docs: "Operations that were accepted before continue, and its lists still answer.",
    arguments: NAMED.declared,
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::command(Package::Admin, "merchants")
};

static RESUME_MERCHANT: Declaration = Declaration {
    name: "resume-merchant",
    summary: "Accepts a suspended merchant's calls again; `false` when it was not suspended.",
    arguments: NAMED.declared,
    errors: &[MERCHANT_NOT_FOUND],
    ..Declaration::command(Package::Admin, "merchants")
};

/// `POST /admin/create-merchant`
async fn create_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let command = call.fields().parse_in(&CREATED, &fresh_merchant_id(service.now()))?;
    let Some(named) = service.idempotency(&call, None)? else {
        return create(&service, &call, command).await;
    };
    // Two calls with the same key must not run at the same time: each would create a merchant.
    let turn = service.creation_turn().await;
    // In a task: a broken connection drops its call, but not the submitted command. The lock must be held until it is
    // known if the command is durable.
    let creation = async move {
        let _turn = turn;
        create_once(&service, &call, &named, command).await
    };
    let created = actix_web::rt::spawn(creation.in_current_span()).await;
    created.unwrap_or_else(|_| Err(ApiError::unhandled())) // The panic hook has logged the place.
}

/// Creates a merchant unless an earlier call with this key did. Two of these must not run at the same time.
async fn create_once(
    service: &Service,
    call: &Call<Operator>,
    named: &Idempotency,
    command: CreateMerchant,
) -> Result<Reply, ApiError> {
    if let Some(merchant_id) = created_earlier(service, named)? {
        return Ok(reply_of(Answered { answer: Answer::Merchant(merchant_id), replayed: true }));
    }
    forget_ended(service, named).await?;
    create(service, call, command).await
}

async fn create(service: &Service, call: &Call<Operator>, command: CreateMerchant) -> Result<Reply, ApiError> {
    let merchant_id = command.merchant_id;
    let command = Command::CreateMerchant(command);
    let answered = service.submit(call, merchant_id, Caller::Operator, command, None).await?;
    call.log_subject(merchant_id, None);
    Ok(reply_of(answered))
}

/// The id of a new merchant, created at this time.
pub fn fresh_merchant_id(now: Millis) -> MerchantId {
    let random = getrandom::u64().expect("the operating system gives randomness once it is up");
    MerchantId::from_raw(RawId::new(IdPosition { millis: now.0, counter: 0 }, random))
}

/// The directory row of an earlier call with this key.
fn created(service: &Service, named: &Idempotency) -> Result<Option<CreatedMerchant>, ApiError> {
    Ok(service.directory().get::<CreatedMerchants>(named.scope.key.clone())?)
}

/// Removes the expired row of an earlier call with this key before another merchant takes the key: a row must belong to
/// one log.
async fn forget_ended(service: &Service, named: &Idempotency) -> Result<(), ApiError> {
    let Some(ended) = created(service, named)? else { return Ok(()) };
    service.forget_answer(ended.merchant_id, named.scope.clone()).await?;
    match created(service, named)? {
        None => Ok(()),
        // The clock has stepped back in the meantime.
        Some(_) => Err(ApiError::unavailable(CallEffect::NotDone, RETRY_AFTER_SECONDS)),
    }
}

/// The merchant that an earlier call with this key created.
fn created_earlier(service: &Service, named: &Idempotency) -> Result<Option<MerchantId>, ApiError> {
    let created = created(service, named)?;
    match created.filter(|created| service.now() < created.expires_at) {
        None => Ok(None),
        Some(created) if created.fingerprint == named.fingerprint => Ok(Some(created.merchant_id)),
        Some(_) => Err(ApiError::new(
            Code::IdempotencyKeyReused,
            "This Idempotency-Key was used with another body. Use a new key for a new call.",
        )),
    }
}

/// `POST /admin/find-merchant`
async fn find_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let merchant_id = call.fields().parse(&MERCHANT_ARGUMENT)?;
    Ok(Reply::new(&shape(&service, merchant_id).await?))
}

/// `POST /admin/list-merchants`
async fn list_merchants(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let request = call.fields().parse(&list_page::<MerchantId>())?;
    let page = read_list_page_with_ids::<MerchantDirectory>(&service.directory(), request)?;
    let mut shapes = Vec::with_capacity(page.page.len());
    for (merchant_id, _) in &page.page {
        shapes.push(shape(&service, *merchant_id).await?);
    }
    let mut shapes = shapes.into_iter();
    Reply::list_page(&page.map(|_| shapes.next()))
}

async fn shape(service: &Service, merchant_id: MerchantId) -> Result<MerchantShape, ApiError> {
    check_exists(service, merchant_id)?;
    let reader = service.reader(merchant_id).await?;
    MerchantShape::read(&reader, service.merchant_now(merchant_id)?)
}
