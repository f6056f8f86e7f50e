//! The order in which a request for a page is judged: path, method, lengths of query and head, rate, origin, media
//! type, size, load, and then the page itself.

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, HOST, HeaderMap, ORIGIN};

use super::answer::Answer;
use super::body;
use super::concurrency::{HeldPermit, Permit};
use super::cross_origin;
use super::dispatcher::{Dispatcher, host_address};
use super::exchange::{Exchange, Incoming, RequestHead, header_text};
use super::hooks::{Arrival, AuthenticatedCaller};
use super::hosts::is_loopback;
use super::page::{BrowserPage, BrowserRequest, PostedForm};
use super::page_calls::PageCalls;
use super::page_cookies::PageCookies;
use super::page_reply::PageReply;
use crate::api_error::{ApiError, Code};
use crate::connection::ShareOf;
use crate::declaration::{Declaration, Flags, Package};

/// Pages count against the limits like calls of the SDK: of the address that asks for them.
static PAGE: Declaration =
    Declaration { name: "page", flags: Flags::OPEN_QUERY, ..Declaration::query(Package::Sdk, "") };

/// A form of a page.
static PAGE_FORM: Declaration = Declaration { name: "page", flags: Flags::OPEN_COMMAND, ..PAGE };

/// The header in which a browser says what kind of page caused a request (Fetch Metadata).
const SEC_FETCH_SITE: &str = "sec-fetch-site";

