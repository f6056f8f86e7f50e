use serde_json::{Value, json};
use till_domain::merchant::PaymentMethod;

use super::examples::{checkout, form, states, with};
use super::locale::Locale;
use super::markup::{Element, elements};
use super::message::Message;
use super::words::Words;
use super::{assets, frame, page};
use crate::endpoints::pages::ShownState;

const MERCHANT: &str = "mrc_01jz0000000000000000000001";

/// The limit of document, style and script together, before compression.
const BYTES_MAX: usize = 55 * 1024;

/// Markup that must never reach a page as such.
const MARKUP: &str = "</title><script>alert('1')</script><b onclick=\"x\">&";

/// Every page in every language, each with a name.
fn all_pages() -> Vec<(String, Locale, String)> {
    let mut pages = Vec::new();
    for locale in Locale::ALL {
        for (name, checkout) in states() {
            pages.push((format!("{name} {locale:?}"), locale, hosted(&checkout, locale)));
            pages.push((format!("{name} in a frame {locale:?}"), locale, framed(&checkout, locale)));
        }
        pages.push((format!("unknown {locale:?}"), locale, page::unknown(locale)));
        pages.push((format!("frame {locale:?}"), locale, frame::html(MERCHANT, &form(), locale)));
    }
    pages
}

fn hosted(checkout: &Value, locale: Locale) -> String {
    page::page(MERCHANT, checkout, locale).unwrap_or_else(|error| panic!("{error:?}"))
}

fn framed(checkout: &Value, locale: Locale) -> String {
    page::framed(MERCHANT, checkout, locale).unwrap_or_else(|error| panic!("{error:?}"))
}

fn english_in_frame(checkout: &Value) -> Vec<Element> {
    elements(&framed(checkout, Locale::English))
}

fn elements_of_name<'a>(elements: &'a [Element], name: &str) -> Vec<&'a Element> {
    elements.iter().filter(|element| element.name == name).collect()
}

/// The texts of the elements of a name, without the space around them.
fn texts(elements: &[Element], name: &str) -> Vec<String> {
    elements_of_name(elements, name).iter().map(|element| element.text.trim().to_owned()).collect()
}

fn english(checkout: &Value) -> Vec<Element> {
    elements(&hosted(checkout, Locale::English))
}

fn state_named(name: &str) -> Value {
    states().into_iter().find(|(known, _)| *known == name).expect("a state of this name").1
}

#[test]
fn every_page_has_language_direction_and_one_level_1_heading() {
    for (name, locale, html) in all_pages() {
        let elements = elements(&html);
        let root = elements_of_name(&elements, "html")[0];
        assert_eq!((root.get("lang"), root.get("dir")), (Some(locale.name()), Some(locale.direction())), "{name}");
        assert_eq!(
            (elements_of_name(&elements, "h1").len(), elements_of_name(&elements, "main").len()),
            (1, 1),
            "{name}"
        );
        assert!(!texts(&elements, "title")[0].is_empty() && !texts(&elements, "h1")[0].is_empty(), "{name}");
    }
}

#[test]
fn no_page_has_script_or_style_in_it() {
    for (name, _, html) in all_pages() {
        for element in elements(&html) {
            let is_code = element.attributes.keys().any(|name| name == "style" || name.starts_with("on"));
            assert!(!is_code && element.name != "style", "{name}: {element:?}");
            assert!(element.name != "script" || element.text.is_empty(), "{name}: {element:?}");
            assert!(element.get("src").is_none_or(|src| src.starts_with('/')), "{name}: {element:?}");
        }
    }
}

#[test]
fn every_field_has_a_label_and_every_id_is_there_once() {
    for (name, _, html) in all_pages() {
        let elements = elements(&html);
        let mut ids: Vec<_> = elements.iter().filter_map(|element| element.get("id")).collect();
        ids.sort_unstable();
        assert!(ids.is_sorted_by(|left, right| left < right), "{name}: {ids:?}");
        let labels: Vec<_> = elements_of_name(&elements, "label").iter().filter_map(|label| label.get("for")).collect();
        for field in elements.iter().filter(|element| ["input", "select", "textarea"].contains(&&*element.name)) {
            let is_in_label = ["radio", "checkbox", "hidden"].iter().any(|kind| field.get("type") == Some(kind));
            let is_in_label = is_in_label || field.get("aria-labelledby").is_some_and(|id| ids.contains(&id));
            assert!(is_in_label || field.get("id").is_some_and(|id| labels.contains(&id)), "{name}: {field:?}");
        }
        let described = elements.iter().filter_map(|element| element.get("aria-describedby"));
        assert!(described.clone().all(|id| ids.contains(&id)), "{name}");
    }
}

