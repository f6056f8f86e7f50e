//! A merchant with all data that calls on its behalf need.

use anyhow::Context;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::amounts::{
    CAPTURED_PART_MINOR, CARD, CARD_ASKING, CARD_DECLINED, CARD_SETTLING_AT_ONCE, CURRENCY, INITIATED_MINOR,
    PAYOUT_MINOR, REFUNDED_PART_MINOR,
};
use super::asking::{self, AskingMethod, CustomerRequests};
use super::prepare::{Lines, check_accepted, id_of};
use crate::client::{RequestHead, Template};
use crate::plan::Plan;
use crate::target::{ExistingMerchant, ServerAddress};

/// A placeholder of the length of a session's id.
const SESSION_PLACEHOLDER: &str = "pse_00000000000000000000000000";

/// A placeholder of the length of a payment's id.
const PAYMENT_PLACEHOLDER: &str = "pay_00000000000000000000000000";

/// A merchant that is called. No Debug: requests contain its key.
pub(crate) struct LoadMerchant {
    pub(super) merchant_id: String,
    installation_id: String,
    pub(super) currency: String,
    server: ServerAddress,
    key: SecretString,
    /// Finished requests.
    pub(super) get_balance: Vec<u8>,
    pub(super) send_payout: Vec<u8>,
    pub(super) select: Vec<u8>,
    /// A selection whose card is declined; empty when the plan has none.
    pub(super) select_declined: Vec<u8>,
    pub(super) initiate: Template,
    /// An initiation that only authorizes.
    pub(super) authorize: Template,
    pub(super) capture: Template,
    pub(super) capture_part: Template,
    pub(super) void: Template,
    pub(super) refund_part: Template,
    pub(super) find: Template,
    /// The requests of a flow, in their order.
    pub(super) tokenize_settling: Vec<u8>,
    pub(super) select_head: RequestHead,
    pub(super) initiate_head: RequestHead,
    pub(super) add_to_set: RequestHead,
    /// The requests of a checkout: a finished one, and heads.
    pub(super) start_checkout: Vec<u8>,
    pub(super) pay_checkout: RequestHead,
    pub(super) find_checkout: RequestHead,
    pub(super) list_activity: RequestHead,
    pub(super) balance_history: RequestHead,
    /// The requests of its customers; None when the plan has no payments that ask.
    pub(super) customers: Option<CustomerRequests>,
}

impl LoadMerchant {
    /// Creates a merchant with an installation, a key, a balance and a card's token.
    pub(super) async fn create(lines: &mut Lines, server: &ServerAddress, plan: &Plan) -> anyhow::Result<LoadMerchant> {
        let merchant = json!({ "name": "Load test", "currency": CURRENCY });
        let what = "create a merchant";
        let merchant_id = id_of(what, &lines.operator(what, "create-merchant", &merchant).await?)?;
        let installation = json!({
            "merchant_id": merchant_id, "name": "Load test", "platform": "WEB", "identifier": "https://shop.example",
        });
        let what = "add an installation";
        let installation_id = id_of(what, &lines.operator(what, "add-installation", &installation).await?)?;
        lines.operator("open a balance", "open-balance", &json!({ "merchant_id": merchant_id })).await?;
        let key = json!({ "merchant_id": merchant_id, "name": "Load test" });
        let answer = lines.operator("generate a key", "generate-key", &key).await?.json();
        let key = SecretString::from(answer["key"].as_str().unwrap_or_default());
        if plan.action_share.is_some() {
            asking::enable(lines, &merchant_id).await?;
        }
        let mut shop = LoadMerchant::new(server, (merchant_id, installation_id), CURRENCY.to_owned(), key);
        shop.make_tokens(lines, plan).await?;
        Ok(shop)
    }

    /// Takes a merchant that exists already, with a new token of a card when its customers pay.
    pub(super) async fn existing(
        lines: &mut Lines,
        server: &ServerAddress,
        merchant: &ExistingMerchant,
        plan: &Plan,
    ) -> anyhow::Result<LoadMerchant> {
        let ExistingMerchant { key, ids } = merchant.clone();
        let request = head(server, "get-balance", &key).with(&json!({}));
        let answer = check_accepted("read the balance of the merchant", lines.public.call(&request).await)?.json();
        let currency = answer["currency"].as_str().context("the balance of the merchant has no currency")?.to_owned();
        let mut shop = LoadMerchant::new(server, ids.unwrap_or_default(), currency, key);
        if plan.scenario.uses_sessions() {
            shop.make_tokens(lines, plan).await?;
        }
        Ok(shop)
    }

    /// Makes the tokens of the cards that are paid with again and again.
    async fn make_tokens(&mut self, lines: &mut Lines, plan: &Plan) -> anyhow::Result<()> {
        self.select = self.selection_of(CARD, lines).await?;
        if plan.declines.is_some() {
            self.select_declined = self.selection_of(CARD_DECLINED, lines).await?;
        }
        if plan.action_share.is_some() {
            self.customers = Some(self.customers(lines).await?);
        }
        Ok(())
    }

