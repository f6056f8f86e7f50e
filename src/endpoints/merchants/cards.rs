//! `POST /merchants/save-card`, `find-card`, `list-cards`, `set-default-card`, `forget-card`

use till_domain::card::Card;
use till_domain::command::{Command, ContactChange, SaveCardOfToken};
use till_domain::customer::{CardRef, Customer, CustomerRef};
use till_domain::ids::{CardId, TokenId};
use till_domain::records::{Cards, CardsByExternalId, CustomerCards, Customers, Rows};
use till_protocol::arguments::id;
use till_storage::rows::ScanDirection;

use super::by_merchant::ByMerchant;
use super::contacts::CONTACT_NOT_FOUND;
use crate::endpoints::arguments::CONTACT_ARGUMENT;
use crate::endpoints::forms::{BOOLEAN, CARD_REF, external_id};
use crate::endpoints::prelude::*;
use crate::endpoints::shapes::card::{CARD, CardShape};
use crate::service::{Filtered, IdSpan, ListPage};

pub(super) const ENDPOINTS: MerchantEndpoints = &[
    MerchantEndpoint(
        Act::ChangeCustomers,
        &SAVE_CARD,
        &ByMerchant(SAVED, |_, card| Command::ChangeContact(ContactChange::SaveCard(card))),
    ),
    MerchantEndpoint(Act::SeeCustomers, &FIND_CARD, &find_card),
    MerchantEndpoint(Act::SeeCustomers, &LIST_CARDS, &list_cards),
    MerchantEndpoint(
        Act::ChangeCustomers,
        &SET_DEFAULT_CARD,
        &ByMerchant(CARD_OF_CUSTOMER, |_, (customer, card)| {
            Command::ChangeContact(ContactChange::SetDefaultCard(customer, card))
        }),
    ),
    MerchantEndpoint(
        Act::ChangeCustomers,
        &FORGET_CARD,
        &ByMerchant(CARD_OF_CUSTOMER, |_, (customer, card)| {
            Command::ChangeContact(ContactChange::ForgetCard(customer, card))
        }),
    ),
];

const CARD_ARGUMENT: Required<CardRef> =
    CARD_REF.required("The saved card: an id (`crd_...`) or the merchant's own identifier.").with_name("card_id");

/// The customer and the saved card that a call names.
const CARD_OF_CUSTOMER: ArgumentSet<(CustomerRef, CardRef)> =
    arguments!({ customer: CONTACT_ARGUMENT, card: CARD_ARGUMENT } => (customer, card));

const CARD_NOT_FOUND: DeclaredError =
    DeclaredError::new(Code::NotFound, "The customer does not exist, or has no such saved card.");

const SAVED: ArgumentSet<SaveCardOfToken> = arguments!({
    token_id: id::<TokenId>().required("The token (`tok_...`) that tokenize-card answered.").with_name("token"),
    customer: CONTACT_ARGUMENT,
    external_id: external_id::<CardId>()
        .optional("The merchant's own identifier of the card, unique among its saved cards, 1 to 255 bytes."),
    is_default: BOOLEAN.optional("True makes the card the customer's default card.").with_name("default"),
} => SaveCardOfToken { token_id, customer, external_id, is_default: is_default.unwrap_or_default() });

