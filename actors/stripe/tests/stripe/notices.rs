//! Notices as the fake sends and signs them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use till_actors::acquirer::{Connector, NamedCall, Notice, NoticeRefused, PaymentStep};
use till_domain::time::Millis;

use crate::shop::{GOOD_CARD, Means, Shop, connector_to};

const SECRET: &str = "whsec_of_the_shop";

/// A notice as it came: its body and its signature.
struct Taken {
    body: Vec<u8>,
    signature: String,
}

/// Takes one request.
fn take(listener: &TcpListener) -> Taken {
    let (stream, _) = listener.accept().expect("a notice comes");
    let mut reader = BufReader::new(&stream);
    let (mut length, mut signature) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        let Some((name, value)) = line.trim().split_once(": ") else {
            if line.trim().is_empty() {
                break;
            }
            continue;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().expect("a number"),
            "stripe-signature" => signature = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the whole body");
    (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue").expect("it is read");
    Taken { body, signature }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

impl Taken {
    fn read_at(&self, secret: &str, now: u64) -> Result<Option<NamedCall>, NoticeRefused> {
        read(&self.body, &self.signature, secret, now)
    }
}

fn read(body: &[u8], signature: &str, secret: &str, now: u64) -> Result<Option<NamedCall>, NoticeRefused> {
    let now = Millis(0).plus_seconds(now);
    connector_to("http://127.0.0.1:1").read_notice(&Notice { body, signature, secret, now })
}

#[tokio::test]
async fn a_genuine_notice_names_its_call_and_no_other_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/notices", listener.local_addr().expect("an address"));
    let shop = Shop::open();
    let webhook =
        json!({ "url": url, "secret": SECRET, "enabled_events": ["payment_intent.succeeded", "refund.created"] });
    shop.fake.control("POST", "accounts", &json!({ "account": shop.account, "webhook": webhook }));
    let (payment, own) = shop.paid(shop.payment(Means::Number(GOOD_CARD))).await;
    let notice = take(&listener);
    let authorization = Some(NamedCall::first(payment.id, PaymentStep::Authorize));
    for at in [now(), now() + 290, now() - 290] {
        assert_eq!(notice.read_at(SECRET, at), Ok(authorization));
    }
    for (secret, at) in [("whsec_of_another", now()), (SECRET, now() + 310), (SECRET, now() - 310)] {
        assert_eq!(notice.read_at(secret, at), Err(NoticeRefused));
    }
    let changed = Taken { body: notice.body.iter().rev().copied().collect(), signature: notice.signature.clone() };
    assert_eq!(changed.read_at(SECRET, now()), Err(NoticeRefused));
    let step = shop.refund_step();
    shop.act(payment.refund(step, &own, 100)).await;
    assert_eq!(take(&listener).read_at(SECRET, now()), Ok(Some(NamedCall::first(payment.id, step))));
    for (signature, is_read) in [("two", true), ("v0", false), ("wrong", false)] {
        shop.fake.control("POST", "notices/send", &json!({ "object": own, "signature": signature }));
        let read = take(&listener).read_at(SECRET, now());
        assert_eq!(read.is_ok(), is_read, "{signature}: {read:?}");
    }
}

#[test]
fn what_is_no_signature_is_refused() {
    for signature in ["", "t=1", "v1=00", "t=x,v1=00", "t=1,v1=", "t=1,v1=zz", "t,v1", "t=-1,v1=00", "\u{e9}=1"] {
        assert_eq!(read(b"{}", signature, SECRET, 1), Err(NoticeRefused), "{signature}");
    }
}