#[test]
fn document_style_and_script_are_small() {
    let script = assets::CHECKOUT_SCRIPT.len().max(assets::MOUNTED_SCRIPT.len());
    let files = assets::STYLE.len() + script;
    for (name, _, html) in all_pages() {
        assert!(html.len() + files <= BYTES_MAX, "{name}: {} + {files}", html.len());
    }
    assert!(assets::STYLE.len() + assets::FRAME_SCRIPT.len() + assets::TILL_SCRIPT.len() < BYTES_MAX);
}

#[test]
fn a_page_asks_for_four_files_at_most_one_of_which_is_the_icon() {
    for (name, checkout) in states() {
        let elements = english(&with(checkout, json!({ "color": "#0a7d55" })));
        let files: Vec<_> = elements.iter().filter(|file| ["link", "script", "img"].contains(&&*file.name)).collect();
        let icons = files.iter().filter(|file| file.get("rel") == Some("icon")).count();
        assert!(files.len() <= 4 && icons == 1, "{name}: {files:?}");
    }
}

#[test]
fn nothing_that_a_caller_wrote_is_markup() {
    let plan = json!({
        "installment_plan_id": MARKUP, "name": MARKUP, "interest_rate": MARKUP, "monthly_amount": 1, "total_amount": 1,
    });
    let card = json!({ "card_id": MARKUP, "scheme": "VISA", "last_digits": MARKUP, "expiration_date": MARKUP });
    let written = json!({
        "merchant_name": MARKUP, "shop": MARKUP, "color": MARKUP, "origin": MARKUP, "installation_id": MARKUP,
        "checkout_id": MARKUP, "lines": [{ "name": MARKUP, "amount": 1, "quantity": 1 }], "installment_plans": [plan],
        "saved_cards": [card], "payment_session_id": MARKUP, "payment_method": "CARD", "failure_code": MARKUP,
        "action_url": MARKUP, "qr_text": MARKUP, "seconds_left": 1, "seconds_whole": 9, "wallet": MARKUP,
        "was_just_paid": true,
    });
    for state in ShownState::ALL {
        let checkout = with(checkout(state), written.clone());
        for locale in Locale::ALL {
            let html = |result: Result<String, _>| result.unwrap_or_else(|error| panic!("{error:?}"));
            let pages = [page::page(MARKUP, &checkout, locale), page::framed(MARKUP, &checkout, locale)];
            for html in pages.map(html) {
                assert!(!html.contains("<script>") && !html.contains("<b ") && !html.contains("alert('"), "{html}");
                assert_eq!(elements_of_name(&elements(&html), "b").len(), 0);
            }
        }
    }
}

#[test]
fn an_installation_writes_no_markup_into_its_frame() {
    let form = with(form(), json!({ "origin": MARKUP, "interest_bearer": MARKUP }));
    let html = frame::html(MERCHANT, &form, Locale::Arabic);
    assert!(!html.contains("<script>") && !html.contains("alert('"), "{html}");
}

#[test]
fn a_frame_shows_the_states_and_leaves_the_rest_to_the_shop() {
    for (name, checkout) in states() {
        let (hosted, framed) = (english(&checkout), english_in_frame(&checkout));
        assert_eq!(texts(&framed, "h2"), texts(&hosted, "h2"), "{name}");
        assert_eq!(
            (texts(&framed, "title"), texts(&framed, "h1")),
            (vec!["Payment form".to_owned()], vec!["Payment form".to_owned()])
        );
        for absent in ["header", "footer", "noscript"] {
            assert_eq!(elements_of_name(&framed, absent).len(), 0, "{name}: {absent}");
        }
        let goes_on = framed.iter().any(|element| element.get("data-goes-on").is_some());
        assert!(!goes_on, "{name}: only the shop's page goes on");
        let body = elements_of_name(&framed, "body")[0];
        assert_eq!(
            (body.get("class"), body.get("data-origin")),
            (Some("frame"), Some("https://shop.example")),
            "{name}"
        );
        assert!(body.get("hidden").is_some(), "{name}: nothing is shown before the shop's script was met");
        assert_eq!(
            elements_of_name(&framed, "base")[0].get("target"),
            Some("_top"),
            "{name}: links move the whole window"
        );
    }
}

