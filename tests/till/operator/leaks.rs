//! Card numbers, security codes, customers and keys must not leak: a session with values that occur nowhere else, and
//! then a search through everything that the server wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::acquirers::account::{Account, DIVISOR, OF_NOTICES, PUBLIC_URL, start as calling};
use crate::acquirers::fake::StripeFake;
use crate::harness::{Client, PATIENCE, Server, Shop, first_answer, merged, temporary, thb};
use crate::pages::browser::Browser;

/// Numbers with a valid check digit that no other test and no table of test cards has.
/// Of American Express, whose codes have four digits.
const NUMBERS: [&str; 2] = ["347196052839162", "372649183055270"];
/// Two codes, because four digits may occur by chance, in a number of bytes or an id, but not both codes as separate
/// words.
const CODES: [&str; 2] = ["7391", "8264"];
const EMAIL: &str = "wilhelmina.quux@customers.example";
const MOBILE: &str = "+66873915520";
const NAME: &str = "Wilhelmina Quuxley";
/// The name on the cards.
const HOLDER: &str = "Zachariah Holderby";
/// A card number that is typed into other fields, as digits and as people write it.
const TYPED: [&str; 2] = ["5425233430109903", "5425 2334 3010 9903"];
/// Secrets of an account at an acquirer: the first ones, and those that replace them.
const ACCOUNT_SECRETS: [[&str; 2]; 2] = [
    ["sk_test_Quuxley5520Holderby1a", "whsec_Quuxley5520Holderby2b"],
    ["rk_test_Quuxley5520Holderby3c", "whsec_Quuxley5520Holderby4d"],
];
/// A card that is entered at an acquirer's page alone. It has a valid check digit.
const AT_PAGE: &str = "4539284617305521";
/// A value that the search must find: else the search would prove nothing.
const CONTROL: &str = "control-reference-5520";

/// Everything that the server wrote or answered, by its source.
struct WrittenTexts {
    places: Vec<(String, Vec<u8>)>,
}

impl WrittenTexts {
    fn of(data: &Path, log: &Path) -> WrittenTexts {
        let mut files = vec![log.to_owned()];
        collect(data, &mut files);
        let read = |file: PathBuf| (file.display().to_string(), fs::read(&file).unwrap_or_default());
        WrittenTexts { places: files.into_iter().map(read).collect() }
    }

    fn answered(metrics: String, answers: Vec<String>) -> WrittenTexts {
        let answers = answers.into_iter().map(|answer| (answer.clone(), answer.into_bytes()));
        WrittenTexts { places: answers.chain([("the metrics".to_owned(), metrics.into_bytes())]).collect() }
    }

    fn holding(&self, needle: &str) -> Vec<&str> {
        let holds =
            |text: &[u8]| text.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle.as_bytes()));
        self.places.iter().filter(|(_, text)| holds(text)).map(|(place, _)| place.as_str()).collect()
    }

    /// The sources that contain the needle as a separate word, not as a part of a longer word or number.
    fn holding_word(&self, needle: &str) -> Vec<&str> {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
        let holds = |text: &[u8]| {
            let starts = text.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle.as_bytes());
            starts.into_iter().any(|(at, _)| {
                !is_word(at.checked_sub(1).and_then(|before| text.get(before))) && !is_word(text.get(at + needle.len()))
            })
        };
        self.places.iter().filter(|(_, text)| holds(text)).map(|(place, _)| place.as_str()).collect()
    }

    #[track_caller]
    fn is_clean(&self, secrets: &[&str]) {
        for secret in secrets {
            assert_eq!(self.holding(secret), Vec::<&str>::new(), "{secret}");
        }
        let both: Vec<Vec<&str>> = CODES.iter().map(|code| self.holding_word(code)).collect();
        assert!(both.iter().any(Vec::is_empty), "security codes in {both:?}");
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of ours can be read").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn customer() -> Value {
    json!({ "customer_id": "their-own-id", "customer_email": EMAIL, "customer_mobile": MOBILE, "customer_name": NAME })
}

fn card(number: &str, code: &str) -> Value {
    json!({
        "number": number, "name": HOLDER, "expiration_date": "11/48", "security_code": code, "usage": "MULTIPLE",
    })
}

