//! `POST /merchants/save-card`, `find-card`, `list-cards`, `set-default-card`, `forget-card`

use till_domain::card::Card;
use till_domain::command::{ContactChange, SaveCardOfToken};
use till_domain::customer::{CardRef, Customer};
use till_domain::ids::{CardId, TokenId};
use till_domain::records::{Cards, CardsByExternalId, CustomerCards, Customers, Rows};
use till_storage::rows::ScanDirection;

use super::contacts::{self, CONTACT_ARGUMENT, CONTACT_NOT_FOUND};
use crate::access::MerchantCaller;
use crate::endpoints::arguments;
use crate::endpoints::forms::{CARD_REF, EXTERNAL_ID};
use crate::endpoints::shapes::card::{CARD, CardShape};
use crate::protocol::api_error::{ApiError, Code};
use crate::protocol::declaration::{
    Argument, Declaration, DeclaredError, Flags, Package, Returns, ValueType, page_arguments,
};
use crate::protocol::dispatch::{Call, Reply};
use crate::protocol::field::{self, PageRequest};
use crate::service::{Filtered, IdSpan, Page, Reader, Shared};

const PAGE: [Argument; 3] = page_arguments(CardId::PREFIX);

const CARD_ARGUMENT: Argument =
    Argument::required("card_id", CARD_REF, "The saved card: an id (`crd_...`) or the merchant's own identifier.");

const CARD_NOT_FOUND: DeclaredError =
    DeclaredError::when(Code::NotFound, "The customer does not exist, or has no such saved card.");

pub(super) static SAVE_CARD: Declaration = Declaration {
    name: "save-card",
    package: Package::Merchants,
    group: "cards",
    summary: "Saves the card of a token for a customer. Answers the card's id.",
    docs: "The token must be one for several uses (`usage` MULTIPLE). When the customer has saved the card already, \
           its existing id is answered and its expiry is renewed. A customer has at most 100 saved cards.",
    arguments: &[
        Argument::required(
            "token",
            ValueType::Id(TokenId::PREFIX),
            "The token (`tok_...`) that tokenize-card answered.",
        ),
        CONTACT_ARGUMENT,
        Argument::optional(
            "external_id",
            EXTERNAL_ID,
            "The merchant's own identifier of the card, unique among its saved cards, 1 to 255 bytes.",
        ),
        Argument::optional("default", ValueType::BOOLEAN, "True makes the card the customer's default card."),
    ],
    returns: Returns::Id(CardId::PREFIX),
    errors: &[
        DeclaredError::when(Code::NotFound, "The token or the customer does not exist; the token may have expired."),
        DeclaredError::when(
            Code::Conflict,
            "`external_id` belongs to another card, or the saved card has another `external_id`: details name \
             the `card_id`. Or the customer has 100 saved cards already.",
        )
        .with(r#"{"argument": "external_id", "card_id": "crd_01h2e8kqvbfwea724h75qc655w"}"#),
    ],
    flags: Flags::COMMAND,
};

pub(super) static FIND_CARD: Declaration = Declaration {
    name: "find-card",
    package: Package::Merchants,
    group: "cards",
    summary: "Returns a saved card.",
    docs: "A forgotten card is still found by its id, and has the time at which it was forgotten.",
    arguments: &[CARD_ARGUMENT],
    returns: Returns::Object(&CARD),
    errors: &[DeclaredError::when(Code::NotFound, "No saved card of this merchant has this id.")],
    flags: Flags::QUERY,
};

pub(super) static LIST_CARDS: Declaration = Declaration {
    name: "list-cards",
    package: Package::Merchants,
    group: "cards",
    summary: "Lists the saved cards of a customer, newest first.",
    docs: "Forgotten cards are not listed. `next` and `previous` carry `contact_id`.",
    arguments: &[CONTACT_ARGUMENT, PAGE[0], PAGE[1], PAGE[2]],
    returns: Returns::Page(&CARD),
    errors: &[CONTACT_NOT_FOUND],
    flags: Flags::QUERY,
};

pub(super) static SET_DEFAULT_CARD: Declaration = Declaration {
    name: "set-default-card",
    package: Package::Merchants,
    group: "cards",
    summary: "Makes a saved card the customer's default. Answers `true` when that changed anything.",
    docs: "",
    arguments: &[CONTACT_ARGUMENT, CARD_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[CARD_NOT_FOUND],
    flags: Flags::COMMAND,
};

pub(super) static FORGET_CARD: Declaration = Declaration {
    name: "forget-card",
    package: Package::Merchants,
    group: "cards",
    summary: "Forgets a saved card: its number is deleted, and no payment can use it. \
              Answers `false` when it was forgotten before.",
    docs: "After the default card is forgotten, the newest other saved card is the default. The number can be saved \
           again, as another card.",
    arguments: &[CONTACT_ARGUMENT, CARD_ARGUMENT],
    returns: Returns::Boolean,
    errors: &[CARD_NOT_FOUND],
    flags: Flags::COMMAND,
};

/// `POST /merchants/save-card`
pub(super) async fn save_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let token_id = fields.required("token", arguments::id::<TokenId>("a card token (tok_...)"));
    let customer = fields.required("contact_id", arguments::customer_ref);
    let external_id = fields.optional("external_id", arguments::external_id::<CardId>);
    let is_default = fields.optional("default", field::boolean).unwrap_or_default();
    let command = fields
        .finish(|| Some(SaveCardOfToken { token_id: token_id?, customer: customer?, external_id, is_default }))?;
    contacts::submit(&service, &SAVE_CARD, &call, ContactChange::SaveCard(command)).await
}

/// `POST /merchants/find-card`
pub(super) async fn find_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let card = fields.required("card_id", arguments::card_ref);
    let card = fields.finish(|| card)?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let (card, customer) = find(&reader, card)?.ok_or_else(|| {
        let message =
            "No saved card of this merchant has this card_id: neither as Till's id (crd_...) nor as the merchant's own.";
        ApiError::not_found("card_id", message)
    })?;
    Ok(Reply::new(&CardShape::new(&card, &customer)))
}