#[test]
fn a_frame_knows_why_the_last_payment_failed() {
    let body = |checkout: &Value| {
        let elements = english_in_frame(checkout);
        let body = elements_of_name(&elements, "body")[0];
        ["data-last-session-id", "data-failure-code", "data-failure"].map(|name| body.get(name).map(str::to_owned))
    };
    let expected = ["pse_1", "insufficient_funds", "There is not enough money on this card or account."];
    let failed = body(&state_named("failed"));
    assert_eq!(failed, expected.map(|text| Some(text.to_owned())));
    let [_, code, words] = body(&state_named("choosing-card"));
    assert_eq!((code, words), (None, None));
}

#[test]
fn the_names_of_a_checkout_are_those_of_the_contract() {
    let elements = english(&state_named("choosing"));
    assert_eq!(texts(&elements, "title"), ["Pay Example Shop"]);
    assert_eq!(texts(&elements, "h1"), ["Pay Example Shop"]);
    let badge = elements.iter().find(|element| element.text.trim() == "Sandbox").expect("a badge");
    assert_eq!(badge.get("title"), Some("No real money moves"));
    assert_eq!(texts(&elements, "h2"), ["Choose how to pay", "Processing your payment"]);
    assert_eq!(texts(&elements, "legend"), ["Payment method"]);
    let labels = texts(&elements, "label");
    for label in [
        "Visa ending in 4242, expires 12/49",
        "Mastercard ending in 4444, expires 12/49",
        "Card",
        "Instalments",
        "PromptPay QR",
        "Mobile banking",
        "Card number",
        "Expiry date",
        "Security code",
        "Name on card",
        "Save this card for next time",
        "Instalment plan",
        "Language",
    ] {
        assert!(labels.iter().any(|known| known == label), "{label}: {labels:?}");
    }
    assert!(texts(&elements, "button").contains(&"Pay THB\u{a0}1,234.50".to_owned()));
    assert_eq!(texts(&elements, "a"), ["Return to Example Shop"]);
    let number = elements.iter().find(|element| element.get("id") == Some("card-number")).expect("the field");
    assert_eq!(
        (number.get("data-missing"), number.get("data-wrong")),
        (Some("Enter the card number"), Some("Check the card number"))
    );
}

#[test]
fn every_state_has_its_heading_and_its_actions() {
    for (name, heading, actions) in [
        ("processing", "Processing your payment", &["Return to Example Shop"][..]),
        ("confirm", "Confirm with your bank", &["Continue to your bank", "Pay another way", "Return to Example Shop"]),
        (
            "scan",
            "Scan to pay",
            &[
                "Open the sandbox wallet",
                "Save QR code",
                "Pay another way",
                "Copy QR code text",
                "Return to Example Shop",
            ],
        ),
        (
            "scan-late",
            "Scan to pay",
            &["Save QR code", "Pay another way", "Copy QR code text", "Return to Example Shop"],
        ),
        ("successful", "Payment successful", &["Return to Example Shop"]),
        ("expired", "This checkout has expired", &["Return to Example Shop"]),
        ("attempts-used-up", "This checkout has expired", &["Return to Example Shop"]),
        ("suspended", "Payments are not possible at the moment", &["Return to Example Shop"]),
    ] {
        let elements = english(&state_named(name));
        assert_eq!(texts(&elements, "h2"), [heading], "{name}");
        let found = elements.iter().filter(|element| element.name == "a" || element.name == "button");
        let found: Vec<_> = found.map(|element| element.text.trim()).filter(|text| *text != "Change").collect();
        assert_eq!(found, actions, "{name}");
    }
    let unknown = elements(&page::unknown(Locale::English));
    assert_eq!((texts(&unknown, "h2"), texts(&unknown, "a").len()), (vec!["Page not found".to_owned()], 0));
}

#[test]
fn a_failed_payment_leaves_its_method_chosen_and_says_why() {
    let elements = english(&state_named("failed"));
    assert_eq!(texts(&elements, "h2")[..2], ["Payment failed", "Choose how to pay"]);
    let alert = elements.iter().find(|element| element.get("role") == Some("alert")).expect("an alert");
    assert!(alert.text.contains("There is not enough money"), "{}", alert.text);
    let radios = elements.iter().filter(|element| element.get("type") == Some("radio"));
    let chosen: Vec<_> = radios.filter(|radio| radio.get("checked").is_some()).collect();
    assert_eq!(chosen.iter().map(|radio| radio.get("value")).collect::<Vec<_>>(), [Some("CARD")]);
}

