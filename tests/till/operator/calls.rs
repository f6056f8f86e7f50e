//! The operator's calls: contract, section 12.

use serde_json::{Value, json};

use crate::harness::{ApiAnswer, Server, Start, ids_of, merged, now_seconds};
use crate::valid_calls::{DescribedEndpoint, Fixture};

/// The id of a merchant that does not exist.
const NOBODY: &str = "mer_01h455vb4pex5vsknk084sn02q";
const NO_INSTALLATION: &str = "ins_01h455vb4pex5vsknk084sn02q";

fn named(server: &Server, key: &str, endpoint: &str, body: &Value) -> ApiAnswer {
    server.admin_client().idempotency_key(key).post(&format!("/admin/{endpoint}"), body)
}

fn merchant(server: &Server) -> String {
    server.admin("create-merchant", &json!({ "name": "Shop", "currency": "THB" })).id()
}

fn found(server: &Server, merchant: &str) -> Value {
    server.admin("find-merchant", &json!({ "merchant_id": merchant })).ok()
}

#[test]
fn a_merchant_is_created_with_its_defaults() {
    let server = Server::start();
    let before = now_seconds();
    let id = merchant(&server);
    assert!(id.starts_with("mer_") && id.len() == 30, "{id}");
    let found = found(&server, &id);
    let created_at = found["created_at"].as_u64().expect("seconds");
    assert!((before..=now_seconds()).contains(&created_at));
    let method = |name: &str| {
        json!({
            "payment_method": name, "acquirer": "sandbox", "enabled": true, "authorizes_without_capture": true,
            "fee_basis_points": 0, "fee_fixed": 0,
        })
    };
    let expected = json!({
        "merchant_id": id, "name": "Shop", "currency": "THB", "time_zone": "UTC", "settlement_delay_seconds": 172_800,
        "support_email": null, "suspended": false, "card_numbers_in_identifiers": false, "balance_open": false,
        "payment_methods": [method("CARD"), method("INSTALLMENT")], "test_clock": null, "created_at": created_at,
        "color": null,
    });
    assert_eq!(found, expected);
}

#[test]
fn a_merchant_keeps_everything_that_it_was_created_with() {
    let server = Server::start();
    let body = json!({
        "name": "ร้านค้า 💳", "currency": "JPY", "time_zone": "Asia/Bangkok", "settlement_delay_seconds": 0,
        "support_email": "Help@Till.example", "card_numbers_in_identifiers": true,
    });
    let id = server.admin("create-merchant", &body).id();
    let found = found(&server, &id);
    for member in ["name", "currency", "time_zone", "settlement_delay_seconds", "card_numbers_in_identifiers"] {
        assert_eq!(found[member], body[member]);
    }
    assert!(found["support_email"].as_str().is_some_and(|email| email.eq_ignore_ascii_case("help@till.example")));
}

#[test]
fn the_faults_of_a_new_merchant_come_at_once() {
    let server = Server::start();
    let body = json!({
        "name": "", "currency": "XXY", "time_zone": "Mars/Olympus", "settlement_delay_seconds": -1,
            "support_email": "x",
    });
    let expected = [
        "invalid name",
        "invalid currency",
        "invalid time_zone",
        "invalid settlement_delay_seconds",
        "invalid support_email",
    ];
    assert_eq!(server.admin("create-merchant", &body).faults(), expected);
    assert_eq!(server.admin("create-merchant", &json!({})).faults(), ["missing name", "missing currency"]);
    for code in ["XXX", "XTS", "XAU"] {
        let no_money = json!({ "name": "A", "currency": code });
        assert_eq!(server.admin("create-merchant", &no_money).faults(), ["invalid currency"], "{code}");
    }
    for zone in ["posixrules", "Factory", "localtime", "FACTORY", "Etc/Unknown", "posix/Asia/Bangkok", "zone.tab"] {
        let no_place = json!({ "name": "A", "currency": "THB", "time_zone": zone });
        assert_eq!(server.admin("create-merchant", &no_place).faults(), ["invalid time_zone"], "{zone}");
    }
    let year = json!({ "name": "A", "currency": "THB", "settlement_delay_seconds": 31_536_001 });
    assert_eq!(server.admin("create-merchant", &year).faults(), ["invalid settlement_delay_seconds"]);
    assert_eq!(server.admin("list-merchants", &json!({})).ok()["page"], json!([]));
}