/// Payments with these values, in valid and in faulty calls; returns all answers except those that may show a value.
fn session(server: &Server, shop: &Shop, round: u32) -> Vec<String> {
    let mut answers = Vec::new();
    for (number, code) in NUMBERS.iter().zip(CODES) {
        let token = shop.sdk("tokenize-card", &card(number, code)).id();
        let more = merged(&customer(), &json!({ "token": token }));
        let selected = shop.session_with(1_000, &more);
        let paid = merged(
            &customer(),
            &json!({ "external_id": format!("{CONTROL}-{number:.2}-{round}"), "save_card": "DEFAULT" }),
        );
        let payment = shop.initiate(&selected, 1_000, &paid).id();
        shop.settled(&payment);
        answers.push(token);
        answers.push(payment);
        answers.extend(badly(server, shop, number, code));
    }
    answers
}

/// Calls with these values in the wrong arguments.
fn badly(server: &Server, shop: &Shop, number: &str, code: &str) -> Vec<String> {
    let client = server.client();
    let mut bodies = vec![
        merged(&card(number, code), &json!({ "expiration_date": number })),
        merged(&card(&format!("{number}9"), code), &json!({ "usage": number })),
        merged(&card(number, number), &json!({ "name": "" })),
        merged(&card(code, code), &json!({ "number": [number], "security_code": { "x": number } })),
        json!({ "token": number, "amount": number, "payment_method": number, "currency": code,
            "customer_email": NAME }),
    ];
    bodies.push(merged(
        &customer(),
        &json!({ "payment_session_id": number, "customer_mobile": number, "card_id": number }),
    ));
    let mut answers: Vec<String> = Vec::new();
    for body in &bodies {
        for endpoint in ["tokenize-card", "select-payment-method", "check-status"] {
            answers.push(shop.sdk(endpoint, body).body.to_string());
        }
        answers.push(shop.call("initiate-payment-flow", body).body.to_string());
    }
    for path in [format!("/sdk/{number}"), format!("/{number}/sdk/tokenize-card"), format!("/{}/merchants", shop.key)] {
        answers.push(client.post(&path, &json!({})).body.to_string());
    }
    let in_query = format!("/merchants/get-balance?key={}&card={number}&api_version={number}", shop.key);
    answers.push(client.post(&in_query, &json!({})).body.to_string());
    answers.push(client.clone().bearer(number).post("/merchants/get-balance", &json!({})).body.to_string());
    answers
        .push(client.clone().header("Api-Version", number).post("/merchants/get-balance", &json!({})).body.to_string());
    // Names of arguments are answered to their caller, and appear nowhere else.
    shop.sdk("tokenize-card", &json!({ number: 1, NAME: 1 })).refused("INVALID_ARGUMENTS");
    let half = format!("{{\"number\":\"{number}\",\"security_code\":\"{code}\"");
    answers.push(client.post_bytes("/sdk/tokenize-card", half.as_bytes()).body.to_string());
    answers
}

/// The secret of a checkout whose page was opened and whose calls were made, well and badly, and which is paid.
fn checkout_secret(server: &Server, shop: &Shop) -> String {
    let body = json!({
        "installation_id": shop.installation_id, "amount": "1000", "currency": "THB",
        "return_url": "https://shop.example/done", "page_url": "https://shop.example/pay",
    });
    let client = shop.client().idempotency_key("one checkout");
    let url = client.post("/merchants/start-checkout", &body).id();
    let reference = url.rsplit('/').next().expect("a segment").to_owned();
    let named = |more: Value| merged(&json!({ "checkout_id": reference }), &more);
    shop.sdk("retrieve-checkout", &named(json!({}))).ok();
    shop.sdk("pay-checkout", &named(json!({ "payment_method": "PROMPTPAY" }))).refused("NOT_SUPPORTED");
    let browser = Browser::of(server);
    let path = url.strip_prefix(PUBLIC_URL).expect("an address of the server");
    assert_eq!(browser.get(path).status, 200);
    assert_eq!(browser.get(&format!("{path}x/")).status, 404);
    let plan = json!({ "payment_method": "INSTALLMENT", "installment_plan_id": "sandbox_3_months" });
    shop.sdk("pay-checkout", &named(plan)).id();
    let found = || shop.call("find-checkout", &json!({ "checkout_id": reference })).ok();
    first_answer(PATIENCE, "it is paid", found, |checkout| checkout["status"] == "COMPLETED");
    reference.split_once('.').expect("an id and a secret").1.to_owned()
}