#[test]
fn one_who_gave_up_is_not_told_that_something_failed() {
    let elements = english(&state_named("cancelled"));
    assert_eq!(texts(&elements, "h2")[0], "Choose how to pay");
    let alert = elements.iter().find(|element| element.get("role") == Some("alert")).expect("an alert");
    assert!(alert.text.contains("You cancelled this payment. Nothing was charged."), "{}", alert.text);
}

#[test]
fn a_checkout_that_takes_no_more_attempts_says_why_the_last_failed() {
    let text = |name: &str| english(&state_named(name)).iter().map(|element| element.text.clone()).collect::<String>();
    let words = ["There is not enough money", "No further attempt is possible here"];
    assert!(words.iter().all(|part| text("attempts-used-up").contains(part)));
    assert!(words.iter().all(|part| !text("expired").contains(part)));
}

#[test]
fn a_single_method_is_named_by_the_heading_and_has_no_radio_button() {
    for (method, heading) in [(PaymentMethod::Card, "Card"), (PaymentMethod::PromptPay, "PromptPay QR")] {
        let only = json!({ "payment_methods": [method.name()], "saved_cards": [] });
        let elements = english(&with(state_named("choosing"), only));
        assert_eq!(texts(&elements, "h2")[0], heading);
        let inputs: Vec<_> = elements.iter().filter(|element| element.get("name") == Some("payment_method")).collect();
        let [input] = &inputs[..] else { panic!("one input: {inputs:?}") };
        assert_eq!((input.get("type"), input.get("value")), (Some("hidden"), Some(method.name())));
        assert!(elements_of_name(&elements, "fieldset").is_empty());
    }
}

#[test]
fn a_card_that_is_entered_at_the_acquirer_has_one_sentence_and_no_fields() {
    let sentence = "You enter your card on the next page, at Stripe.";
    let without_fields = json!({ "card_page": "stripe", "saved_cards": [], "offers_saving": false });
    for methods in [json!(["CARD"]), json!(["CARD", "PROMPTPAY"])] {
        let mut checkout = with(state_named("choosing"), without_fields.clone());
        checkout["payment_methods"] = methods;
        let elements = english(&checkout);
        let shown: String = texts(&elements, "p").concat();
        assert!(shown.replace(['\u{2068}', '\u{2069}'], "").contains(sentence), "{shown}");
        assert!(!shown.contains("JavaScript"), "it needs no script: {shown}");
        let inputs = elements_of_name(&elements, "input");
        assert!(inputs.iter().all(|input| input.get("name") == Some("payment_method")), "{inputs:?}");
    }
}

#[test]
fn a_plan_says_its_terms_as_far_as_they_are_known() {
    let mut checkout = state_named("choosing-instalments");
    let terms = |checkout: &Value, locale| {
        let elements = elements(&hosted(checkout, locale));
        let found = elements.iter().find(|element| element.get("class") == Some("terms"));
        found.map_or(String::new(), |terms| terms.text.trim().to_owned())
    };
    let expected = "Interest: 1.25% a month. You pay THB\u{a0}426.94 each month. In total THB\u{a0}1,280.82.";
    assert_eq!(terms(&checkout, Locale::English), expected);
    assert!(terms(&checkout, Locale::German).starts_with("Zinsen: 1,25 % im Monat."));
    for (told, shown) in [("1.00", "1%"), ("0.50", "0.5%"), ("10", "10%")] {
        checkout["installment_plans"][0]["interest_rate"] = told.into();
        assert!(terms(&checkout, Locale::English).starts_with(&format!("Interest: {shown} a month.")), "{told}");
    }
    checkout["installment_plans"][0]["interest_rate"] = Value::Null;
    checkout["installment_plans"][0]["total_amount"] = Value::Null;
    assert_eq!(terms(&checkout, Locale::English), "You pay THB\u{a0}426.94 each month.");
    checkout["installment_plans"][0]["monthly_amount"] = Value::Null;
    assert_eq!(terms(&checkout, Locale::English), "");
}

#[test]
fn every_mark_that_a_page_shows_is_drawn_on_it() {
    for (name, _, html) in all_pages() {
        let elements = elements(&html);
        let drawn: Vec<_> =
            elements_of_name(&elements, "symbol").iter().filter_map(|symbol| symbol.get("id")).collect();
        let shown = elements_of_name(&elements, "use").into_iter().filter_map(|mark| mark.get("href"));
        for mark in shown {
            assert!(mark.strip_prefix('#').is_some_and(|id| drawn.contains(&id)), "{name}: {mark}");
        }
    }
    let elements = english(&state_named("choosing"));
    let shown = elements_of_name(&elements, "use").into_iter().filter_map(|mark| mark.get("href"));
    assert_eq!(
        shown.filter(|mark| *mark == "#mark-VISA").count(),
        2,
        "among the marks of cards, and of the saved card"
    );
}

