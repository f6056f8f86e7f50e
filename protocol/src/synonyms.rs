//! Names that other interfaces have for functions and arguments, and ours. Where Till has no counterpart, a sentence
//! says so and names the nearest way. What is suggested is never another act or another thing.

/// Names that callers try, those of ours that mean the same, and advice. Of ours the first that is there counts; `_url`
/// is any name with that end. A row applies when one of ours is there, or when it has none.
type Synonyms = (&'static [&'static str], &'static [&'static str], &'static str);

/// The meaning of a name that callers try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meant {
    /// Our name for the same.
    pub(super) ours: Option<&'static str>,
    /// A sentence with more to know, or with what to do instead. It may be empty.
    pub(super) advice: &'static str,
}

/// Verbs for the same act on a thing: those that callers try, and those that functions have.
pub(super) const VERBS: [(&[&str], &[&str]); 6] = [
    (&["find", "get", "retrieve", "fetch", "read", "show", "view"], &["find", "get", "retrieve"]),
    (&["list", "search", "query", "browse"], &["list"]),
    (
        &["create", "add", "generate", "make", "new", "insert", "register"],
        &["create", "add", "generate", "save", "connect", "send", "initiate", "start"],
    ),
    (&["update", "change", "edit", "modify", "patch"], &["update"]),
    (&["delete", "remove", "forget", "revoke", "erase", "destroy", "drop"], &["delete", "remove", "forget", "revoke"]),
    (&["cancel", "close", "end", "expire"], &["expire"]),
];

/// Nouns for the same thing in names of functions.
const NOUNS: [(&[&str], &str); 9] = [
    (&["customer"], "contact"),
    (&["customers"], "contacts"),
    (&["payment-intent", "charge"], "payment"),
    (&["payment-intents", "charges"], "payments"),
    (&["checkout-session", "payment-link"], "checkout"),
    (&["checkout-sessions", "payment-links"], "checkouts"),
    (&["webhook-endpoint"], "webhook"),
    (&["webhook-endpoints"], "webhooks"),
    (&["api-key"], "key"),
];

/// Functions whose names are not made of a verb and a noun of ours, by the end of their paths. A single word counts
/// below an interface only, since it stands for any act on a thing elsewhere.
const FUNCTIONS: &[Synonyms] = &[
    (&["pay", "charge"], &["initiate-payment-flow"], ""),
    (&["capture"], &["capture-payment"], ""),
    (&["void"], &["void-payment"], ""),
    (&["reverse"], &["reverse-payment"], ""),
    (&["refund", "create-refund", "make-refund"], &["refund-payment"], ""),
    (&["payments"], &["list-payments"], ""),
    (&["refunds"], &["list-refunds"], ""),
    (&["disputes"], &["list-disputes"], ""),
    (&["payouts"], &["list-payouts"], ""),
    (&["customers"], &["list-contacts"], ""),
    (&["checkouts"], &["list-checkouts"], ""),
    (&["events"], &["list-events"], ""),
    (&["balance"], &["get-balance"], ""),
    (&["tokens"], &["tokenize-card"], ""),
    (&["checkout/sessions"], &["start-checkout"], ""),
    (
        &["create-payment-link", "payment-links"],
        &["start-checkout"],
        "The address that it answers is the link, which can be paid for a day at most.",
    ),
    (
        &["payment-intents"],
        &[],
        "A payment is made on the page whose address start-checkout answers, or by initiate-payment-flow from a \
            payment session; find-payment and list-payments look it up.",
    ),
    (
        &["cancel-payment", "cancel-payment-intent"],
        &[],
        "void-payment ends a payment that is not captured; refund-payment gives captured money back; expire-checkout \
            ends a checkout.",
    ),
    (
        &["create-subscription", "subscriptions", "v1/subscriptions"],
        &[],
        "Till charges nobody by itself, so there are no subscriptions: for each period call start-checkout, or take a \
            saved card by select-payment-method of /sdk and initiate-payment-flow.",
    ),
];

