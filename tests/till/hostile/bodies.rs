//! Hostile bodies: valid ones with a fault in them, random ones, and damaged bytes.

use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;

use super::nasties::{listed, nasties};
use crate::valid_calls::{DescribedEndpoint, object};

/// A call. Placeholders such as `@session@` in its body stand for objects of the server.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) package: String,
    pub(super) endpoint: String,
    pub(super) body: Vec<u8>,
    pub(super) idempotency_key: Option<String>,
}

impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body: String = String::from_utf8_lossy(&self.body).chars().take(2_000).collect();
        write!(formatter, "/{}/{} {:?} {body}", self.package, self.endpoint, self.idempotency_key)
    }
}

impl Case {
    /// A call without a name.
    pub(super) fn plain(endpoint: &DescribedEndpoint, body: Vec<u8>) -> Case {
        Case { package: endpoint.package.clone(), endpoint: endpoint.name.clone(), body, idempotency_key: None }
    }
}

/// Calls that are valid except for one argument, which has each of the difficult values for its name.
pub(super) fn difficult_calls(endpoint: &DescribedEndpoint) -> Vec<Case> {
    let cases = endpoint.arguments.iter().flat_map(|argument| {
        nasties(&argument.name).into_iter().map(|value| {
            let mut members = endpoint.members(&[]);
            members.retain(|(name, _)| *name != argument.name);
            members.push((argument.name.clone(), value));
            Case::plain(endpoint, object(members).into_bytes())
        })
    });
    cases.collect()
}

/// Bodies that no endpoint accepts.
pub(super) fn never_acceptable() -> Vec<Vec<u8>> {
    let deep = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels), "]".repeat(levels)).into_bytes();
    let mut bodies: Vec<Vec<u8>> =
        vec![deep(63), deep(64), deep(5_000), vec![b'{'; 5_000], vec![0xFF; 100], Vec::new()];
    bodies.extend(
        ["[]", "null", "\"x\"", "{\"\":1}", "{\"merchant_id\":1e999}", "{\"a\":1,\"a\":1}", "{"]
            .map(|text| text.as_bytes().to_vec()),
    );
    bodies.push([b"{\"name\":\"".as_slice(), &[0xED, 0xA0, 0x80], b"\"}"].concat());
    bodies.push(format!("{{\"{}\":1}}", "k".repeat(900_000)).into_bytes());
    bodies.push(
        format!("{{{}}}", (0..20_000).map(|number| format!("\"k{number}\":{{}}")).collect::<Vec<_>>().join(","))
            .into_bytes(),
    );
    bodies
}

/// A body of one byte more than any call may have.
pub(super) fn too_large() -> Vec<u8> {
    vec![b' '; (1 << 20) + 1]
}

/// Values that have broken other servers before, as JSON text.
const EXTREMES: &str = "\
    null | true | false | 0 | -0 | -1 | 1 | 3.0 | 1.5 | 1e3 | 1e308 | 1e309 | -1e400 | 1e-400 | 101 | \
    9007199254740991 | 9007199254740992 | -9007199254740992 | 9223372036854775807 | 9223372036854775808 | \
    18446744073709551615 | 18446744073709551616 | 1E999999999999 | 0.1e-999999999 | [] | {} | [[]] | [null] | \
    {\"a\":{}} | \"\" | \" \" | \"\\u0000\" | \"\\ud800\" | \"\\ud83d\\ude00\" | \"\u{202e}\" | \"\u{feff}\" | \
    \"\u{0301}\" | \"null\" | \"0\" | \"00\" | \"-1\" | \"+1\" | \"1e5\" | \"1.0\" | \"9007199254740992\" | \
    \"99999999999999999999999999\" | \"NaN\" | \"true\" | \"'; DROP TABLE payments; --\" | \
    \"../../../etc/passwd\" | \"%00\" | \"<script>alert(1)</script>\" | \"{{7*7}}\" | \"${jndi:ldap://a}\" | \
    \"pay_\" | \"pay_00000000000000000000000000\" | \"mer_7zzzzzzzzzzzzzzzzzzzzzzzzz\" | \
    \"mer_8zzzzzzzzzzzzzzzzzzzzzzzzz\" | \"PAY_01H455VB4PEX5VSKNK084SN02Q\" | \"ctc_01h455vb4pex5vsknk084sn02q\" | \
    \"crd_01h455vb4pex5vsknk084sn02q\" | \"tok_01h455vb4pex5vsknk084sn02q\" | \"a@b\" | \"@\" | \"+00000000000\" | \
    \"javascript:alert(1)\" | \"http://\" | \"https://[::1\" | \"00/00\" | \"13/49\" | \"12/00\" | \
    \"4242424242424241\"";

/// A hostile value as JSON text; not always JSON.
fn hostile() -> impl Strategy<Value = String> {
    let of_server = [
        "@merchant@",
        "@other@",
        "@session@",
        "@payment@",
        "@customer@",
        "@card@",
        "@token@",
        "@key@",
        "@topup@",
        "@entry@",
    ];
    let lengths = vec![254_usize, 255, 256, 2_047, 2_048, 2_049, 20_000];
    let letters = vec!["a", "é", "漢", "💳", "\u{0}", "9"];
    prop_oneof![
        6 => select(listed(EXTREMES)).prop_map(str::to_owned),
        2 => select(of_server.to_vec()).prop_map(|word| format!("\"{word}\"")),
        2 => (select(letters), select(lengths)).prop_map(|(letter,
            length)| Value::from(letter.repeat(length)).to_string()),
        2 => vec(any::<char>(), 0..40).prop_map(|text| Value::from(text.into_iter().collect::<String>()).to_string()),
        1 => any::<i64>().prop_map(|integer| integer.to_string()),
        1 => any::<f64>().prop_map(|double| format!("{double:e}")),
        1 => (1_usize..200).prop_map(|levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels))),
        2 => random_json().prop_map(|value| value.to_string()),
    ]
}