/// `POST /merchants/list-cards`
pub(super) async fn list_cards(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let customer = fields.required("contact_id", arguments::customer_ref);
    let page = field::page(&mut fields, arguments::id::<CardId>("a card id (crd_...)"));
    let (customer, request) = fields.finish(|| Some((customer?, page?)))?;
    let reader = service.reader(call.caller().merchant_id).await?;
    let contact_id = contacts::text(&customer);
    let customer = contacts::find(&reader, customer)?;
    let page = page_of(&reader, &customer, request).await?;
    let page = page.carrying(&[("contact_id", Some(contact_id))]);
    Reply::page(&page.map(|card| CardShape::new(card, &customer)))
}

/// `POST /merchants/set-default-card`
pub(super) async fn set_default_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let customer = fields.required("contact_id", arguments::customer_ref);
    let card = fields.required("card_id", arguments::card_ref);
    let change = fields.finish(|| Some(ContactChange::SetDefaultCard(customer?, card?)))?;
    contacts::submit(&service, &SET_DEFAULT_CARD, &call, change).await
}

/// `POST /merchants/forget-card`
pub(super) async fn forget_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let mut fields = call.fields();
    let customer = fields.required("contact_id", arguments::customer_ref);
    let card = fields.required("card_id", arguments::card_ref);
    let change = fields.finish(|| Some(ContactChange::ForgetCard(customer?, card?)))?;
    contacts::submit(&service, &FORGET_CARD, &call, change).await
}

/// The card that a call names, with its customer. The cards of a removed customer are not found any more.
fn find(reader: &Reader<'_>, card: CardRef) -> Result<Option<(Card, Customer)>, ApiError> {
    let id = match card {
        CardRef::Own(id) => Some(id),
        CardRef::External(external_id) => reader.get::<CardsByExternalId>(external_id)?,
    };
    let Some(card) = id.map_or(Ok(None), |id| reader.get::<Cards>(id))? else { return Ok(None) };
    Ok(reader.get::<Customers>(card.customer_id)?.map(|customer| (card, customer)))
}

async fn page_of(
    reader: &Reader<'_>,
    customer: &Customer,
    request: PageRequest<CardId>,
) -> Result<Page<Card>, ApiError> {
    let ids = reader.get::<CustomerCards>(customer.id)?.unwrap_or_default();
    let rows = |span: IdSpan<CardId>, direction: ScanDirection, limit: usize| {
        let range = span.range();
        let mut within: Vec<CardId> = ids.iter().copied().filter(|id| range.contains(id)).collect();
        if direction == ScanDirection::Backward {
            within.reverse();
        }
        within.truncate(limit);
        let card = |id| Ok((id, reader.get::<Cards>(id)?.ok_or_else(ApiError::unhandled)?));
        within.into_iter().map(card).collect::<Result<Vec<_>, ApiError>>()
    };
    Filtered { rows, passes: |_: &Card| true }.page(request, Some(IdSpan::all())).await
}
