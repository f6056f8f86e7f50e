//! A merchant with all data that calls on its behalf need.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::amounts::{
    CAPTURED_PART_MINOR, CARD, CARD_SETTLING_AT_ONCE, CURRENCY, INITIATED_MINOR, PAYOUT_MINOR, REFUNDED_PART_MINOR,
};
use super::prepare::{Ends, Lines, accepted, accepted_id, accepted_json};
use crate::client::{RequestHead, Template};
use crate::target::ServerAddress;

/// A placeholder of the length of a session's id.
const SESSION_PLACEHOLDER: &str = "pse_00000000000000000000000000";

/// A placeholder of the length of a payment's id.
const PAYMENT_PLACEHOLDER: &str = "pay_00000000000000000000000000";

/// A merchant that was created for the run. No Debug: requests contain its key.
pub(crate) struct LoadMerchant {
    pub(super) merchant_id: String,
    installation_id: String,
    /// Finished requests.
    pub(super) get_balance: Vec<u8>,
    pub(super) send_payout: Vec<u8>,
    pub(super) select: Vec<u8>,
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
    pub(super) find_payment: RequestHead,
    pub(super) add_to_set: RequestHead,
    pub(super) sync: RequestHead,
    pub(super) retrieve: RequestHead,
    pub(super) list_activity: RequestHead,
    pub(super) balance_history: RequestHead,
    pub(super) connect_webhook: RequestHead,
    pub(super) list_newest_event: Vec<u8>,
}

/// The heads of the operator's calls. No Debug: they contain its token.
pub(super) struct OperatorHeads {
    server: ServerAddress,
    token: SecretString,
}

impl OperatorHeads {
    pub(super) const fn new(server: ServerAddress, token: SecretString) -> OperatorHeads {
        OperatorHeads { server, token }
    }

    pub(super) fn head(&self, endpoint: &str) -> RequestHead {
        RequestHead::new(&self.server, &format!("/admin/{endpoint}"), Some(self.token.expose_secret()))
    }
}

impl LoadMerchant {
    /// Creates a merchant with an installation, a key, a balance and a card's token.
    pub(super) async fn create(
        lines: &mut Lines,
        ends: &Ends,
        operator: &OperatorHeads,
    ) -> anyhow::Result<LoadMerchant> {
        let merchant = json!({ "name": "Load test", "currency": CURRENCY });
        let request = operator.head("create-merchant").with(&merchant);
        let merchant_id = accepted_id("create a merchant", lines.admin.call(&request).await)?;
        let installation = json!({
            "merchant_id": merchant_id, "name": "Load test", "platform": "WEB", "identifier": "https://shop.example",
        });
        let request = operator.head("add-installation").with(&installation);
        let installation_id = accepted_id("add an installation", lines.admin.call(&request).await)?;
        let request = operator.head("open-balance").with(&json!({ "merchant_id": merchant_id }));
        accepted("open a balance", lines.admin.call(&request).await)?;
        let key = json!({ "merchant_id": merchant_id, "name": "Load test" });
        let request = operator.head("generate-key").with(&key);
        let answer = accepted_json("generate a key", lines.admin.call(&request).await)?;
        let key = SecretString::from(answer["key"].as_str().unwrap_or_default());
        let mut shop = LoadMerchant::new(&ends.public, merchant_id, installation_id, &key);
        let request = RequestHead::new(&ends.public, "/sdk/tokenize-card", None).with(&shop.card(CARD, "MULTIPLE"));
        let token = accepted_id("tokenize a card", lines.public.call(&request).await)?;
        shop.select = shop.select_head.with(&shop.selection(&token, INITIATED_MINOR));
        Ok(shop)
    }

    fn new(server: &ServerAddress, merchant_id: String, installation_id: String, key: &SecretString) -> LoadMerchant {
        let head =
            |endpoint: &str| RequestHead::new(server, &format!("/merchants/{endpoint}"), Some(key.expose_secret()));
        let initiate_head = head("initiate-payment-flow");
        let initiation = initiation(SESSION_PLACEHOLDER, INITIATED_MINOR);
        let mut authorization = initiation.clone();
        authorization["capture"] = Value::Bool(false);
        let on_payment = |endpoint: &str, amount_minor: Option<u64>| {
            let body = json!({ "payment_id": PAYMENT_PLACEHOLDER, "amount": amount_minor });
            Template::new(&head(endpoint), &body, PAYMENT_PLACEHOLDER)
        };
        let find = json!({ "payment_id": PAYMENT_PLACEHOLDER });
        let mut shop = LoadMerchant {
            merchant_id,
            installation_id,
            get_balance: head("get-balance").with(&json!({})),
            send_payout: head("send-payout").with(&json!({ "amount": PAYOUT_MINOR })),
            select: Vec::new(),
            initiate: Template::new(&initiate_head, &initiation, SESSION_PLACEHOLDER),
            authorize: Template::new(&initiate_head, &authorization, SESSION_PLACEHOLDER),
            capture: on_payment("capture-payment", None),
            capture_part: on_payment("capture-payment", Some(CAPTURED_PART_MINOR)),
            void: Template::new(&head("void-payment"), &find, PAYMENT_PLACEHOLDER),
            refund_part: on_payment("refund-payment", Some(REFUNDED_PART_MINOR)),
            find: Template::new(&head("find-payment"), &find, PAYMENT_PLACEHOLDER),
            tokenize_settling: Vec::new(),
            select_head: RequestHead::new(server, "/sdk/select-payment-method", None),
            initiate_head,
            find_payment: head("find-payment"),
            add_to_set: head("add-to-metadata-set"),
            sync: head("sync-metadata"),
            retrieve: head("retrieve-metadata"),
            list_activity: head("list-activity-logs"),
            balance_history: head("balance-history"),
            connect_webhook: head("connect-webhook"),
            list_newest_event: head("list-events").with(&json!({ "per_page": 1 })),
        };
        let card = shop.card(CARD_SETTLING_AT_ONCE, "SINGLE");
        shop.tokenize_settling = RequestHead::new(server, "/sdk/tokenize-card", None).with(&card);
        shop
    }

    fn card(&self, number: &str, usage: &str) -> Value {
        json!({
            "merchant_id": self.merchant_id, "installation_id": self.installation_id, "number": number,
            "name": "Ada Example", "expiration_date": "12/49", "security_code": "123", "usage": usage,
        })
    }

    /// The arguments of a selection.
    pub(super) fn selection(&self, token: &str, amount_minor: u64) -> Value {
        json!({
            "merchant_id": self.merchant_id, "installation_id": self.installation_id, "amount": amount_minor,
            "currency": CURRENCY, "payment_method": "CARD", "token": token,
        })
    }
}

/// The arguments of an initiation.
pub(super) fn initiation(session: &str, amount_minor: u64) -> Value {
    json!({
        "payment_session_id": session, "amount": amount_minor, "currency": CURRENCY, "capture": true,
        "return_url": "https://shop.example/done",
    })
}
