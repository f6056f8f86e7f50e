//! The lists, objects and forms of the operator, and what else stands on its pages.

use crate::pages::parts::After::{Answer, Back, Made};
use crate::pages::parts::When::{Always, False, Given, Null, True};
use crate::pages::parts::{FormPage, ListPage, ObjectPage, Part, forms, lists, objects, parts};

/// The pattern of the first page, and of the list of merchants at the sandbox.
pub(super) const FIRST: &str = "/operator";
pub(super) const SANDBOX: &str = "/operator/sandbox";

/// The lists. The last one is a search.
pub(super) static LISTS: [ListPage; 3] = {
    let [merchants, sandbox, payments] = lists! { "/operator";
        "/merchants" "Merchants" "list-merchants" "name merchant_id currency suspended balance_open created_at"
            "No merchants yet. Create the first one.";
        "/sandbox" "Sandbox" "list-merchants" "name merchant_id currency test_clock"
            "No merchants yet. For each of them the sandbox plays provider, bank and customers.";
        "/payments" "Find payments" "find-payments"
            "payment_id merchant_id merchant_name status amount payment_method external_id failure_code created_at"
            "Give the id of a payment, its external id, or the last digits of a card with a merchant or a time.";
    };
    [merchants, sandbox, ListPage { is_search: true, ..payments }]
};

/// The objects. The page of a merchant is a function of its own.
pub(super) static OBJECTS: [ObjectPage; 1] = objects! { "/operator"; "/sandbox" "find-merchant" "merchant_id"; };

/// The lists on the page of a merchant.
pub(super) static PARTS: [Part; 3] = parts! { "/operator";
    "/merchants/{merchant_id}" "API keys" "list-keys" "merchant_id"
        "name prefix role_id key_id last_used_at expires_at revoked_at created_at";
    "/merchants/{merchant_id}" "Installations" "list-installations" "merchant_id"
        "installation_id name platform identifier created_at";
    "/merchants/{merchant_id}" "Invitations" "list-user-invitations" "merchant_id"
        "email role_id status url created_at expires_at";
};

/// The forms.
pub(super) static FORMS: [FormPage; 23] = forms! { "/operator";
    "" "checkpoint" "create-checkpoint" "Take checkpoint" "Take checkpoint" "name" Always, Back;
    "/merchants" "new" "create-merchant" "Create merchant" "Create merchant"
        "name currency time_zone settlement_delay_seconds support_email test_clock" Always, Made;
    "/merchants/{merchant_id}" "suspend" "suspend-merchant" "Suspend merchant" "Suspend merchant" ""
        False("suspended"), Back;
    "/merchants/{merchant_id}" "resume" "resume-merchant" "Resume merchant" "Resume merchant" ""
        True("suspended"), Back;
    "/merchants/{merchant_id}" "topup" "add-topup" "Add top-up" "Add top-up" "amount external_id" Always, Back;
    "/merchants/{merchant_id}" "balance" "open-balance" "Open balance" "Open balance" "" False("balance_open"), Back;
    "/merchants/{merchant_id}" "methods" "configure-payment-method" "Configure payment method"
        "Configure payment method"
        "payment_method acquirer enabled authorizes_without_capture fee_basis_points fee_fixed" Always, Back;
    "/merchants/{merchant_id}" "methods/{payment_method}" "configure-payment-method" "Configure"
        "Configure payment method" "acquirer enabled authorizes_without_capture fee_basis_points fee_fixed"
        Always, Back;
    "/merchants/{merchant_id}" "keys" "generate-key" "New API key" "Create API key"
        "name role_id refund_limit expires_at" Always, Answer;
    "/merchants/{merchant_id}" "invitations" "invite-user" "Invite member" "Send invitation"
        "email role_id refund_limit" Always, Back;
    "/merchants/{merchant_id}" "keys/{key_id}/revoke" "revoke-key" "Revoke key" "Revoke key" ""
        Null("revoked_at"), Back;
    "/merchants/{merchant_id}" "installations" "add-installation" "Add installation" "Add installation"
        "name platform identifier" Always, Back;
    "/merchants/{merchant_id}" "installations/{installation_id}/remove" "remove-installation" "Remove installation"
        "Remove installation" "" Always, Back;
    "/sandbox/{merchant_id}" "dispute" "open-dispute" "Open dispute" "Open dispute" "payment_id amount reason"
        Always, Answer;
    "/sandbox/{merchant_id}" "escalation" "escalate-dispute" "Escalate dispute" "Escalate dispute" "dispute_id"
        Always, Back;
    "/sandbox/{merchant_id}" "decision" "close-dispute" "Close dispute" "Close dispute" "dispute_id outcome"
        Always, Back;
    "/sandbox/{merchant_id}" "refund" "complete-refund" "Complete refund" "Complete refund" "refund_id" Always, Back;
    "/sandbox/{merchant_id}" "failed-refund" "fail-refund" "Fail refund" "Fail refund" "refund_id" Always, Back;
    "/sandbox/{merchant_id}" "payout" "complete-payout" "Complete payout" "Complete payout" "payout_id" Always, Back;
    "/sandbox/{merchant_id}" "failed-payout" "fail-payout" "Fail payout" "Fail payout" "payout_id" Always, Back;
    "/sandbox/{merchant_id}" "action" "complete-action" "Complete customer action" "Complete customer action"
        "payment_id outcome" Always, Back;
    "/sandbox/{merchant_id}" "invoice" "charge-invoice" "Charge invoice" "Charge invoice"
        "amount external_id description" Always, Back;
    "/sandbox/{merchant_id}" "clock" "advance-clock" "Advance clock" "Advance clock" "to" Given("test_clock"), Back;
};
