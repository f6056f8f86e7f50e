//! The pages of lists and of objects, and what else stands on a page.

use till_protocol::dispatch::PageDeclaration;

use super::forms::below;

/// A page of a list.
#[derive(Debug)]
pub(super) struct ListPage {
    pub(super) page: PageDeclaration,
    pub(super) title: &'static str,
    /// The name of its call.
    pub(super) call: &'static str,
    /// The members that are shown of each entry, with spaces between them.
    pub(super) columns: &'static str,
    /// What is said where there is nothing yet.
    pub(super) empty: &'static str,
}

/// A page of an object.
#[derive(Debug)]
pub(super) struct ObjectPage {
    pub(super) page: PageDeclaration,
    /// The name of the call that finds it, and its argument.
    pub(super) call: &'static str,
    pub(super) argument: &'static str,
}

/// What stands on a page beside its own list or object: what another call lists, or members of what it finds.
#[derive(Debug)]
pub(super) struct Part {
    /// The pattern of the page.
    pub(super) of: &'static str,
    pub(super) title: &'static str,
    pub(super) call: &'static str,
    /// The argument by which it belongs to the object of its page; empty without one.
    pub(super) by: &'static str,
    pub(super) columns: &'static str,
}

macro_rules! lists {
    ($($path:literal $title:literal $call:literal $columns:literal $empty:literal;)+) => {
        [$(ListPage {
            page: PageDeclaration { pattern: below!($path), has_form: false },
            title: $title, call: $call, columns: $columns, empty: $empty,
        }),+]
    };
}

macro_rules! objects {
    ($($path:literal $call:literal $argument:literal;)+) => {
        [$(ObjectPage {
            page: PageDeclaration { pattern: below!($path, "/{", $argument, "}"), has_form: false },
            call: $call, argument: $argument,
        }),+]
    };
}

macro_rules! parts {
    ($($of:literal $title:literal $call:literal $by:literal $columns:literal;)+) => {
        [$(Part { of: below!($of), title: $title, call: $call, by: $by, columns: $columns }),+]
    };
}

/// The lists. The first one can be exported, too.
pub(super) static LISTS: [ListPage; 14] = lists! {
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
pub(super) static OBJECTS: [ObjectPage; 4] = objects! {
    "/disputes" "find-dispute" "dispute_id";
    "/checkouts" "find-checkout" "checkout_id";
    "/customers" "find-contact" "contact_id";
    "/webhooks" "find-webhook" "webhook_id";
};

/// What else stands on these pages. Members of one object are figures above everything, and lists are below.
pub(super) static PARTS: [Part; 8] = parts! {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::forms::FORMS;
    use super::super::payment::PAYMENT;
    use super::super::visit::object_of;
    use super::*;
    use crate::endpoints::pages::declared;

    #[test]
    fn every_column_is_a_member_of_what_its_call_lists() {
        let lists = LISTS.iter().map(|list| (list.call, list.columns, ""));
        for (call, columns, by) in lists.chain(PARTS.iter().map(|part| (part.call, part.columns, part.by))) {
            let object = object_of(call).unwrap_or_else(|_| panic!("{call} is not declared"));
            let members: Vec<&str> = object.attributes.iter().map(|member| member.name).collect();
            for column in columns.split(' ') {
                assert!(members.contains(&column), "{call}: {column}");
            }
            let (declaration, _) = declared(call).expect("declared");
            assert!(by.is_empty() || declaration.position(by).is_some(), "{call}: {by}");
        }
    }

    #[test]
    fn every_form_asks_for_arguments_of_its_call_and_for_all_that_it_needs() {
        let lists = LISTS.iter().map(|list| list.page.pattern);
        let objects = OBJECTS.iter().map(|object| object.page.pattern);
        let pages: BTreeSet<&str> = lists.chain(objects).chain([PAYMENT.pattern]).collect();
        for form in &FORMS {
            let (declaration, _) = declared(form.call).unwrap_or_else(|| panic!("{} is not declared", form.call));
            let asked: Vec<&str> = form.fields.split_whitespace().chain(form.bound()).collect();
            for name in &asked {
                assert!(declaration.position(name).is_some(), "{}: {name}", form.call);
            }
            for argument in declaration.arguments.iter().filter(|argument| argument.required) {
                assert!(
                    asked.contains(&argument.name) || argument.name == "currency",
                    "{}: {}",
                    form.call,
                    argument.name
                );
            }
            assert!(pages.contains(form.of), "{}: {}", form.call, form.of);
        }
    }

    #[test]
    fn no_page_stands_at_an_address_of_one_before_it() {
        let forms = FORMS.iter().map(|form| form.page.pattern);
        let objects = OBJECTS.iter().map(|object| object.page.pattern);
        let patterns: Vec<&str> = forms.chain(objects).chain([PAYMENT.pattern]).collect();
        let is_of = |path: &str, pattern: &str| {
            let (path, pattern): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
            path.len() == pattern.len() && path.iter().zip(pattern).all(|(a, b)| b.starts_with('{') || *a == b)
        };
        for (place, pattern) in patterns.iter().enumerate() {
            let before = patterns.iter().take(place).find(|before| is_of(pattern, before));
            assert_eq!(before, None, "{pattern}");
        }
    }
}