/// Arguments.
const ARGUMENTS: &[Synonyms] = &[
    (&["limit", "page_size", "count"], &["per_page"], ""),
    (&["starting_after", "cursor"], &["after"], ""),
    (
        &["page", "offset", "page_number", "page_token"],
        &["after"],
        "Send the last id of a page, or as the whole body the next that the page has",
    ),
    (&["ending_before"], &["before"], ""),
    (&["cvc", "cvv", "cvn", "cid"], &["security_code"], ""),
    (&["exp_month", "exp_year", "exp", "expiry"], &["expiration_date"], ""),
    (&["enabled_events", "event_types"], &["events"], ""),
    (&["payment_intent", "charge"], &["payment_id"], ""),
    (&["capture_method"], &["capture"], ""),
    (&["amount_to_capture", "amount_to_refund"], &["amount"], ""),
    (&["created"], &["created_at"], ""),
    (&["line_items", "items"], &["lines"], ""),
    (&["success_url", "redirect_url", "redirect_uri"], &["return_url"], ""),
    (&["url"], &["_url"], ""),
    (&["email"], &["_email", "terms"], ""),
    (&["phone"], &["_mobile"], ""),
    (&["id"], &["_id"], ""),
    (&["client_reference_id", "order_id", "reference"], &["external_id"], ""),
    (&["external_id"], &["terms", "payment_id", "refund_id", "checkout_id", "payout_id", "contact_id"], ""),
    (&["search", "query", "q"], &["terms"], ""),
    (
        &["external_id", "email", "search", "query", "q"],
        &[],
        "it is not taken here; list-payments finds payments by terms, and calls that find one object take your own \
            identifier",
    ),
    (&["expires_at"], &["expires_in"], "It is a number of seconds from now"),
    (&["description", "note"], &["reason"], ""),
    (
        &["description", "note", "metadata"],
        &[],
        "words of your own are kept by calls about metadata, such as sync-metadata of /merchants, under a key of your \
            choice; what the customer reads are the names of lines of start-checkout",
    ),
    (&["mode"], &[], "leave it out, since there is one mode: a checkout takes exactly one payment"),
    (&["idempotency_key"], &[], "send it as the header Idempotency-Key"),
    (&["destination", "bank_account"], &[], "leave it out, since money is paid out to the merchant's own account only"),
    (&["role"], &["role_id"], ""),
    (
        &["permissions", "scopes", "scope", "role"],
        &[],
        "leave it out, since there are neither roles nor permissions: each key may make every call of its merchant, \
            and members of its team none",
    ),
];

/// The meaning of the end of a path, which is in lower case with `-` between words. `find` finds a function of ours.
pub(super) fn function(
    path: &str,
    is_below_interface: bool,
    find: impl Fn(&'static str) -> Option<&'static str>,
) -> Option<Meant> {
    let is_end = |tried: &str| path == tried || path.strip_suffix(tried).is_some_and(|before| before.ends_with('/'));
    let counts = |tried: &str| is_below_interface || tried.contains(['-', '/']);
    meant(FUNCTIONS, |tried| counts(tried) && is_end(tried), find)
}

/// The meaning of an argument's name among those that are declared.
pub(super) fn argument(name: &str, declared: impl Iterator<Item = &'static str> + Clone) -> Option<Meant> {
    let is_ours = |known: &str, ours: &str| known == ours || (ours.starts_with('_') && known.ends_with(ours));
    meant(ARGUMENTS, |tried| is_spelt_like(name, tried), |ours| declared.clone().find(|known| is_ours(known, ours)))
}

fn meant(
    table: &[Synonyms],
    is_tried: impl Fn(&str) -> bool,
    find: impl Fn(&'static str) -> Option<&'static str>,
) -> Option<Meant> {
    let rows = table.iter().filter(|(tried, ..)| tried.iter().any(|tried| is_tried(tried)));
    rows.into_iter().find_map(|(_, names, advice)| {
        let ours = names.iter().find_map(|name| find(name));
        (ours.is_some() || names.is_empty()).then_some(Meant { ours, advice })
    })
}

/// Our noun for that of a function's name.
pub(super) fn noun(tried: &str) -> &str {
    NOUNS.iter().find(|(names, _)| names.contains(&tried)).map_or(tried, |(_, ours)| ours)
}

/// True when two names differ at most in letter case and in what separates their words.
pub(super) fn is_spelt_like(name: &str, known: &str) -> bool {
    let letters = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    letters(name) == letters(known)
}
