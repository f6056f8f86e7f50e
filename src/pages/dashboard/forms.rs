//! The forms: which call each makes, for which of its arguments it asks, and when it is offered.

use serde_json::Value;
use till_protocol::dispatch::PageDeclaration;

use crate::pages::answered::AnsweredObject;

/// A page with a form, by which a member does one thing.
#[derive(Debug)]
pub(super) struct FormPage {
    /// Texts in braces are arguments of the call.
    pub(super) page: PageDeclaration,
    /// The pattern of the page that offers it, to which it leads back.
    pub(super) of: &'static str,
    /// The name of its call.
    pub(super) call: &'static str,
    /// The words of the link, and the heading.
    pub(super) title: &'static str,
    pub(super) button: &'static str,
    /// The arguments that it asks for, with spaces between them.
    pub(super) fields: &'static str,
    /// The objects for which it is offered.
    when: When,
    /// What follows.
    pub(super) after: After,
}

/// The objects for which a form is offered.
#[derive(Debug)]
enum When {
    Always,
    /// Those of which this is true.
    True(&'static str),
    /// Those of which this is null.
    Null(&'static str),
    /// Those with one of these statuses, with spaces between them.
    Status(&'static str),
}

/// What follows when a form's call has succeeded.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The page that offered it.
    Back,
    /// The list that this page's object was in.
    List,
    /// A page with what was answered, which is not shown again.
    Answer,
    /// The page of the checkout at the answered address.
    Checkout,
}
use After::{Answer, Back, Checkout, List};
use When::{Always, Null, Status, True};

/// The pattern of a page, by what stands below the first one.
macro_rules! below {
    ($($path:tt),+) => {
        concat!("/dashboard/{merchant_id}", $($path),+)
    };
}

pub(super) use below;

/// Forms: the page that offers them, the path below it, the call, link, button, arguments, when, and what follows.
macro_rules! forms {
    ($($of:literal $act:literal $call:literal $title:literal $button:literal $fields:literal
        $when:expr, $after:expr;)+) => {
        [$(FormPage {
            page: PageDeclaration { pattern: below!($of, "/", $act), has_form: true },
            of: below!($of), call: $call, title: $title, button: $button, fields: $fields, when: $when, after: $after,
        }),+]
    };
}

/// All forms.
pub(super) static FORMS: [FormPage; 29] = forms! {
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
        Always, Checkout;
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

impl FormPage {
    /// The path below the page that offers it, with the ids of the object that it is about.
    pub(super) fn path_below(&self, object: &Value) -> String {
        let segments =
            self.path().split('/').map(|segment| argument(segment).map_or(segment, |name| object.text(name)));
        segments.collect::<Vec<&str>>().join("/")
    }

    fn path(&self) -> &'static str {
        self.page.pattern.get(self.of.len() + 1..).unwrap_or_default()
    }

    /// True when it is offered beside each object of a list, and not for the page as a whole.
    pub(super) fn is_of_row(&self) -> bool {
        self.path().contains('{')
    }

    /// True when it is offered for this object, which has the ids of its address.
    pub(super) fn is_for(&self, object: &Value) -> bool {
        let mut ids = self.path().split('/').filter_map(argument);
        let is_met = match self.when {
            Always => true,
            True(name) => object.is(name),
            Null(name) => object[name].is_null(),
            Status(words) => words.split(' ').any(|word| word == object.text("status")),
        };
        is_met && ids.all(|name| !object.text(name).is_empty())
    }

    /// The arguments that its address has, in the order of the address.
    pub(super) fn bound(&self) -> impl Iterator<Item = &'static str> {
        self.page.pattern.split('/').filter_map(argument).skip(1)
    }

    /// The path to which it leads back, of its own.
    pub(super) fn path_back<'p>(&self, path: &'p str) -> &'p str {
        let segments = self.path().split('/').count() + usize::from(self.after == List);
        (0..segments).fold(path, |path, _| path.rsplit_once('/').map_or(path, |(above, _)| above))
    }
}

/// The name in braces.
fn argument(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
