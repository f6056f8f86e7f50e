//! The forms of the dashboard: which call each makes, for which of its arguments it asks, and when it is offered.

use crate::pages::parts::After::{Answer, Back, List, Made};
use crate::pages::parts::When::{Always, Null, Status, True};
use crate::pages::parts::{FormPage, forms};

/// The pattern of a page, by what stands below the first one.
macro_rules! below {
    ($($path:tt),+) => {
        concat!("/dashboard/{merchant_id}", $($path),+)
    };
}

pub(super) use below;

/// All forms.
pub(super) static FORMS: [FormPage; 29] = forms! { "/dashboard/{merchant_id}";
    "/payments/{payment_id}" "capture" "capture-payment" "Capture" "Capture payment" "amount" True("capturable"), Back;
    "/payments/{payment_id}" "void" "void-payment" "Void" "Void payment" "" True("voidable"), Back;
    "/payments/{payment_id}" "reverse" "reverse-payment" "Reverse" "Reverse payment" "" True("reversible"), Back;
    "/payments/{payment_id}" "refund" "refund-payment" "Refund" "Refund payment" "amount reason external_id"
        True("refundable"), Back;
    "/disputes/{dispute_id}" "challenge" "challenge-dispute" "Challenge dispute" "Challenge dispute" "evidence"
        Status("OPEN ESCALATED"), Back;
    "/disputes/{dispute_id}" "concede" "concede-dispute" "Concede dispute" "Concede dispute" "" Null("closed_at"), Back;
    "/payouts" "new" "send-payout" "New payout" "Send payout" "amount description external_id" Always, Back;
    "/checkouts" "new" "start-checkout" "New checkout" "Create checkout"
        "installation_id amount return_url external_id payment_methods capture customer_name customer_email"
        Always, Made;
    "/checkouts/{checkout_id}" "expire" "expire-checkout" "Expire checkout" "Expire checkout" "" Status("OPEN"), Back;
    "/customers" "new" "add-contact" "New customer" "Add customer"
        "contact_name contact_email contact_mobile external_id" Always, Back;
    "/customers/{contact_id}" "change" "update-contact" "Change customer" "Change customer"
        "contact_name contact_email contact_mobile external_id" Always, Back;
    "/customers/{contact_id}" "remove" "remove-contact" "Remove customer" "Remove customer" "" Always, List;
    "/customers/{contact_id}" "cards/{card_id}/default" "set-default-card" "Make default" "Make default" ""
        Always, Back;
    "/customers/{contact_id}" "cards/{card_id}/forget" "forget-card" "Forget card" "Forget card" "" Always, Back;
    "/webhooks" "new" "connect-webhook" "New webhook" "Create webhook" "name destination_url events" Always, Answer;
    "/webhooks/{webhook_id}" "change" "update-webhook" "Change webhook" "Change webhook" "name destination_url events"
        Always, Back;
    "/webhooks/{webhook_id}" "test" "test-webhook" "Test webhook" "Test webhook" "" Status("CONNECTED"), Answer;
    "/webhooks/{webhook_id}" "secret" "rotate-webhook-secret" "Rotate secret" "Rotate secret" "end_previous"
        Always, Answer;
    "/webhooks/{webhook_id}" "disconnect" "disconnect-webhook" "Disconnect webhook" "Disconnect webhook" ""
        Status("CONNECTED"), Back;
    "/webhooks/{webhook_id}" "reconnect" "reconnect-webhook" "Reconnect webhook" "Reconnect webhook" ""
        Status("DISCONNECTED DISABLED"), Back;
    "/webhooks/{webhook_id}" "events/{event_id}/send" "redeliver-webhook" "Send again" "Send again" "" Always, Back;
    "/keys" "new" "generate-key" "New API key" "Create API key" "name role_id refund_limit expires_at" Always, Answer;
    "/keys" "{key_id}/rename" "update-key" "Rename key" "Rename key" "name" Null("revoked_at"), Back;
    "/keys" "{key_id}/revoke" "revoke-key" "Revoke key" "Revoke key" "" Null("revoked_at"), Back;
    "/team" "invite" "invite-user" "Invite member" "Send invitation" "email role_id refund_limit" Always, Back;
    "/team" "{user_id}/role" "update-user" "Change role" "Change role" "role_id refund_limit" Null("expires_at"), Back;
    "/team" "{user_id}/reset" "reset-user-credentials" "Reset credentials" "Reset credentials" ""
        Null("expires_at"), Answer;
    "/team" "{user_id}/remove" "remove-user" "Remove member" "Remove member" "" Null("expires_at"), Back;
    "/plan" "{plan_id}/select" "select-plan" "Select plan" "Select plan" "" Always, Back;
};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn offered(of: &str, object: &Value) -> Vec<String> {
        let forms = FORMS.iter().filter(|form| form.of.ends_with(of) && form.is_for(object));
        forms.map(|form| form.path_below(object)).collect()
    }

    #[test]
    fn a_form_is_offered_for_the_objects_that_permit_it() {
        let payment = json!({ "payment_id": "pay_1", "capturable": true, "voidable": true, "refundable": false });
        assert_eq!(offered("/payments/{payment_id}", &payment), ["capture", "void"]);
        let webhook = |status| json!({ "webhook_id": "whe_1", "status": status });
        assert!(offered("/webhooks/{webhook_id}", &webhook("CONNECTED")).contains(&"disconnect".to_owned()));
        assert!(offered("/webhooks/{webhook_id}", &webhook("DISABLED")).contains(&"reconnect".to_owned()));
        assert_eq!(offered("/keys", &json!({ "key_id": "key_1", "revoked_at": 1 })), ["new"]);
    }

    #[test]
    fn a_form_of_a_row_is_offered_where_the_row_has_its_id() {
        let user = json!({ "user_id": "usr_1" });
        assert_eq!(offered("/team", &user), ["invite", "usr_1/role", "usr_1/reset", "usr_1/remove"]);
        let invitation = json!({ "invitation_id": "ivt_1", "user_id": "usr_1", "expires_at": 1 });
        assert_eq!(offered("/team", &invitation), ["invite"]);
        let of_customer = offered("/customers/{contact_id}", &json!({ "payment_id": "pay_1" }));
        assert_eq!(of_customer, ["change", "remove"]);
    }

    #[test]
    fn a_form_leads_back_to_the_page_that_offers_it() {
        let back = |call: &str, path| FORMS.iter().find(|form| form.call == call).map(|form| form.path_back(path));
        assert_eq!(back("refund-payment", "/d/m/payments/p/refund"), Some("/d/m/payments/p"));
        assert_eq!(back("revoke-key", "/d/m/keys/k/revoke"), Some("/d/m/keys"));
        assert_eq!(back("forget-card", "/d/m/customers/c/cards/k/forget"), Some("/d/m/customers/c"));
        assert_eq!(back("remove-contact", "/d/m/customers/c/remove"), Some("/d/m/customers"));
    }
}
