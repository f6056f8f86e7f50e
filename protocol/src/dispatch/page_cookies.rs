//! The cookies of a page whose visitors sign in.

use std::cell::RefCell;
use std::rc::Rc;

use actix_web::http::header::{COOKIE, HeaderMap};

/// The cookies that the browser sent, and the one that the page's answer sets. Clones share both.
#[derive(Debug, Clone, Default)]
pub struct PageCookies {
    /// The value of the header; None where visitors do not sign in.
    sent: Option<Rc<str>>,
    set: Rc<RefCell<Option<String>>>,
}

impl PageCookies {
    pub(super) fn of(headers: Option<&HeaderMap>) -> PageCookies {
        let sent = headers.map(|headers| headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default());
        PageCookies { sent: sent.map(Rc::from), set: Rc::default() }
    }

    /// True where visitors sign in.
    pub(super) fn are_known(&self) -> bool {
        self.sent.is_some()
    }

    /// The value of a cookie that the browser sent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let pairs = self.sent.as_deref()?.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Sets a cookie with the page's answer, unless that is a refusal: for this host alone, with TLS or on the same
    /// machine, in no script and in no form of another site, until the browser ends. Name and value are letters,
    /// digits, `-` and `_`.
    pub fn keep(&self, name: &str, value: &str) {
        *self.set.borrow_mut() = Some(format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax"));
    }

    /// Makes the browser forget a cookie.
    pub fn forget(&self, name: &str) {
        *self.set.borrow_mut() = Some(format!("{name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax"));
    }

    pub(super) fn set(&self) -> Option<String> {
        self.set.take()
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_static("a=1; __Host-b=x=y;c="));
        let cookies = PageCookies::of(Some(&headers));
        assert_eq!((cookies.get("a"), cookies.get("__Host-b"), cookies.get("c")), (Some("1"), Some("x=y"), Some("")));
        assert_eq!((cookies.get("b"), cookies.get(""), PageCookies::of(None).get("a")), (None, None, None));
    }

    #[test]
    fn the_answer_sets_the_last_cookie_that_the_page_kept() {
        let cookies = PageCookies::of(None);
        assert_eq!(cookies.set(), None);
        cookies.keep("__Host-a", "1");
        assert_eq!(cookies.set().as_deref(), Some("__Host-a=1; Path=/; Secure; HttpOnly; SameSite=Lax"));
        cookies.keep("a", "1");
        cookies.forget("a");
        assert_eq!(cookies.clone().set().as_deref(), Some("a=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax"));
    }
}
