//! Members and their browsers, with cookies.

use std::cell::{Cell, RefCell};
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha1::Sha1;

use crate::harness::{RawAnswer, Server, Shop, Wire, merged};

pub(super) const PASSWORD: &str = "green-teapot-on-a-shelf-41";

/// A browser of somebody who may be signed in. It follows no redirect.
pub(super) struct Visitor {
    wire: Wire,
    origin: String,
    /// The session's cookie, `name=value`.
    pub(super) cookie: RefCell<Option<String>>,
}

impl Visitor {
    pub(super) fn of(server: &Server) -> Visitor {
        Visitor { wire: Wire::to(server), origin: server.public().to_owned(), cookie: RefCell::default() }
    }

    /// A browser at the admin listener.
    pub(super) fn of_operator(server: &Server) -> Visitor {
        let origin = server.admin_address().to_owned();
        Visitor { wire: Wire::new(&origin), origin, cookie: RefCell::default() }
    }

    /// The same from another address of this machine, 127.0.0.`last`.
    pub(super) fn from(&self, last: u8) -> Visitor {
        Visitor { wire: self.wire.from(last), origin: self.origin.clone(), cookie: self.cookie.clone() }
    }

    pub(super) fn get(&self, path: &str) -> RawAnswer {
        self.send("GET", path, &[], "")
    }

    /// Posts a form as a browser posts it from the page at this path.
    pub(super) fn post(&self, path: &str, fields: &[(&str, &str)]) -> RawAnswer {
        let headers = [("Origin", self.origin.as_str()), ("Sec-Fetch-Site", "same-origin")];
        self.post_with(path, &headers, fields)
    }