#[test]
fn a_call_about_a_merchant_that_there_is_not_is_not_found() {
    let fixture = Fixture::start(Start::default());
    let is_about_one = |endpoint: &&DescribedEndpoint| {
        let mut arguments = endpoint.arguments.iter();
        endpoint.package == "admin" && arguments.any(|argument| argument.required && argument.name == "merchant_id")
    };
    let about_one: Vec<_> = fixture.endpoints.iter().filter(is_about_one).collect();
    assert!(about_one.len() > 20, "{about_one:?}");
    for endpoint in about_one {
        let body = fixture.arguments(endpoint, &[]);
        let of = |id: &str| fixture.call(endpoint, &merged(&body, &json!({ "merchant_id": id })));
        assert_eq!(of(NOBODY).refused("NOT_FOUND"), json!({ "argument": "merchant_id" }), "{}", endpoint.name);
        let malformed = of("pay_01h455vb4pex5vsknk084sn02q");
        assert_eq!(malformed.faults(), ["invalid merchant_id"], "{}", endpoint.name);
    }
}

#[test]
fn merchants_are_listed_from_the_newest_and_back() {
    let server = Server::start();
    let mut ids: Vec<String> = (0..7).map(|_| merchant(&server)).collect();
    ids.sort(); // Ids of two merchants from the same millisecond may have either order.
    ids.reverse();
    let ids_of = |page: &Value| ids_of(page, "merchant_id");
    let first = server.admin("list-merchants", &json!({ "per_page": 3 })).ok();
    assert_eq!((ids_of(&first), &first["previous"]), (ids[..3].to_vec(), &Value::Null));
    assert_eq!(first["next"], json!({ "after": ids[2], "per_page": 3 }));
    let second = server.admin("list-merchants", &first["next"]).ok();
    assert_eq!(
        (ids_of(&second), &second["previous"]),
        (ids[3..6].to_vec(), &json!({ "before": ids[3], "per_page": 3 }))
    );
    let last = server.admin("list-merchants", &second["next"]).ok();
    assert_eq!((ids_of(&last), &last["next"]), (ids[6..].to_vec(), &Value::Null));
    assert_eq!(ids_of(&server.admin("list-merchants", &second["previous"]).ok()), ids[..3]);
    let both = json!({ "after": ids[0], "before": ids[1] });
    assert_eq!(server.admin("list-merchants", &both).faults(), ["invalid before"]);
    assert_eq!(first["page"][0], found(&server, &ids[0]), "a page holds whole merchants");
}

#[test]
fn creating_a_merchant_twice_under_one_key_makes_one() {
    let mut server = Server::start();
    let body = json!({ "name": "Shop", "currency": "THB" });
    let first = named(&server, "once", "create-merchant", &body);
    assert_eq!(first.header("idempotent-replayed"), None);
    let id = first.id();
    let again = named(&server, "once", "create-merchant", &merged(&body, &json!({ "time_zone": null })));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.id(), id);
    named(&server, "once", "create-merchant", &json!({ "name": "Other", "currency": "THB" }))
        .refused("IDEMPOTENCY_KEY_REUSED");
    server.restart();
    let after = named(&server, "once", "create-merchant", &body);
    assert_eq!(after.header("idempotent-replayed"), Some("true"));
    assert_eq!(after.id(), id);
    assert_eq!(server.admin("list-merchants", &json!({})).ok()["page"].as_array().map(Vec::len), Some(1));
    assert_ne!(named(&server, "twice", "create-merchant", &body).id(), id);
}

