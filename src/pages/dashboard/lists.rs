//! The lists and objects of the dashboard, and what else stands on its pages.

use crate::pages::parts::{ListPage, ObjectPage, Part, lists, objects, parts};

/// The lists. The first one can be exported, too.
pub(super) static LISTS: [ListPage; 14] = lists! { "/dashboard/{merchant_id}";
    "/payments" "Payments" "list-payments"
        "payment_id status amount payment_method_display_name external_id created_at"
        "No payments yet. Start a checkout, or make one by your program.";
    "/refunds" "Refunds" "list-refunds"
        "refund_id status amount payment_id reason external_id created_at"
        "No refunds yet. A payment is refunded on its own page.";
    "/disputes" "Disputes" "list-disputes"
        "dispute_id status amount reason payment_id evidence_due_at created_at"
        "No disputes. When a customer's bank opens one, it waits here for your evidence.";
    "/payouts" "Payouts" "list-payouts"
        "payout_id status amount description external_id created_at paid_at"
        "No payouts yet. A payout sends money of the available balance to you.";
    "/checkouts" "Checkouts" "list-checkouts"
        "checkout_id status amount external_id attempts created_at expires_at"
        "No checkouts yet. A checkout is a page at which a customer pays: create one, and send its address.";
    "/customers" "Customers" "list-contacts"
        "contact_id name email mobile external_id created_at"
        "No customers yet. They are added here, or by payments that name them.";
    "/balance" "Balance" "balance-history"
        "type direction amount status payment_id external_id created_at effective_at"
        "No entries yet. The first captured payment makes the first one.";
    "/statements" "Statements" "list-statements"
        "statement_id month opening_balance credits debits closing_balance entry_count"
        "No statements yet. Each month has one when it is over.";
    "/activity" "Activity" "list-activity-logs"
        "created_at activity_type actor_type actor_email actor_key_id object_id"
        "Nothing happened yet.";
    "/webhooks" "Webhooks" "list-webhooks"
        "webhook_id name status destination_url events created_at"
        "No webhooks yet. A webhook tells your program what happens: create one with its address.";
    "/keys" "API keys" "list-keys"
        "name display role_id key_id last_used_at expires_at revoked_at"
        "No API keys yet. A program calls Till with a key: create one, and keep it secret.";
    "/installations" "Installations" "list-installations"
        "installation_id name platform identifier created_at"
        "No installations yet. Ask the operator to add your web site or app.";
    "/team" "Team" "list-users"
        "email role_id refund_limit last_signed_in_at created_at"
        "Nobody yet. Invite the first member.";
    "/plan" "Plan" "list-plans" "name description" "There are no plans.";
};

/// The objects.
pub(super) static OBJECTS: [ObjectPage; 4] = objects! { "/dashboard/{merchant_id}";
    "/disputes" "find-dispute" "dispute_id";
    "/checkouts" "find-checkout" "checkout_id";
    "/customers" "find-contact" "contact_id";
    "/webhooks" "find-webhook" "webhook_id";
};

/// What else stands on these pages. Members of one object are figures above everything, and lists are below.
pub(super) static PARTS: [Part; 8] = parts! { "/dashboard/{merchant_id}";
    "" "" "get-balance" "" "available pending";
    "/balance" "" "get-balance" "" "available pending";
    "/plan" "" "retrieve-current-plan" "" "name since";
    "/team" "Invitations" "list-user-invitations" "" "email role_id status url created_at expires_at";
    "/checkouts/{checkout_id}" "Payments" "list-payments" "checkout_id"
        "payment_id status amount payment_method_display_name created_at";
    "/customers/{contact_id}" "Cards" "list-cards" "contact_id"
        "card_id scheme last_digits expiration_date cardholder_name default created_at";
    "/customers/{contact_id}" "Payments" "list-payments" "contact_id"
        "payment_id status amount payment_method_display_name external_id created_at";
    "/webhooks/{webhook_id}" "Deliveries" "list-webhook-deliveries" "webhook_id"
        "event_id event status attempt response_status attempted_at next_attempt_at";
};