static SAVE_CARD: Declaration = Declaration {
    name: "save-card",
    summary: "Saves the card of a token for a customer. Answers the card's id.",
    docs: "The token must be one for several uses (`usage` MULTIPLE). When the customer has saved the card already, \
           its existing id is answered and its expiry is renewed. A customer has at most 100 saved cards.",
    arguments: SAVED.declared,
    returns: Returns::Id(CardId::PREFIX),
    errors: &[
        DeclaredError::new(Code::NotFound, "The token or the customer does not exist; the token may have expired."),
        DeclaredError::new(
            Code::Conflict,
            "`external_id` belongs to another card, or the saved card has another `external_id`: details name \
             the `card_id`. Or the customer has 100 saved cards already.",
        )
        .with(r#"{"argument": "external_id", "card_id": "crd_01h2e8kqvbfwea724h75qc655w"}"#),
    ],
    ..Declaration::command(Package::Merchants, "cards")
};

static FIND_CARD: Declaration = Declaration {
    name: "find-card",
    summary: "Returns a saved card.",
    docs: "A forgotten card is still found by its id, and has the time at which it was forgotten.",
    arguments: &[CARD_ARGUMENT.argument],
    returns: Returns::Object(&CARD),
    errors: &[DeclaredError::new(Code::NotFound, "No saved card of this merchant has this id.")],
    ..Declaration::query(Package::Merchants, "cards")
};

const LIST: ArgumentSet<(CustomerRef, ListPageRequest<CardId>)> = arguments!({
    customer: CONTACT_ARGUMENT,
    page: list_page::<CardId>(),
} => (customer, page));

static LIST_CARDS: Declaration = Declaration {
    name: "list-cards",
    summary: "Lists the saved cards of a customer, newest first.",
    docs: "Forgotten cards are not listed. `next` and `previous` carry `contact_id`.",
    arguments: LIST.declared,
    returns: Returns::ListPage(&CARD),
    errors: &[CONTACT_NOT_FOUND],
    ..Declaration::query(Package::Merchants, "cards")
};

static SET_DEFAULT_CARD: Declaration = Declaration {
    name: "set-default-card",
    summary: "Makes a saved card the customer's default. Answers `true` when that changed anything.",
    arguments: CARD_OF_CUSTOMER.declared,
    errors: &[CARD_NOT_FOUND],
    ..Declaration::command(Package::Merchants, "cards")
};

static FORGET_CARD: Declaration = Declaration {
    name: "forget-card",
    summary: "Forgets a saved card: its number is deleted, and no payment can use it. \
              Answers `false` when it was forgotten before.",
    docs: "After the default card is forgotten, the newest other saved card is the default. The number can be saved \
           again, as another card.",
    arguments: CARD_OF_CUSTOMER.declared,
    errors: &[CARD_NOT_FOUND],
    ..Declaration::command(Package::Merchants, "cards")
};

/// `POST /merchants/find-card`
async fn find_card(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let card = call.fields().parse(&CARD_ARGUMENT)?;
    let reader = call.caller().reader(&service).await?;
    let (card, customer) = find(&reader, card)?.ok_or_else(|| {
        let message =
            "No saved card of this merchant has this card_id: neither as Till's id (crd_...) nor as the merchant's \
                own.";
        ApiError::not_found("card_id", message)
    })?;
    Ok(Reply::new(&CardShape::new(&card, &customer)))
}

/// `POST /merchants/list-cards`
async fn list_cards(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let (customer, request) = call.fields().parse(&LIST)?;
    let reader = call.caller().reader(&service).await?;
    let contact_id = customer.to_string();
    let customer = Customers::find_row(&reader, customer)?;
    let page = page_of(&reader, &customer, request).await?;
    let page = page.with_filters(&[("contact_id", Some(contact_id))]);
    Reply::list_page(&page.map(|card| CardShape::new(card, &customer)))
}

/// The card that a call names, with its customer. The cards of a removed customer are not found any more.
fn find(reader: &Reader<'_>, card: CardRef) -> Result<Option<(Card, Customer)>, ApiError> {
    let id = reader.id_of::<CardsByExternalId>(&card)?;
    let Some(card) = id.map_or(Ok(None), |id| reader.get::<Cards>(id))? else { return Ok(None) };
    Ok(reader.get::<Customers>(card.customer_id)?.map(|customer| (card, customer)))
}

async fn page_of(
    reader: &Reader<'_>,
    customer: &Customer,
    request: ListPageRequest<CardId>,
) -> Result<ListPage<Card>, ApiError> {
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