#[test]
fn creating_a_merchant_often_at_once_under_one_key_makes_one() {
    let server = Server::start();
    let body = json!({ "name": "Shop", "currency": "THB" });
    let ids: Vec<String> = std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..8).map(|_| scope.spawn(|| named(&server, "race", "create-merchant", &body).id())).collect();
        calls.into_iter().map(|call| call.join().expect("no call panics")).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(server.admin("list-merchants", &json!({})).ok()["page"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_repeated_generate_key_shows_the_key_again() {
    let (mut server, id) = Server::with(merchant);
    let body = json!({ "merchant_id": id, "name": "Server", "expires_at": now_seconds() + 3_600 });
    let first = named(&server, "once", "generate-key", &body).ok();
    assert_eq!(first["name"], "Server");
    assert!(first["key_id"].as_str().is_some_and(|uid| uid.starts_with("key_")));
    let members: Vec<&String> = first.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["created_at", "key", "key_id", "name"]);
    let again = named(&server, "once", "generate-key", &body);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.ok(), first);
    server.restart();
    assert_eq!(named(&server, "once", "generate-key", &body).ok(), first);
    let key = first["key"].as_str().expect("a key");
    server.admin("open-balance", &json!({ "merchant_id": id })).ok();
    server.client().bearer(key).post("/merchants/get-balance", &json!({})).ok();
    let other = server.admin("generate-key", &body).ok();
    assert_ne!(other["key"], first["key"], "without the name of the call it is another key");
}

#[test]
fn a_key_must_end_in_the_future() {
    let (server, id) = Server::with(merchant);
    for past in [json!(0), json!(now_seconds() - 1), json!(-5), json!("tomorrow"), json!(1.5)] {
        let body = json!({ "merchant_id": id, "name": "A", "expires_at": past });
        assert_eq!(server.admin("generate-key", &body).faults(), ["invalid expires_at"], "{past}");
    }
}

#[test]
fn a_key_is_revoked_once_and_only_by_its_merchant() {
    let (server, shop, other) = Server::with_shops();
    let revoke =
        |merchant: &str| server.admin("revoke-key", &json!({ "merchant_id": merchant, "key_id": shop.key_id }));
    revoke(&other.merchant_id).refused("NOT_FOUND");
    shop.call("get-balance", &json!({})).ok();
    assert_eq!(revoke(&shop.merchant_id).ok(), true);
    assert_eq!(revoke(&shop.merchant_id).ok(), false);
    shop.call("get-balance", &json!({})).refused("UNAUTHORIZED");
}

#[test]
fn an_installation_is_added_only_for_known_platforms() {
    let (server, id) = Server::with(merchant);
    let body = |platform: &str, identifier: &str| {
        json!({ "merchant_id": id, "name": "Till 1", "platform": platform,
        "identifier": identifier })
    };
    for (platform, identifier) in [
        ("WEB", "https://shop.example"),
        ("IOS", "com.example.shop"),
        ("ANDROID", "com.example.shop"),
        ("TERMINAL", "SN-0001"),
    ] {
        let installation = server.admin("add-installation", &body(platform, identifier)).id();
        assert!(installation.starts_with("ins_"), "{installation}");
        let named = json!({ "merchant_id": id, "installation_id": installation });
        let settings = server.client().post("/sdk/retrieve-installation-settings", &named).ok();
        assert_eq!((&settings["platform"], &settings["installation_name"]), (&json!(platform), &json!("Till 1")));
        assert_eq!(offered(&settings), ["CARD", "INSTALLMENT"]);
    }
    assert_eq!(server.admin("add-installation", &body("web", "https://a.example")).faults(), ["invalid platform"]);
    assert_eq!(server.admin("add-installation", &body("IOS", "")).faults(), ["invalid identifier"]);
}