    pub(super) fn post_with(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> RawAnswer {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let headers = [&[("Content-Type", "application/x-www-form-urlencoded")], headers].concat();
        self.send("POST", path, &headers, &form)
    }

    pub(super) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> RawAnswer {
        let cookie = self.cookie.borrow().clone();
        let cookie = cookie.as_deref().map(|cookie| ("Cookie", cookie));
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        let host = self.origin.split_once("://").map(|(_, host)| ("Host", host)).filter(|_| !has_host);
        let headers: Vec<_> = headers.iter().copied().chain(cookie).chain(host).collect();
        let answer = self.wire.receive(method, path, &headers, body.as_bytes());
        if let Some(set) = answer.header("set-cookie") {
            let pair = set.split(';').next().unwrap_or_default();
            *self.cookie.borrow_mut() = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        answer
    }

    /// True when this browser's session goes on.
    pub(super) fn is_signed_in(&self, shop: &Shop) -> bool {
        let answer = self.get(&format!("/dashboard/{}/account", shop.merchant_id));
        assert!(matches!(answer.status, 200 | 303), "{answer:?}");
        answer.status == 200
    }
}

/// A member with what it signs in with.
pub(super) struct Seat {
    pub(super) merchant_id: String,
    pub(super) user_id: String,
    pub(super) email: String,
    pub(super) secret: Vec<u8>,
    pub(super) recovery_codes: Vec<String>,
    /// The recovery codes that were used.
    used: Cell<usize>,
}

impl Seat {
    /// Invites somebody with these arguments, who joins in a browser.
    pub(super) fn join(server: &Server, shop: &Shop, arguments: &Value) -> (Seat, Visitor) {
        let email = arguments["email"].as_str().expect("an address").to_owned();
        shop.call("invite-user", arguments).ok();
        let visitor = Visitor::of(server);
        let (seat, done) = Seat::set(&visitor, shop, &email, &invitation_path(shop));
        assert_eq!(done.status, 303, "{done:?}");
        (seat, visitor)
    }

    pub(super) fn owner(server: &Server, shop: &Shop) -> (Seat, Visitor) {
        Seat::join(server, shop, &json!({ "email": "ada@shop.example", "role_id": "OWNER" }))
    }

    /// Sets credentials at the address of an invitation or a reset.
    pub(super) fn set(visitor: &Visitor, shop: &Shop, email: &str, path: &str) -> (Seat, RawAnswer) {
        let scan = visitor.post(path, &[("step", "password"), ("password", PASSWORD), ("repeated", PASSWORD)]);
        let scan = text(&scan, 200);
        let secret = between(&scan, "this secret: <code>", "</code>").to_owned();
        let secret = from_base32(&secret);
        let draft = hidden(&scan, "draft");
        let confirmed = [("step", "code"), ("draft", &draft), ("code", &code_at(&secret, step_now()))];
        let shown = text(&visitor.post(path, &confirmed), 200);
        let recovery_codes: Vec<String> =
            shown.split("<li><code>").skip(1).filter_map(|rest| rest.split('<').next()).map(str::to_owned).collect();
        let done = visitor.post(path, &[("step", "done"), ("draft", &hidden(&shown, "draft"))]);
        let users = shop.all("list-users");
        let user = users.iter().find(|user| user["email"] == json!(email)).expect("a member");
        let seat = Seat {
            merchant_id: shop.merchant_id.clone(),
            user_id: user["user_id"].as_str().expect("an id").to_owned(),
            email: email.to_owned(),
            secret,
            recovery_codes,
            used: Cell::default(),
        };
        (seat, done)
    }

    pub(super) fn path(&self) -> String {
        format!("/dashboard/{}", self.merchant_id)
    }

    /// A code that was not used: a recovery code, so that no test waits for the next step.
    pub(super) fn fresh_code(&self) -> &str {
        self.used.set(self.used.get() + 1);
        &self.recovery_codes[self.used.get() - 1]
    }

    /// Signs in with this code.
    pub(super) fn sign_in_with(&self, visitor: &Visitor, code: &str) -> RawAnswer {
        visitor.post(&self.path(), &[("email", &self.email), ("password", PASSWORD), ("code", code)])
    }

    /// Signs in from a new browser.
    pub(super) fn signed_in(&self, server: &Server) -> Visitor {
        let visitor = Visitor::of(server);
        let answer = self.sign_in_with(&visitor, self.fresh_code());
        assert_eq!(answer.status, 303, "{answer:?}");
        visitor
    }

    /// The address at which this member sets its credentials anew.
    pub(super) fn reset_path(&self, shop: &Shop) -> String {
        let url = shop.call("reset-user-credentials", &json!({ "user_id": self.user_id })).ok();
        path_of(url.as_str().expect("an address"))
    }
}

/// The path of the newest invitation.
pub(super) fn invitation_path(shop: &Shop) -> String {
    path_of(shop.all("list-user-invitations")[0]["url"].as_str().expect("an address"))
}

pub(super) fn path_of(url: &str) -> String {
    format!("/{}", url.splitn(4, '/').nth(3).expect("an absolute address"))
}

/// The text of a page with this status.
#[track_caller]
pub(super) fn text(answer: &RawAnswer, status: u16) -> String {
    let text = String::from_utf8(answer.body.clone()).expect("a page is UTF-8");
    assert_eq!(answer.status, status, "{text}");
    text
}

#[track_caller]
pub(super) fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let rest = text.split_once(begin).unwrap_or_else(|| panic!("{begin} in {text}")).1;
    rest.split(end).next().unwrap_or_default()
}

/// The value of a hidden field.
#[track_caller]
pub(super) fn hidden(page: &str, name: &str) -> String {
    between(page, &format!("name=\"{name}\" value=\""), "\"").to_owned()
}

/// The present time step of authenticators.
pub(super) fn step_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() / 30
}

/// The code of an authenticator: RFC 6238.
pub(super) fn code_at(secret: &[u8], step: u64) -> String {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).expect("any length");
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let place = usize::from(digest[19] & 15);
    let bytes: [u8; 4] = digest[place..place + 4].try_into().expect("four bytes");
    format!("{:06}", (u32::from_be_bytes(bytes) & 0x7fff_ffff) % 1_000_000)
}

pub(super) fn from_base32(text: &str) -> Vec<u8> {
    let value = |character| "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(character).expect("base32") as u64;
    let groups: Vec<char> = text.chars().collect();
    let bits = |group: &[char]| group.iter().fold(0_u64, |bits, character| bits << 5 | value(*character));
    groups.chunks(8).flat_map(|group| bits(group).to_be_bytes()[3..].to_vec()).collect()
}

/// An invitation's arguments.
pub(super) fn invited(email: &str, more: &Value) -> Value {
    merged(&json!({ "email": email }), more)
}