/// Calls about an account at an acquirer with its secrets, well and badly.
fn account(server: &Server, shop: &Shop) -> Vec<String> {
    let [[secret, of_notices], [next, next_of_notices]] = ACCOUNT_SECRETS;
    let body = json!({
        "merchant_id": shop.merchant_id, "acquirer": "stripe", "name": "Bangkok", "secret": secret,
        "webhook_secret": of_notices, "unchecked": true,
    });
    let client = server.admin_client().idempotency_key("one account");
    let id = client.post("/admin/add-acquirer", &body).id();
    let mut answers = vec![client.post("/admin/add-acquirer", &body).body.to_string()];
    let named = json!({ "merchant_id": shop.merchant_id, "acquirer_id": id });
    let change = json!({ "secret": next, "webhook_secret": next_of_notices, "unchecked": true });
    for (endpoint, more) in [
        ("add-acquirer", merged(&body, &json!({ "unchecked": false }))),
        ("add-acquirer", merged(&body, &json!({ "acquirer": secret, "name": [secret], "unchecked": of_notices }))),
        ("add-acquirer", merged(&body, &json!({ "secret": format!("a {secret}"), "webhook_secret": [of_notices] }))),
        ("update-acquirer", merged(&named, &json!({ "secret": next }))),
        ("update-acquirer", merged(&named, &change)),
        ("find-acquirer", named.clone()),
        ("list-acquirers", json!({ "merchant_id": shop.merchant_id })),
    ] {
        answers.push(server.admin(endpoint, &more).body.to_string());
    }
    answers
}

/// Payments at accounts of an acquirer, by the numbers of cards and at the acquirer's page: all answers, and the
/// secrets, the page's address among them, which only `find-payment` shows.
fn at_acquirer(server: &Server, fake: &StripeFake) -> (Vec<String>, Vec<String>) {
    let [by_number, at_page] = ["NUMBER", "PAGE"].map(|entry| Account::open(server, fake, entry, &json!({})));
    let answers = session(server, &by_number.shop, 3);
    let selected = at_page.shop.session_with(20_000, &json!({}));
    let payment = at_page.shop.initiate(&selected, 20_000, &json!({})).id();
    let page = at_page.asked(&payment);
    fake.remote().enter_card(&page, AT_PAGE);
    at_page.shop.settled(&payment);
    (answers, vec![by_number.secret, at_page.secret, page])
}