/// The names of the methods that a payment form shows.
fn offered(settings: &Value) -> Vec<&str> {
    let methods = settings["payment_methods"].as_array().expect("an array");
    methods.iter().map(|method| method["name"].as_str().expect("a name")).collect()
}

#[test]
fn a_web_installation_takes_only_an_origin_as_browsers_send_it() {
    let server = Server::start();
    let id = json!({ "merchant_id": merchant(&server), "name": "Web", "platform": "WEB" });
    for identifier in
        ["shop.example", "https://shop.example/", "https://SHOP.example", "*", "null", "javascript:alert(1)"]
    {
        let add = merged(&id, &json!({ "identifier": identifier }));
        assert_eq!(server.admin("add-installation", &add).faults(), ["invalid identifier"], "{identifier}");
    }
    let add = merged(&id, &json!({ "identifier": "https://SHOP.example/" }));
    let details = server.admin("add-installation", &add).details();
    let message = "is not an origin as browsers send it: send https://shop.example";
    assert_eq!(details[0]["message"], message);
    let add = merged(&id, &json!({ "platform": "web", "identifier": "shop.example" }));
    assert_eq!(server.admin("add-installation", &add).faults(), ["invalid platform"], "no form without a platform");
}

#[test]
fn installations_are_listed_changed_and_removed() {
    let (server, shop) = Server::with_shop();
    let merchant = json!({ "merchant_id": shop.merchant_id });
    let web = shop.installation_id.clone();
    let app = json!({ "name": "App", "platform": "IOS", "identifier": "a.b" });
    let app = server.admin("add-installation", &merged(&merchant, &app)).id();
    let list = || server.admin("list-installations", &merged(&merchant, &json!({ "per_page": 1 }))).ok();
    assert_eq!(list()["page"][0]["installation_id"], app.as_str(), "newest first");
    assert_eq!(list()["next"], merged(&merchant, &json!({ "after": app, "per_page": 1 })));
    let next = server.admin("list-installations", &list()["next"]).ok()["page"].clone();
    let found = json!([{
        "installation_id": web, "name": "Web shop", "platform": "WEB", "identifier": "https://shop.example",
        "created_at": next[0]["created_at"],
    }]);
    assert!(next == found && next[0]["created_at"].is_u64(), "{next}");
    let named = |installation: &str| merged(&merchant, &json!({ "installation_id": installation }));
    let update = |more: &Value| server.admin("update-installation", &merged(&named(&web), more));
    assert_eq!(update(&json!({ "identifier": "https://new.example/" })).faults(), ["invalid identifier"]);
    assert_eq!(update(&json!({ "identifier": "https://new.example" })).ok(), true);
    assert_eq!(update(&json!({ "identifier": "https://new.example", "name": "Web shop" })).ok(), false);
    let settings = |origin: &str| {
        let client = server.client().header("Origin", origin);
        client.post("/sdk/retrieve-installation-settings", &shop.named(&json!({})))
    };
    let reads = |origin: &str| settings(origin).header("access-control-allow-origin").is_some();
    assert!(reads("https://new.example") && !reads("https://shop.example"));
    let free = merged(&named(&app), &json!({ "identifier": "any text", "name": "Till 2" }));
    assert_eq!(server.admin("update-installation", &free).ok(), true, "only WEB has origins");
    assert_eq!(server.admin("remove-installation", &named(&web)).ok(), true);
    settings("https://new.example").refused("NOT_FOUND");
    for installation in [&web, NO_INSTALLATION] {
        server.admin("remove-installation", &named(installation)).refused("NOT_FOUND");
        server.admin("update-installation", &named(installation)).refused("NOT_FOUND");
    }
    assert_eq!(list()["page"][0]["name"], "Till 2");
}