impl<C: AuthenticatedCaller> Dispatcher<C> {
    /// Checks a request for a page, from the length of its head on, and opens the page.
    pub(super) async fn page(
        &self,
        exchange: &Exchange<'_, C>,
        page: &Arc<dyn BrowserPage<C>>,
        texts: Vec<String>,
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ApiError> {
        refuse_long_head(&exchange.head).await?;
        let is_form = exchange.head.method == Method::POST;
        let declaration = if is_form { &PAGE_FORM } else { &PAGE };
        let arrival = Arrival { declaration, caller: None, peer: exchange.head.peer };
        self.gate.count(&arrival)?;
        let has_session = page.has_session();
        let form = if is_form { Some(self.form_bytes(exchange, has_session, incoming).await?) } else { None };
        let share = self.gate.share_of(&arrival);
        let permit = HeldPermit::new(self.permit_page(share, is_form).await?);
        let form = form.map(|bytes| read_form(bytes.as_bytes())).transpose()?;
        let query = exchange.head.query.to_owned();
        let accept_language = header_text(exchange.head.headers, &ACCEPT_LANGUAGE).map(str::to_owned);
        let calls = PageCalls {
            functions: Arc::clone(&self.page_functions),
            pool: self.pool.clone(),
            budget: self.body_budget.clone(),
            share,
            permit,
            request_id: exchange.request_id.clone(),
            peer: exchange.head.peer,
            log_subject: exchange.log_subject.clone(),
        };
        let cookies = PageCookies::of(has_session.then_some(exchange.head.headers));
        let (origin, path) = (self.origin(exchange), exchange.head.path.to_owned());
        let is_private = origin.starts_with("https://")
            || exchange.entrance.is_secure
            || header_text(exchange.head.headers, &HOST).is_some_and(is_loopback);
        let request = BrowserRequest {
            texts,
            query,
            form,
            accept_language,
            origin,
            path,
            is_private,
            cookies: cookies.clone(),
            calls,
        };
        let reply = page.open(request).await?;
        Ok(Answer::Page(PageReply { cookie: cookies.set(), ..reply }))
    }

    async fn form_bytes(
        &self,
        exchange: &Exchange<'_, C>,
        has_session: bool,
        incoming: &mut Incoming<'_>,
    ) -> Result<body::BodyBytes, ApiError> {
        let headers = exchange.head.headers;
        let is_own = if has_session {
            is_sent_from([Some(host_address(exchange).as_str()), self.public_url()], headers)
        } else {
            is_own_form(&exchange.head, self.public_host())
        };
        if !is_own {
            return Err(ApiError::new(Code::Forbidden, FOREIGN_FORM));
        }
        body::check_form_media_type(headers)?;
        let Incoming::Payload(payload) = incoming else { return Err(ApiError::unhandled()) };
        let bytes = body::read(headers, payload, &self.body_budget, &PAGE_FORM).await?;
        if PostedForm::has_too_many_fields(bytes.as_bytes()) {
            tokio::time::sleep(body::TOO_LARGE_PAUSE).await;
            return Err(ApiError::new(Code::BodyTooLarge, MANY_FIELDS));
        }
        Ok(bytes)
    }

    /// Takes a permit for a page, its form or a document, and waits for its turn: so no more of one caller's are ready
    /// to run at once than it may have permits.
    pub(super) async fn permit_page(&self, share: ShareOf, is_form: bool) -> Result<Permit, ApiError> {
        match &self.limits {
            Some(limits) => limits.permit_page(share, is_form).await,
            None => Ok(Permit::unlimited()),
        }
    }

    /// A file that pages load.
    pub(super) fn asset(&self, path: &str) -> Option<PageReply> {
        self.pages.assets.iter().find(|asset| (asset.path)() == path).map(PageReply::asset)
    }
}

/// The limits of a page's query, of its path, and of its headers together, in bytes: contract, section 15.
const QUERY_BYTES_MAX: usize = 8 * 1024;
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The refusals of what is longer, and of a form with more fields than any page has.
const LONG_QUERY: &str = "The address is longer than 8,192 bytes.";
const LONG_HEAD: &str = "The headers of the request are longer than 8,192 bytes.";
const MANY_FIELDS: &str = "The form has more than 64 fields.";

/// Refuses a request that no browser makes, after a pause: whoever sends such requests takes little time from others.
async fn refuse_long_head(head: &RequestHead<'_>) -> Result<(), ApiError> {
    let header_bytes: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    let refusal = match (head.query.len().max(head.path.len()) > QUERY_BYTES_MAX, header_bytes > HEAD_BYTES_MAX) {
        (false, false) => return Ok(()),
        (true, _) => ApiError::new(Code::AddressTooLong, LONG_QUERY),
        (false, true) => ApiError::new(Code::HeadTooLarge, LONG_HEAD),
    };
    tokio::time::sleep(body::TOO_LARGE_PAUSE).await;
    Err(refusal)
}

/// The refusal of a form that another site's page sent.
const FOREIGN_FORM: &str = "The form was sent by a page of another site.";

fn read_form(bytes: &[u8]) -> Result<PostedForm, ApiError> {
    let unread = || ApiError::new(Code::InvalidArguments, "The form cannot be read.");
    PostedForm::read(bytes).ok_or_else(unread)
}

/// False when a browser says that a page of another site sent the form. Pages say `Referrer-Policy: no-referrer`, with
/// which browsers send `Origin: null` for their forms, so `Sec-Fetch-Site` decides where it is sent. Programs that are
/// no browsers send neither.
fn is_own_form(head: &RequestHead<'_>, public_host: Option<&str>) -> bool {
    if let Some(site) = head.headers.get(SEC_FETCH_SITE) {
        return site == "same-origin" || site == "none";
    }
    if !head.headers.contains_key(ORIGIN) {
        return true;
    }
    let Some(origin) = cross_origin::origin(head.headers) else { return false };
    let host = origin.split_once("://").map(|(_, host)| host);
    origin == "null" || (host.is_some() && (host == header_text(head.headers, &HOST) || host == public_host))
}

/// True when a browser says that a page at one of these addresses sent the form. Where visitors sign in, a form that
/// does not say so is none of this server's: a browser names the origin of every form, and with the referrer policy of
/// these pages also where it came from this server itself.
fn is_sent_from(addresses: [Option<&str>; 2], headers: &HeaderMap) -> bool {
    let is_of_other_site = headers.get(SEC_FETCH_SITE).is_some_and(|site| site != "same-origin");
    let origin = cross_origin::origin(headers);
    !is_of_other_site && origin.is_some_and(|origin| addresses.contains(&Some(origin)))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn a_form_counts_when_no_browser_says_that_it_is_another_sites() {
        let own = |origin: Option<&'static str>, site: Option<&'static str>| {
            let named = [("host", Some("till.example:8080")), ("origin", origin), (SEC_FETCH_SITE, site)];
            let pairs = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
            let headers: HeaderMap =
                pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
            let head = RequestHead {
                method: &Method::POST,
                path: "/",
                query: "",
                headers: &headers,
                peer: None,
                connection: None,
            };
            is_own_form(&head, Some("pay.example"))
        };
        assert!(own(None, None) && own(Some("null"), None), "no browser, and an old one");
        assert!(own(Some("http://till.example:8080"), None) && own(Some("https://pay.example"), None));
        assert!(own(Some("null"), Some("same-origin")) && own(None, Some("none")), "what browsers send now");
        for foreign in ["http://till.example", "http://evil.example", "", "till.example:8080"] {
            assert!(!own(Some(foreign), None), "{foreign}");
        }
        for site in ["cross-site", "same-site", ""] {
            assert!(!own(Some("null"), Some(site)) && !own(None, Some(site)), "{site}");
        }
    }

    #[test]
    fn where_visitors_sign_in_a_form_names_the_address_called() {
        let own = |origin: Option<&'static str>, site: Option<&'static str>| {
            let pairs = [("origin", origin), (SEC_FETCH_SITE, site)].into_iter();
            let pairs = pairs.filter_map(|(name, value)| Some((name, value?)));
            let headers: HeaderMap =
                pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
            is_sent_from([Some("http://127.0.0.1:8080"), Some("https://pay.example")], &headers)
        };
        assert!(own(Some("http://127.0.0.1:8080"), None) && own(Some("https://pay.example"), Some("same-origin")));
        for foreign in ["null", "", "http://pay.example", "https://pay.example.evil.example", "http://127.0.0.1"] {
            assert!(!own(Some(foreign), None) && !own(Some(foreign), Some("same-origin")), "{foreign}");
        }
        for site in ["none", "same-site", "cross-site", ""] {
            assert!(!own(Some("https://pay.example"), Some(site)), "{site}");
        }
        assert!(!own(None, None) && !own(None, Some("same-origin")));
    }
}
