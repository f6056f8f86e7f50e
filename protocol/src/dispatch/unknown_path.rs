//! The refusal of a path that leads to nothing. It names the path that was probably meant, or the listener to ask
//! instead. A suggestion never names a different act than the requested one.

use serde_json::json;

use super::path::{ParsedPath, locate};
use crate::api_error::{ApiError, Code};
use crate::declaration::Package;
use crate::synonyms::{self, VERBS, is_spelt_like};

/// The limit of bytes of a path for which a suggestion is searched: the cost of comparing names is the product of their
/// lengths.
const PATH_COMPARED_MAX: usize = 128;

/// Characters from which a verb may contain a typing error.
const MISTYPED_VERB_MIN: usize = 4;

/// The limit of the distance between the names of two things, in edits per length of the longer: fewer than 1 in 3.
const THING_DISTANCE_DIVISOR: usize = 3;

/// The interfaces and functions of a listener.
pub(super) struct Served {
    /// Its interfaces.
    pub(super) packages: Vec<Package>,
    /// Their functions by name.
    pub(super) functions: Vec<(Package, &'static str)>,
}

/// The path that was probably meant, and advice; at least one of them.
struct Guess {
    path: Option<String>,
    advice: &'static str,
}

impl Guess {
    fn of((package, name): (Package, &str)) -> Guess {
        Guess { path: Some(format!("/{}/{name}", package.segment())), advice: "" }
    }
}

impl Served {
    /// `UNKNOWN_ENDPOINT` for a path.
    pub(super) fn refusal(&self, path: &str) -> ApiError {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let package = segments.iter().take(2).find_map(|segment| Package::from_segment(&segment.to_lowercase()));
        if let Some(package) = package.filter(|package| !self.packages.contains(package)) {
            return refused(&other_listener(package));
        }
        let guess = if path.len() <= PATH_COMPARED_MAX { self.guess(&segments, package) } else { None };
        match guess {
            Some(Guess { path: Some(meant), advice }) => {
                let slash = if path.ends_with('/') { ", with a slash at its end" } else { "" };
                let message = format!("There is no endpoint at this path{slash}. Did you mean {meant}? {advice}");
                refused(message.trim_end()).with_details(json!({ "suggestion": meant }))
            }
            Some(Guess { path: None, advice }) => refused(&format!("There is no endpoint at this path. {advice}")),
            None => refused(&self.advice(package)),
        }
    }

    fn guess(&self, segments: &[&str], package: Option<Package>) -> Option<Guess> {
        let respelt = format!("/{}", segments.join("/").to_lowercase());
        if let Some(place) = locate(&respelt)
            && self.has(place)
        {
            return Some(Guess { path: Some(respelt), advice: "" });
        }
        let ends = (1..=segments.len()).rev();
        ends.into_iter().find_map(|end| self.function(&segments[..end], package, end == segments.len()))
    }

    fn has(&self, place: ParsedPath<'_>) -> bool {
        match place {
            ParsedPath::Package { package, function: None, .. } => self.packages.contains(&package),
            ParsedPath::Package { package, function: Some(name), .. } => self.functions.contains(&(package, name)),
            ParsedPath::Pages(name) => name.is_none_or(str::is_empty),
            ParsedPath::OpenApi => true,
            // The root takes no calls, and this caller wants to make one.
            ParsedPath::Root => false,
            // Only the operator's listener has these.
            ParsedPath::Probe(_) => self.packages.contains(&Package::Admin),
        }
    }

    /// The function at the end of a path: of that name in another spelling, in any interface; else of a name that means
    /// the same or is similar, in this one.
    fn function(&self, segments: &[&str], package: Option<Package>, is_whole: bool) -> Option<Guess> {
        let asked = normalized(segments.last()?);
        let in_place = |known: &&(Package, &str)| package.is_none_or(|package| known.0 == package);
        let respelt = self.functions.iter().filter(|known| is_spelt_like(&asked, known.1));
        if let Some(found) = respelt.clone().find(in_place).or_else(|| respelt.clone().next()) {
            return Some(Guess::of(*found));
        }
        let named = |name| self.functions.iter().filter(in_place).find(|known| known.1 == name);
        if package.is_some() || is_whole {
            let path = normalized(&segments.join("/"));
            let meant = synonyms::function(&path, package.is_some(), |name| named(name).map(|known| known.1));
            if let Some(meant) = meant {
                let path = meant.ours.and_then(named).and_then(|known| Guess::of(*known).path);
                return Some(Guess { path, advice: meant.advice });
            }
        }
        let near = self.functions.iter().filter(in_place).filter(|known| is_near(&asked, known.1));
        near.min_by_key(|known| strsim::damerau_levenshtein(&asked, known.1)).map(|known| Guess::of(*known))
    }

