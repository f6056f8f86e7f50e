//! `POST /admin/create-merchant`, `update-merchant`, `find-merchant`, `list-merchants`, `suspend-merchant`, `resume-merchant`

use std::sync::Arc;

use till_actors::Answered;
use till_domain::command::{Caller, Command, CreateMerchant, Idempotency, UpdateMerchant};
use till_domain::event::Answer;
use till_domain::ids::{IdPosition, MerchantId, RawId};
use till_domain::merchant::{SETTLEMENT_DELAY_DEFAULT_SECONDS, SETTLEMENT_DELAY_MAX_SECONDS};
use till_domain::records::{CreatedMerchant, CreatedMerchants, MerchantDirectory, Rows};
use till_domain::refusal::Refusal;
use till_domain::text::{TIME_ZONE_MAX_BYTES, TimeZone};
use till_domain::time::Millis;
use tracing::Instrument;

use super::about_merchant::{MERCHANT_ARGUMENT, MERCHANT_NOT_FOUND, merchant_argument, submit};
use crate::access::Operator;
use crate::endpoints::arguments;
use crate::endpoints::forms::{CURRENCY, NAME};
use crate::endpoints::shapes::merchant::{MERCHANT, MerchantShape};
use crate::protocol::api_error::{ApiError, CallEffect, Code};
use crate::protocol::declaration::{Argument, Declaration, Flags, Package, Returns, Text, ValueType, page_arguments};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field;
use crate::protocol::fields::Fields;
use crate::service::{RETRY_AFTER_SECONDS, Service, Shared, read_page_with_ids, refused};

/// The form of a time zone's name, for documents. The parser checks that the zone exists.
const TIME_ZONE: ValueType =
    ValueType::Text(Text::of(1, TIME_ZONE_MAX_BYTES, "Asia/Bangkok").matching("^[A-Za-z0-9_+/-]+$"));
/// The argument that permits identifiers that look like card numbers.
const CARD_NUMBERS_ARGUMENT: Argument = Argument::optional(
    "card_numbers_in_identifiers",
    ValueType::BOOLEAN,
    "True permits identifiers, keys and metadata that look like card numbers; a new merchant may not use them.",
);

pub(super) static CREATE_MERCHANT: Declaration = Declaration {
    name: "create-merchant",
    package: Package::Admin,
    group: "merchants",
    summary: "Creates a merchant and answers its id (`mer_...`).",
    docs: "It begins with CARD and INSTALLMENT on the sandbox, without fees and without a balance.",
    arguments: &[
        Argument::required("name", NAME, "Its name."),
        Argument::required("currency", CURRENCY, "The ISO 4217 code of its account."),
        Argument::optional("time_zone", TIME_ZONE, "The IANA time zone in which its days begin; UTC when left out.")
            .shown(),
        Argument::optional(
            "settlement_delay_seconds",
            ValueType::integer(0, SETTLEMENT_DELAY_MAX_SECONDS, SETTLEMENT_DELAY_DEFAULT_SECONDS),
            "The seconds for which captured money is held, up to a year; 172800 when left out.",
        ),
        Argument::optional(
            "support_email",
            ValueType::EMAIL,
            "The e-mail address that its activity log shows for the operator.",
        ),
        CARD_NUMBERS_ARGUMENT,
        Argument::optional(
            "test_clock",
            ValueType::BOOLEAN,
            "True gives it a test clock, which advance-clock advances; false when left out. It cannot be changed later.",
        ),
    ],
    returns: Returns::Id(MerchantId::PREFIX),
    errors: &[],
    flags: Flags::COMMAND,
};