    /// The requests of customers, with a selection for each method that asks and that the merchant has.
    async fn customers(&self, lines: &mut Lines) -> anyhow::Result<CustomerRequests> {
        let call = |endpoint: &str| self.sdk(endpoint);
        let settings = call("retrieve-installation-settings").with(&self.installation());
        let mut selections = vec![(AskingMethod::Challenge, self.selection_of(CARD_ASKING, lines).await?)];
        for (name, method) in asking::enabled(lines, &settings).await? {
            selections.push((method, self.select_head.with(&self.selection(name))));
        }
        let mut session = self.installation();
        session["payment_session_id"] = Value::from(SESSION_PLACEHOLDER);
        let of_session = |endpoint: &str| Template::new(&call(endpoint), &session, SESSION_PLACEHOLDER);
        Ok(CustomerRequests {
            selections,
            tokenize: call("tokenize-card").with(&self.card(CARD_ASKING, "SINGLE")),
            discover: of_session("discover-next-action"),
            redirect_url: of_session("get-redirect-url"),
            qr_data: of_session("retrieve-qr-data"),
            check_status: of_session("check-status"),
        })
    }

    async fn selection_of(&self, card: &str, lines: &mut Lines) -> anyhow::Result<Vec<u8>> {
        let request = self.sdk("tokenize-card").with(&self.card(card, "MULTIPLE"));
        let what = "tokenize a card";
        let token = id_of(what, &check_accepted(what, lines.public.call(&request).await)?)?;
        Ok(self.select_head.with(&self.selection_by_card(&token)))
    }

    fn new(server: &ServerAddress, ids: (String, String), currency: String, key: SecretString) -> LoadMerchant {
        let (merchant_id, installation_id) = ids;
        let head = |endpoint: &str| head(server, endpoint, &key);
        let initiate_head = head("initiate-payment-flow");
        let initiation = initiation(SESSION_PLACEHOLDER, &currency);
        let mut authorization = initiation.clone();
        authorization["capture"] = Value::Bool(false);
        let on_payment = |endpoint: &str, amount_minor: Option<u64>| {
            let body = json!({ "payment_id": PAYMENT_PLACEHOLDER, "amount": amount_minor });
            Template::new(&head(endpoint), &body, PAYMENT_PLACEHOLDER)
        };
        let payment = json!({ "payment_id": PAYMENT_PLACEHOLDER });
        let mut shop = LoadMerchant {
            get_balance: head("get-balance").with(&json!({})),
            send_payout: head("send-payout").with(&json!({ "amount": PAYOUT_MINOR })),
            select: Vec::new(),
            select_declined: Vec::new(),
            initiate: Template::new(&initiate_head, &initiation, SESSION_PLACEHOLDER),
            authorize: Template::new(&initiate_head, &authorization, SESSION_PLACEHOLDER),
            capture: on_payment("capture-payment", None),
            capture_part: on_payment("capture-payment", Some(CAPTURED_PART_MINOR)),
            void: Template::new(&head("void-payment"), &payment, PAYMENT_PLACEHOLDER),
            refund_part: on_payment("refund-payment", Some(REFUNDED_PART_MINOR)),
            find: Template::new(&head("find-payment"), &payment, PAYMENT_PLACEHOLDER),
            tokenize_settling: Vec::new(),
            select_head: RequestHead::new(server, "/sdk/select-payment-method", None),
            initiate_head,
            add_to_set: head("add-to-metadata-set"),
            start_checkout: head("start-checkout").with(&json!({
                "installation_id": installation_id, "amount": INITIATED_MINOR, "currency": currency,
                "return_url": "https://shop.example/done",
            })),
            pay_checkout: RequestHead::new(server, "/sdk/pay-checkout", None),
            find_checkout: head("find-checkout"),
            list_activity: head("list-activity-logs"),
            balance_history: head("balance-history"),
            customers: None,
            merchant_id,
            installation_id,
            currency,
            server: server.clone(),
            key,
        };
        shop.tokenize_settling = shop.sdk("tokenize-card").with(&shop.card(CARD_SETTLING_AT_ONCE, "SINGLE"));
        shop
    }

    /// The head of calls with the merchant's key.
    pub(super) fn head(&self, endpoint: &str) -> RequestHead {
        head(&self.server, endpoint, &self.key)
    }

    /// The head of calls of its customers.
    fn sdk(&self, endpoint: &str) -> RequestHead {
        RequestHead::new(&self.server, &format!("/sdk/{endpoint}"), None)
    }

    /// The arguments by which its customers name it.
    pub(super) fn installation(&self) -> Value {
        json!({ "merchant_id": self.merchant_id, "installation_id": self.installation_id })
    }

    fn card(&self, number: &str, usage: &str) -> Value {
        json!({
            "merchant_id": self.merchant_id, "installation_id": self.installation_id, "number": number,
            "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": usage,
        })
    }

    /// The arguments of a selection of a payment method.
    fn selection(&self, method: &str) -> Value {
        json!({
            "merchant_id": self.merchant_id, "installation_id": self.installation_id, "amount": INITIATED_MINOR,
            "currency": self.currency, "payment_method": method,
        })
    }

    /// The arguments of a selection of a card.
    pub(super) fn selection_by_card(&self, token: &str) -> Value {
        let mut selection = self.selection("CARD");
        selection["token"] = Value::from(token);
        selection
    }
}

fn head(server: &ServerAddress, endpoint: &str, key: &SecretString) -> RequestHead {
    RequestHead::new(server, &format!("/merchants/{endpoint}"), Some(key.expose_secret()))
}

/// The arguments of an initiation.
pub(super) fn initiation(session: &str, currency: &str) -> Value {
    json!({
        "payment_session_id": session, "amount": INITIATED_MINOR, "currency": currency, "capture": true,
        "return_url": "https://shop.example/done",
    })
}