#[test]
fn the_badge_is_there_while_the_acquirer_plays_and_no_longer() {
    for (name, checkout) in states() {
        let html = |is_sandbox| hosted(&with(checkout.clone(), json!({ "is_sandbox": is_sandbox })), Locale::English);
        assert!(html(true).contains("class=\"badge\""), "{name}");
        assert!(!html(false).contains("class=\"badge\""), "{name}");
    }
}

#[test]
fn a_long_amount_has_smaller_letters() {
    for (minor, class) in
        [(123_450_u64, "amount "), (12_345_678_901, "amount long"), (123_456_789_012_345, "amount longest")]
    {
        let checkout = with(state_named("choosing"), json!({ "amount": minor }));
        assert!(hosted(&checkout, Locale::English).contains(&format!("class=\"{class}\"")), "{minor}");
    }
}

#[test]
fn the_card_number_has_no_name_so_no_form_sends_it() {
    let elements = english(&state_named("choosing"));
    let sent: Vec<_> = elements.iter().filter_map(|element| element.get("name")).collect();
    for name in &sent {
        let known = ["viewport", "color-scheme", "payment_method", "installment_plan_id", "action", "lang"];
        assert!(known.contains(name), "{name}");
    }
    assert!(sent.contains(&"installment_plan_id"));
}

#[test]
fn without_script_a_page_in_progress_loads_itself_again() {
    let refresh = |name: &str| {
        let elements = english(&state_named(name));
        let metas = elements_of_name(&elements, "meta").into_iter();
        metas
            .filter(|meta| meta.get("http-equiv").is_some())
            .filter_map(|meta| meta.get("content"))
            .map(str::to_owned)
            .next()
    };
    for name in ["processing", "confirm", "scan"] {
        assert_eq!(refresh(name).as_deref(), Some("5"), "{name}");
    }
    assert!(refresh("successful-now").is_some_and(|content| content.starts_with("2;url=https://shop.example/")));
    for name in ["choosing", "failed", "successful", "expired", "suspended"] {
        assert_eq!(refresh(name), None, "{name}");
    }
}

#[test]
fn the_time_left_is_shown_in_its_last_quarter_only() {
    let timer = |name: &str| {
        let elements = english(&state_named(name));
        elements.into_iter().find(|element| element.get("role") == Some("timer")).expect("a timer")
    };
    assert!(timer("scan").get("hidden").is_some());
    assert_eq!((timer("scan-late").get("hidden"), timer("scan-late").text.trim()), (None, "Time left 3:05"));
}

#[test]
fn saving_is_offered_only_where_the_shop_vouches() {
    let nothing = json!({ "offers_saving": false, "saved_cards": [] });
    assert!(!hosted(&with(state_named("choosing"), nothing), Locale::English).contains("save-card"));
}

#[test]
fn saved_cards_need_the_method_card() {
    let of = |methods: Value| with(state_named("choosing"), json!({ "payment_methods": methods }));
    let html = hosted(&of(json!(["PROMPTPAY"])), Locale::English);
    assert!(!html.contains("4242") && html.contains("PROMPTPAY"));
    assert!(hosted(&of(json!([])), Locale::English).contains(&Words::of(Locale::English).text(Message::NoMethod)));
}

#[test]
fn a_long_order_is_folded() {
    let mut checkout = state_named("choosing");
    let is_open = |checkout: &Value| elements_of_name(&english(checkout), "details")[0].get("open").is_some();
    assert!(is_open(&checkout));
    checkout["lines"] = vec![checkout["lines"][0].clone(); 100].into();
    assert!(!is_open(&checkout));
    checkout["lines"] = json!([]);
    assert!(elements_of_name(&english(&checkout), "details").is_empty());
}

#[test]
fn the_largest_page_is_small_enough() {
    let line = json!({ "name": "An article with a name of usual length", "amount": 1, "quantity": 2 });
    let largest = json!({ "amount": 9_007_199_254_740_991_u64, "lines": vec![line; 100] });
    let html = hosted(&with(state_named("choosing"), largest), Locale::Thai);
    let bytes = html.len() + assets::STYLE.len() + assets::CHECKOUT_SCRIPT.len();
    assert!(bytes <= BYTES_MAX, "{bytes}");
}