#[test]
fn a_payment_method_is_offered_and_charged_as_configured() {
    let (server, shop) = Server::with_shop();
    let method = |more: &Value| server.configure(&shop, "CARD", more);
    assert_eq!(method(&json!({})).ok(), false, "nothing changed");
    assert_eq!(method(&json!({ "fee_basis_points": 365, "fee_fixed": 10 })).ok(), true);
    let payment = shop.pay(10_000);
    let fees = shop.call("find-payment", &json!({ "payment_id": payment })).ok()["fees"].clone();
    assert_eq!(fees, json!([{ "type": "PAYMENT_FEE", "amount": 375, "currency": "THB" }]));
    assert_eq!(method(&json!({ "enabled": false })).ok(), true);
    let settings = shop.sdk("retrieve-installation-settings", &json!({})).ok();
    assert_eq!(offered(&settings), ["INSTALLMENT"]);
    let token = shop.token_of(crate::harness::CARD, "SINGLE");
    let select = json!({ "amount": 5, "currency": "THB", "payment_method": "CARD", "token": token });
    shop.sdk("select-payment-method", &select).refused("NOT_SUPPORTED");
    for (member, wrong) in [
        ("payment_method", json!("CASH")),
        ("acquirer", json!("bank")),
        ("enabled", json!("true")),
        ("authorizes_without_capture", json!(1)),
        ("fee_basis_points", json!(10_001)),
        ("fee_fixed", json!(-1)),
    ] {
        assert_eq!(method(&json!({ member: wrong })).faults(), [format!("invalid {member}")]);
    }
}

#[test]
fn a_balance_is_opened_once() {
    let (server, id) = Server::with(merchant);
    let body = json!({ "merchant_id": id });
    assert_eq!(server.admin("open-balance", &body).ok(), true);
    assert_eq!(server.admin("open-balance", &body).ok(), false);
    assert_eq!(found(&server, &id)["balance_open"], true);
}

#[test]
fn a_topup_opens_the_balance_adds_to_it_and_is_listed() {
    let (server, id) = Server::with(merchant);
    let topup =
        server.admin("add-topup", &json!({ "merchant_id": id, "amount": "2500", "external_id": "transfer-1" })).id();
    assert!(topup.starts_with("tup_"));
    let key = server.admin("generate-key", &json!({ "merchant_id": id, "name": "A" })).ok();
    let client = server.client().bearer(key["key"].as_str().expect("a key"));
    let balance = client.post("/merchants/get-balance", &json!({})).ok();
    assert_eq!(balance, json!({ "currency": "THB", "available": 2_500, "pending": 0 }));
    let entry = client.post("/merchants/balance-history", &json!({})).ok()["page"][0].clone();
    assert_eq!((&entry["type"], &entry["direction"]), (&json!("ADD_PREFUND"), &json!("CREDIT")));
    assert_eq!((&entry["status"], &entry["topup_id"]), (&json!("EFFECTIVE"), &json!(topup)));
    assert!(entry["effective_at"].is_u64());
}

#[test]
fn a_topup_with_a_used_reference_is_a_conflict() {
    let server = Server::start();
    let (one, two) = (merchant(&server), merchant(&server));
    let body =
        |merchant: &str, amount: u64| json!({ "merchant_id": merchant, "amount": amount, "external_id": "transfer" });
    let first = named(&server, "k", "add-topup", &body(&one, 100)).id();
    let details = server.admin("add-topup", &body(&one, 200)).refused("CONFLICT");
    assert_eq!((&details["argument"], &details["topup_id"]), (&json!("external_id"), &json!(first)));
    assert_eq!(named(&server, "k", "add-topup", &body(&one, 100)).id(), first, "a repeated call is answered as before");
    server.admin("add-topup", &body(&two, 100)).ok();
    let own_form = json!({ "merchant_id": one, "amount": 1, "external_id": first });
    assert_eq!(server.admin("add-topup", &own_form).faults(), ["invalid external_id"]);
    for wrong in [
        json!(0),
        json!("0"),
        json!("-1"),
        json!("01"),
        json!("1e2"),
        json!("1.0"),
        json!(1.5),
        json!("9007199254740992"),
    ] {
        assert_eq!(
            server.admin("add-topup", &json!({ "merchant_id": one, "amount": wrong })).faults(),
            ["invalid amount"]
        );
    }
}