pub(super) static UPDATE_MERCHANT: Declaration = Declaration {
    name: "update-merchant",
    package: Package::Admin,
    group: "merchants",
    summary: "Changes the settings of a merchant; `false` when nothing changed.",
    docs: "An argument that is left out changes nothing.",
    arguments: &[MERCHANT_ARGUMENT, CARD_NUMBERS_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static FIND_MERCHANT: Declaration = Declaration {
    name: "find-merchant",
    package: Package::Admin,
    group: "merchants",
    summary: "Returns a merchant.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT],
    returns: Returns::Object(&MERCHANT),
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static LIST_MERCHANTS: Declaration = Declaration {
    name: "list-merchants",
    package: Package::Admin,
    group: "merchants",
    summary: "Lists the merchants, newest first.",
    docs: "",
    arguments: &page_arguments(MerchantId::PREFIX),
    returns: Returns::Page(&MERCHANT),
    errors: &[],
    flags: Flags::QUERY,
};

pub(super) static SUSPEND_MERCHANT: Declaration = Declaration {
    name: "suspend-merchant",
    package: Package::Admin,
    group: "merchants",
    summary: "Refuses a merchant's calls that change something; `false` when it was suspended already.",
    docs: "Operations that were accepted before continue, and its lists still answer.",
    arguments: &[MERCHANT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static RESUME_MERCHANT: Declaration = Declaration {
    name: "resume-merchant",
    package: Package::Admin,
    group: "merchants",
    summary: "Accepts a suspended merchant's calls again; `false` when it was not suspended.",
    docs: "",
    arguments: &[MERCHANT_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[MERCHANT_NOT_FOUND],
    flags: Flags::COMMAND,
};

/// `POST /admin/create-merchant`
pub(super) async fn create_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let command = parse(call.fields(), fresh_merchant_id(service.now()))?;
    let Some(named) = service.idempotency(&CREATE_MERCHANT, &call, None)? else {
        return create(&service, &call, command).await;
    };
    // Two calls with the same key must not run at the same time: each would create a merchant.
    let turn = Arc::clone(&service.creation).lock_owned().await;
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
    if let Some(merchant_id) = earlier(service, named)? {
        return Ok(Answered { answer: Answer::Merchant(merchant_id), replayed: true }.into());
    }
    forget_ended(service, named).await?;
    create(service, call, command).await
}

async fn create(service: &Service, call: &Call<Operator>, command: CreateMerchant) -> Result<Reply, ApiError> {
    let merchant_id = command.merchant_id;
    let command = Command::CreateMerchant(command);
    let answered = service.submit(&CREATE_MERCHANT, call, merchant_id, Caller::Operator, command, None).await?;
    call.log_subject(merchant_id, None);
    Ok(answered.into())
}

fn parse(mut fields: Fields<'_>, merchant_id: MerchantId) -> Result<CreateMerchant, ApiError> {
    let name = fields.required("name", arguments::name);
    let currency = fields.required("currency", arguments::account_currency);
    let time_zone = fields.optional("time_zone", arguments::time_zone);
    let delay = fields.optional("settlement_delay_seconds", field::integer(0..=SETTLEMENT_DELAY_MAX_SECONDS));
    let support_email = fields.optional("support_email", arguments::clear_email);
    let card_numbers = fields.optional(CARD_NUMBERS_ARGUMENT.name, field::boolean);
    let test_clock = fields.optional("test_clock", field::boolean);
    fields.finish(|| {
        Some(CreateMerchant {
            merchant_id,
            name: name?,
            currency: currency?,
            time_zone: time_zone.unwrap_or_else(|| TimeZone::from_stored("UTC".to_owned())),
            settlement_delay_seconds: delay.unwrap_or(SETTLEMENT_DELAY_DEFAULT_SECONDS),
            support_email,
            card_numbers_in_identifiers: card_numbers.unwrap_or(false),
            test_clock: test_clock.unwrap_or(false),
        })
    })
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
fn earlier(service: &Service, named: &Idempotency) -> Result<Option<MerchantId>, ApiError> {
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
pub(super) async fn find_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let merchant_id = fields.finish(|| merchant_id)?;
    Ok(Reply::new(&shape(&service, merchant_id).await?))
}

/// `POST /admin/list-merchants`
pub(super) async fn list_merchants(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let page = field::page(&mut fields, arguments::id::<MerchantId>("a merchant id (mer_...)"));
    let request = fields.finish(|| page)?;
    let page = read_page_with_ids::<MerchantDirectory>(&service.directory(), request)?;
    let mut shapes = Vec::with_capacity(page.page.len());
    for (merchant_id, _) in &page.page {
        shapes.push(shape(&service, *merchant_id).await?);
    }
    let mut shapes = shapes.into_iter();
    Reply::page(&page.map(|_| shapes.next()))
}

/// `POST /admin/update-merchant`
pub(super) async fn update_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let card_numbers_in_identifiers = fields.optional(CARD_NUMBERS_ARGUMENT.name, field::boolean);
    let merchant_id = fields.finish(|| merchant_id)?;
    let command = Command::UpdateMerchant(UpdateMerchant { card_numbers_in_identifiers });
    Ok(submit(&service, &UPDATE_MERCHANT, &call, merchant_id, command, None).await?.into())
}

/// `POST /admin/suspend-merchant`
pub(super) async fn suspend_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let merchant_id = fields.finish(|| merchant_id)?;
    Ok(submit(&service, &SUSPEND_MERCHANT, &call, merchant_id, Command::SuspendMerchant, None).await?.into())
}

/// `POST /admin/resume-merchant`
pub(super) async fn resume_merchant(service: Shared, call: Call<Operator>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let merchant_id = merchant_argument(&mut fields);
    let merchant_id = fields.finish(|| merchant_id)?;
    Ok(submit(&service, &RESUME_MERCHANT, &call, merchant_id, Command::ResumeMerchant, None).await?.into())
}

async fn shape(service: &Service, merchant_id: MerchantId) -> Result<MerchantShape, ApiError> {
    check_exists(service, merchant_id)?;
    let reader = service.reader(merchant_id).await?;
    MerchantShape::read(&reader, service.merchant_now(merchant_id)?)
}

/// Refuses an unknown merchant's id.
pub(super) fn check_exists(service: &Service, merchant_id: MerchantId) -> Result<(), ApiError> {
    let found = service.directory().get::<MerchantDirectory>(merchant_id)?;
    let unknown = || refused(&Refusal::MerchantNotFound);
    found.map(|_| ()).ok_or_else(unknown)
}