    fn advice(&self, package: Option<Package>) -> String {
        if let Some(package) = package {
            let package = package.segment();
            return format!("There is no such function in /{package}. GET /{package} lists those that exist.");
        }
        let forms: Vec<String> =
            self.packages.iter().map(|package| format!("POST /{}/<function>", package.segment())).collect();
        let first = self.packages.first().map_or("", |package| package.segment());
        format!(
            "There is no endpoint at this path. Calls are {}; GET /{first} lists the functions.",
            forms.join(" and ")
        )
    }
}

fn refused(message: &str) -> ApiError {
    ApiError::new(Code::UnknownEndpoint, message.to_owned())
}

/// The listener that serves an interface which this one does not serve.
fn other_listener(package: Package) -> String {
    let (listener, setting, this) = match package {
        Package::Admin => ("operator's", "admin_listen", "public"),
        Package::Merchants | Package::Sdk => ("public", "listen", "operator's"),
    };
    let package = package.segment();
    format!(
        "This is the {this} listener. Calls of /{package} are made on the {listener} one: its address is the server's \
            setting {setting}."
    )
}

/// A name in our spelling, as far as letter case and word separators are concerned.
fn normalized(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// True when a name means the same act on a similarly named thing.
fn is_near(asked: &str, known: &str) -> bool {
    let ((asked_verb, asked_thing), (verb, thing)) = (verb_and_noun(asked), verb_and_noun(known));
    is_same_act(asked_verb, verb) && is_near_thing(synonyms::noun(asked_thing), thing)
}

/// The verb and the noun of a function's name.
fn verb_and_noun(name: &str) -> (&str, &str) {
    name.split_once('-').unwrap_or((name, ""))
}

fn is_same_act(asked: &str, known: &str) -> bool {
    let is_mistyped =
        asked.len().min(known.len()) >= MISTYPED_VERB_MIN && strsim::damerau_levenshtein(asked, known) <= 1;
    let are_synonyms = VERBS.iter().any(|(tried, ours)| tried.contains(&asked) && ours.contains(&known));
    asked == known || is_mistyped || are_synonyms
}

fn is_near_thing(asked: &str, known: &str) -> bool {
    let longer = asked.chars().count().max(known.len());
    let is_mistyped = strsim::damerau_levenshtein(asked, known) * THING_DISTANCE_DIVISOR < longer;
    is_mistyped || (!asked.is_empty() && known.starts_with(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public() -> Served {
        let merchants = [
            "find-payment",
            "list-payments",
            "initiate-payment-flow",
            "find-key",
            "list-keys",
            "list-plans",
            "list-users",
            "get-balance",
            "retrieve-metadata",
            "delete-metadata",
            "add-to-metadata-set",
            "add-contact",
            "update-contact",
            "remove-contact",
            "save-card",
            "forget-card",
            "generate-key",
            "revoke-key",
            "send-payout",
            "connect-webhook",
            "disconnect-webhook",
            "invite-user",
            "list-contacts",
            "start-checkout",
            "expire-checkout",
            "list-webhooks",
        ];
        let sdk = ["tokenize-card", "select-payment-method", "check-status"];
        let merchants = merchants.map(|name| (Package::Merchants, name));
        let functions = merchants.into_iter().chain(sdk.map(|name| (Package::Sdk, name))).collect();
        Served { packages: vec![Package::Merchants, Package::Sdk], functions }
    }

    fn suggested(path: &str) -> Option<String> {
        let details = public().refusal(path).details().cloned().unwrap_or_default();
        details["suggestion"].as_str().map(str::to_owned)
    }

    #[test]
    fn a_function_in_another_spelling_is_suggested_wherever_it_is() {
        for (path, expected) in [
            ("/merchants/initiate_payment_flow", "/merchants/initiate-payment-flow"),
            ("/merchants/initiatePaymentFlow", "/merchants/initiate-payment-flow"),
            ("/merchants/initiate-payment-flow/", "/merchants/initiate-payment-flow"),
            ("//merchants//find-payment", "/merchants/find-payment"),
            ("/initiate-payment-flow", "/merchants/initiate-payment-flow"),
            ("/v1/find-payment", "/merchants/find-payment"),
            ("/merchants/find-payment/pay_1", "/merchants/find-payment"),
            ("/v1/checkout/sessions", "/merchants/start-checkout"),
            ("/merchants/tokenize-card", "/sdk/tokenize-card"),
            ("/sdk/find-payment", "/merchants/find-payment"),
            ("/Merchants", "/merchants"),
            ("/sdk//", "/sdk"),
            ("/openapi.json/", "/openapi.json"),
            ("/2025-04-01/merchants/", "/2025-04-01/merchants"),
        ] {
            assert_eq!(suggested(path).as_deref(), Some(expected), "{path}");
        }
        let slash = public().refusal("/merchants/find-payment/");
        assert!(slash.message().contains("with a slash at its end"), "{}", slash.message());
    }

    #[test]
    fn a_mistyped_name_or_a_synonym_gets_a_suggestion() {
        for (name, expected) in [
            ("find-payments", "find-payment"),
            ("get-payment", "find-payment"),
            ("fetch-payment", "find-payment"),
            ("list-payment", "list-payments"),
            ("initate-payment-flow", "initiate-payment-flow"),
            ("initiate-payment", "initiate-payment-flow"),
            ("retreive-metadata", "retrieve-metadata"),
            ("get-metadata", "retrieve-metadata"),
            ("find-balanse", "get-balance"),
            ("search-payments", "list-payments"),
            ("create-contact", "add-contact"),
            ("new_contact", "add-contact"),
            ("edit-contact", "update-contact"),
            ("delete-contact", "remove-contact"),
            ("create-key", "generate-key"),
            ("delete-key", "revoke-key"),
            ("add-card", "save-card"),
            ("delete-card", "forget-card"),
            ("remove-metadata", "delete-metadata"),
            ("create-payout", "send-payout"),
            ("create-webhook", "connect-webhook"),
            ("create-payment", "initiate-payment-flow"),
            ("charge", "initiate-payment-flow"),
            ("payments", "list-payments"),
            ("payments/pay_1", "list-payments"),
            ("balance", "get-balance"),
            ("create-checkout", "start-checkout"),
            ("create_checkout", "start-checkout"),
            ("cancel-checkout", "expire-checkout"),
            ("create-customer", "add-contact"),
            ("search-customers", "list-contacts"),
            ("list-webhook-endpoints", "list-webhooks"),
            ("create-payment-link", "start-checkout"),
        ] {
            assert_eq!(suggested(&format!("/merchants/{name}")), Some(format!("/merchants/{expected}")), "{name}");
        }
    }

    #[test]
    fn another_act_or_another_thing_is_never_suggested() {
        for name in [
            "capture-payment",
            "refund-payment",
            "void-payment",
            "cancel-payment",
            "delete-payment",
            "send-contact",
            "connect-card",
            "delete-webhook",
            "create-user",
            "create-plan",
            "set-metadata",
            "list-disputes",
            "list-payouts",
            "find-card",
            "find-payout",
            "list-cards",
            "refund",
            "find-",
            "-payment",
        ] {
            assert_eq!(suggested(&format!("/merchants/{name}")), None, "{name}");
        }
        assert_eq!(suggested("/v1/checkout/sessions/cs_1"), None, "an act on one session");
        let cancels = public().refusal("/merchants/cancel-payment");
        assert!(cancels.message().contains("void-payment ends") && cancels.details().is_none(), "{cancels:?}");
        let refused = public().refusal("/merchants/capture-payment");
        let expected = "There is no such function in /merchants. GET /merchants lists those that exist.";
        assert_eq!((refused.message(), refused.details()), (expected, None));
    }

    #[test]
    fn a_path_without_an_interface_is_told_the_form_of_calls() {
        for path in
            ["/v1/payments", "/payments/pay_1", "/", "/favicon.ico", "/metrics/", &format!("/{}", "x".repeat(60_000))]
        {
            let expected = "There is no endpoint at this path. Calls are POST /merchants/<function> and POST \
                /sdk/<function>; GET /merchants lists the functions.";
            assert_eq!(public().refusal(path).message(), expected, "{}", &path[..path.len().min(40)]);
        }
    }

    #[test]
    fn calls_of_the_other_listener_are_sent_there() {
        for path in ["/admin/create-merchant", "/2025-04-01/admin/create-merchant", "/admin"] {
            let refused = public().refusal(path);
            let expected = "This is the public listener. Calls of /admin are made on the operator's one: its address \
                is the server's setting admin_listen.";
            assert_eq!((refused.message(), refused.details()), (expected, None), "{path}");
        }
        let operator = Served { packages: vec![Package::Admin], functions: vec![(Package::Admin, "create-merchant")] };
        let refused = operator.refusal("/merchants/find-payment");
        assert!(
            refused
                .message()
                .starts_with("This is the operator's listener. Calls of /merchants are made on the public")
        );
    }
}