fn random_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        vec(any::<char>(), 0..12).prop_map(|text| Value::from(text.into_iter().collect::<String>())),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let name = vec(any::<char>(), 0..8).prop_map(|text| text.into_iter().collect::<String>());
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((name, inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The last change of a body's bytes.
#[derive(Debug, Clone)]
enum Damage {
    None,
    Cut(Index),
    Set(Index, u8),
    Insert(Index, Vec<u8>),
}

impl Damage {
    fn apply(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.is_empty() {
            return bytes;
        }
        match self {
            Damage::None => {}
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
        }
        bytes
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => any::<Index>().prop_map(Damage::Cut),
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        2 => (any::<Index>(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
    ]
}

fn seldom_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![9 => Just(Damage::None), 1 => damage()]
}

/// A valid body of an endpoint in which up to three arguments are hostile.
fn nearly_sound(endpoint: &DescribedEndpoint) -> BoxedStrategy<Vec<u8>> {
    let arguments = endpoint.arguments.clone();
    let difficult: Vec<Vec<String>> = arguments.iter().map(|argument| nasties(&argument.name)).collect();
    let choices = vec((any::<Index>(), any::<bool>(), any::<bool>()), arguments.len());
    let wrong = vec((any::<Index>(), hostile(), prop::option::of(any::<Index>())), 1..=3);
    let wrong = prop_oneof![2 => Just(Vec::new()), 3 => wrong];
    let unknown = prop_oneof![9 => Just(None), 1 => (vec(any::<char>(), 0..20), hostile()).prop_map(Some)];
    let twice = prop_oneof![19 => Just(None), 1 => any::<Index>().prop_map(Some)];
    (choices, wrong, unknown, twice)
        .prop_map(move |(choices, wrong, unknown, twice)| {
            let mut members: Vec<(String, String)> = Vec::new();
            for (argument, (value, first, second)) in arguments.iter().zip(choices) {
                if argument.required || (first && second) {
                    members.push((argument.name.clone(), value.get(&argument.valid).clone()));
                }
            }
            for (at, value, nasty) in wrong.into_iter().filter(|_| !arguments.is_empty()) {
                let place = at.index(arguments.len());
                let (name, nasties) = (&arguments[place].name, &difficult[place]);
                let nasty = nasty.filter(|_| !nasties.is_empty()).map(|at| at.get(nasties).clone());
                members.retain(|(known, _)| known != name);
                members.push((name.clone(), lasting(name, nasty.unwrap_or(value))));
            }
            if let Some(at) = twice.filter(|_| !members.is_empty()) {
                members.push(at.get(&members).clone());
            }
            members.extend(unknown.map(|(name, value)| (name.into_iter().collect(), value)));
            object(members).into_bytes()
        })
        .boxed()
}

/// A hostile value, but no time to live that ends while the cases run, because that would be a change without a call.
fn lasting(argument: &str, value: String) -> String {
    let ends_soon = value.parse::<f64>().is_ok_and(|seconds| (0.5..86_400.0).contains(&seconds));
    if argument == "ttl" && ends_soon { "0".to_owned() } else { value }
}

fn body(endpoint: &DescribedEndpoint) -> BoxedStrategy<Vec<u8>> {
    let names: Vec<String> =
        endpoint.arguments.iter().map(|argument| argument.name.clone()).chain(["x".to_owned()]).collect();
    prop_oneof![
        7 => nearly_sound(endpoint),
        2 => vec((select(names), hostile()).prop_map(|(name, value)| { let value = lasting(&name, value); (name,
            value) }), 0..8)
            .prop_map(|members| object(members).into_bytes()),
        1 => random_json().prop_map(|value| value.to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..200),
    ]
    .boxed()
}

fn case(endpoints: &[DescribedEndpoint]) -> BoxedStrategy<Case> {
    let endpoints = endpoints.to_vec();
    let bodies: Vec<(u32, BoxedStrategy<Case>)> = endpoints
        .into_iter()
        .map(|endpoint| {
            let key = prop_oneof![9 => Just(None), 1 => select(vec!["h1", "h2"]).prop_map(|key| Some(key.to_owned()))];
            // Endpoints with many rules are called most.
            let weight = if endpoint.arguments.len() > 10 { 5 } else { 1 };
            let cases = (body(&endpoint), seldom_damage(), key).prop_map(move |(body, damage, idempotency_key)| Case {
                idempotency_key,
                ..Case::plain(&endpoint, damage.apply(body))
            });
            (weight, cases.boxed())
        })
        .collect();
    proptest::strategy::Union::new_weighted(bodies).boxed()
}

/// Batches of calls to any endpoint.
pub(super) fn batches(endpoints: &[DescribedEndpoint], size: usize) -> impl Strategy<Value = Vec<Case>> {
    vec(case(endpoints), size)
}

/// A valid request with up to four changes of its bytes.
pub(super) fn raw_requests(request: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    vec(damage(), 1..=4)
        .prop_map(move |damages| damages.iter().fold(request.clone(), |bytes, damage| damage.apply(bytes)))
}