/// Card numbers in every field that is stored in clear: the call, and the faulty argument.
fn typed(server: &Server, shop: &Shop, number: &str) -> Vec<String> {
    let (session, merchant) = (shop.session(1_000), json!({ "merchant_id": shop.merchant_id }));
    let of_merchant = |more: Value| merged(&merchant, &more);
    let name = format!("Ada {number}.");
    let initiate = |more: Value| ("/merchants/initiate-payment-flow", merged(&shop.initiation(&session, 1_000), &more));
    let select = merged(&thb(1_000), &json!({ "payment_method": "CARD", "customer_name": name, "customer_id": "a" }));
    let installation = json!({ "name": "A", "platform": "TERMINAL", "identifier": "a" });
    let bodies = [
        (initiate(json!({ "external_id": number })), "external_id"),
        (initiate(json!({ "customer_id": number })), "customer_id"),
        (initiate(json!({ "card_id": number })), "card_id"),
        (initiate(json!({ "customer_name": name })), "customer_name"),
        (initiate(json!({ "return_url": format!("https://shop.example/{}", number.replace(' ', "+")) })), "return_url"),
        (("/sdk/tokenize-card", shop.named(&merged(&card(NUMBERS[0], CODES[0]), &json!({ "name": name })))), "name"),
        (("/sdk/select-payment-method", shop.named(&select)), "customer_name"),
        (("/merchants/generate-key", json!({ "name": name })), "name"),
        (("/merchants/sync-metadata", json!({ "key": number, "metadata": 1 })), "key"),
        (("/merchants/sync-metadata", json!({ "key": "a", "metadata": { "b": [number] } })), "metadata"),
        (("/merchants/add-to-metadata-set", json!({ "key": "a", "path": number, "value": 1 })), "path"),
        (("/merchants/add-to-metadata-set", json!({ "key": "a", "value": { number: 1 } })), "value"),
        (("/admin/create-merchant", json!({ "name": name, "currency": "THB" })), "name"),
        (("/admin/generate-key", of_merchant(json!({ "name": name }))), "name"),
        (("/admin/add-installation", of_merchant(merged(&installation, &json!({ "name": name })))), "name"),
        (
            ("/admin/add-installation", of_merchant(merged(&installation, &json!({ "identifier": number })))),
            "identifier",
        ),
        (("/admin/add-topup", of_merchant(json!({ "amount": 1, "external_id": number }))), "external_id"),
    ];
    let client = |path: &str| if path.starts_with("/admin") { server.admin_client() } else { shop.client() };
    let refused = |path: &str, client: Client, body: &Value, argument: &str| {
        let answer = client.post(path, body);
        assert_eq!(answer.faults(), [format!("invalid {argument}")], "{path} {body}");
        answer.body.to_string()
    };
    let mut answers: Vec<String> =
        bodies.iter().map(|((path, body), argument)| refused(path, client(path), body, argument)).collect();
    let (path, body) = initiate(json!({}));
    answers.push(refused(path, shop.client().idempotency_key(number), &body, "Idempotency-Key"));
    let traced =
        shop.client().header("X-Request-Id", &number.replace(' ', "-")).post("/merchants/get-balance", &json!({}));
    answers.push(traced.header("x-request-id").expect("every answer has one").to_owned());
    answers
}

#[test]
fn no_card_code_customer_or_key_is_in_a_log_or_a_file() {
    let (_directory, [log]) = temporary(["log"]);
    let fake = StripeFake::start();
    let start =
        calling(&fake, DIVISOR).with("TILL_LOG_FILTER", "trace").with("TILL_LOG_FORMAT", "json").recording(&log);
    let (mut server, shop) = start.server_with_shop();
    let named = server.admin_client().idempotency_key("kept");
    let kept = named.post("/admin/generate-key", &json!({ "merchant_id": shop.merchant_id, "name": "Kept" })).ok();
    let kept = kept["key"].as_str().expect("a key").to_owned();
    let secret = checkout_secret(&server, &shop);
    let mut answers = session(&server, &shop, 1);
    TYPED.iter().for_each(|number| answers.extend(typed(&server, &shop, number)));
    answers.extend(account(&server, &shop));
    let (answered, of_acquirer) = at_acquirer(&server, &fake);
    answers.extend(answered);
    let metrics = server.metrics();
    let vault_key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let keys = [shop.key.as_str(), kept.as_str(), "admin-token-of-a-test", vault_key];
    let dashed = TYPED[1].replace(' ', "-");
    let personal =
        [NUMBERS[0], NUMBERS[1], TYPED[0], TYPED[1], &dashed, EMAIL, MOBILE, NAME, "Wilhelmina", HOLDER, "Holderby"];
    let mut secrets =
        [keys.as_slice(), &personal, &[&secret, AT_PAGE, OF_NOTICES], ACCOUNT_SECRETS.as_flattened()].concat();
    secrets.extend(of_acquirer.iter().map(String::as_str));
    WrittenTexts::answered(metrics, answers).is_clean(&secrets);
    server.kill();
    let written = WrittenTexts::of(server.data(), &log);
    let controls = written.holding(CONTROL);
    assert!(controls.iter().any(|place| place.contains("/db/")), "the search finds what is there: {controls:?}");
    assert!(!written.holding("/sdk/tokenize-card").is_empty(), "the log was kept");
    written.is_clean(&secrets);
    server.restart();
    session(&server, &shop.on(&server), 2);
    assert!(server.stop());
    WrittenTexts::of(server.data(), &log).is_clean(&secrets);
}