#[test]
fn a_merchant_may_be_allowed_identifiers_that_are_card_numbers() {
    let (mut server, shop) = Start::default().server_with_shop();
    let number = json!({ "external_id": "4242424242424242", "customer_id": "5555 5555 5555 4444" });
    let set = |server: &Server, allowed: Option<bool>| {
        let body = json!({ "merchant_id": shop.merchant_id, "card_numbers_in_identifiers": allowed });
        server.admin("update-merchant", &body).ok()
    };
    let refused = shop.initiate(&shop.session(300), 300, &number);
    assert_eq!(refused.faults(), ["invalid external_id", "invalid customer_id"]);
    assert_eq!([set(&server, None), set(&server, Some(true)), set(&server, Some(true))], [false, true, false]);
    server.restart();
    assert_eq!(found(&server, &shop.merchant_id)["card_numbers_in_identifiers"], true);
    let shop = shop.on(&server);
    shop.initiate(&shop.session(300), 300, &number).id();
    assert_eq!([set(&server, Some(false)), set(&server, None)], [true, false]);
    let again = json!({ "external_id": "4000000000000002" });
    assert_eq!(shop.initiate(&shop.session(300), 300, &again).faults(), ["invalid external_id"]);
    let faulty = json!({ "merchant_id": shop.merchant_id, "card_numbers_in_identifiers": "true" });
    assert_eq!(server.admin("update-merchant", &faulty).faults(), ["invalid card_numbers_in_identifiers"]);
}

#[test]
fn a_suspended_merchant_changes_nothing_until_it_is_resumed() {
    let (mut server, shop) = Start::default().server_with_shop();
    let payment = shop.pay(300);
    let session = shop.session(400);
    let id = json!({ "merchant_id": shop.merchant_id });
    assert_eq!(server.admin("suspend-merchant", &id).ok(), true);
    assert_eq!(server.admin("suspend-merchant", &id).ok(), false);
    let shop = server.restart_with(&shop);
    assert_eq!(found(&server, &shop.merchant_id)["suspended"], true);
    shop.initiate(&session, 400, &json!({})).refused("MERCHANT_SUSPENDED");
    let leaked = server.admin("generate-key", &merged(&id, &json!({ "name": "Leaked" }))).ok();
    assert_eq!(shop.call("revoke-key", &json!({ "key_id": leaked["key_id"] })).ok(), true);
    for (endpoint, body) in [
        ("retrieve-installation-settings", json!({})),
        ("list-installment-plans", json!({})),
        ("check-status", json!({ "payment_session_id": session })),
        ("discover-next-action", json!({ "payment_session_id": session })),
        ("retrieve-payment-session", json!({ "payment_session_id": session })),
        ("select-payment-method", json!({ "amount": 1, "currency": "THB", "payment_method": "CARD" })),
        (
            "tokenize-card",
            json!({
                "number": crate::harness::CARD, "name": "A", "expiration_date": "12/49", "security_code": "123",
                    "usage": "SINGLE",
            }),
        ),
    ] {
        shop.sdk(endpoint, &body).refused("MERCHANT_SUSPENDED");
    }
    for (endpoint, body) in [
        ("find-payment", json!({ "payment_id": payment })),
        ("list-activity-logs", json!({})),
        ("balance-history", json!({})),
        ("get-balance", json!({})),
    ] {
        shop.call(endpoint, &body).ok();
    }
    server.admin("add-topup", &merged(&id, &json!({ "amount": 5 }))).ok();
    assert_eq!(server.admin("resume-merchant", &id).ok(), true);
    assert_eq!(server.admin("resume-merchant", &id).ok(), false);
    shop.initiate(&session, 400, &json!({})).ok();
}
