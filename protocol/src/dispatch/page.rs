//! A page for a person's browser: its declaration, and a request for it.

use std::cell::OnceCell;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::form_urlencoded;

use super::call::Function;
use super::hooks::AuthenticatedCaller;
use super::idempotency_key;
use super::page_calls::PageCalls;
use super::page_cookies::PageCookies;
use super::page_reply::{PageAsset, PageReply};
use super::request_id::RequestId;
use crate::api_error::ApiError;
use crate::declaration::Declaration;

/// The declaration of a page.
#[derive(Debug)]
pub struct PageDeclaration {
    /// Its path, where a segment in braces stands for any text. It is the page's name in the log and in metrics, since
    /// the address itself may be a capability.
    pub pattern: &'static str,
    /// True when the page has a form, which is posted to its own address.
    pub has_form: bool,
}

/// A page: a declaration, and the function that makes it.
pub trait BrowserPage<C>: Send + Sync {
    /// The declaration.
    fn declaration(&self) -> &'static PageDeclaration;

    /// True when its visitors sign in: it knows their cookies, and takes forms of this server's own pages alone.
    fn has_session(&self) -> bool;

    /// Makes the page, or does what its form asks for. The future runs on the thread that took the request.
    fn open(&self, request: BrowserRequest<C>) -> LocalBoxFuture<'_, Result<PageReply, ApiError>>;
}

/// Makes a page of a declaration, the state of its function, and the function.
pub fn browser_page<C, S, F, R>(declaration: &'static PageDeclaration, state: S, function: F) -> Arc<dyn BrowserPage<C>>
where
    C: 'static,
    S: Clone + Send + Sync + 'static,
    F: Fn(S, BrowserRequest<C>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    Arc::new(DeclaredPage { declaration, has_session: false, state, function })
}

/// The same for a page whose visitors sign in.
pub fn session_page<C, S, F, R>(declaration: &'static PageDeclaration, state: S, function: F) -> Arc<dyn BrowserPage<C>>
where
    C: 'static,
    S: Clone + Send + Sync + 'static,
    F: Fn(S, BrowserRequest<C>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    Arc::new(DeclaredPage { declaration, has_session: true, state, function })
}

struct DeclaredPage<S, F> {
    declaration: &'static PageDeclaration,
    has_session: bool,
    state: S,
    function: F,
}

impl<C, S, F, R> BrowserPage<C> for DeclaredPage<S, F>
where
    S: Clone + Send + Sync,
    F: Fn(S, BrowserRequest<C>) -> R + Send + Sync,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    fn declaration(&self) -> &'static PageDeclaration {
        self.declaration
    }

    fn has_session(&self) -> bool {
        self.has_session
    }

    fn open(&self, request: BrowserRequest<C>) -> LocalBoxFuture<'_, Result<PageReply, ApiError>> {
        (self.function)(self.state.clone(), request).boxed_local()
    }
}

/// The pages of a listener.
pub struct BrowserPages<C> {
    /// Each of them.
    pub pages: Vec<Arc<dyn BrowserPage<C>>>,
    /// The functions that only pages call, beside those of the listener. No path leads to them.
    pub functions: Vec<Arc<dyn Function<C>>>,
    /// Files that pages load. Their names change with their content.
    pub assets: &'static [PageAsset],
    /// Makes the page of a refusal.
    pub refusal: fn(&ApiError, &RequestId) -> String,
}

impl<C> BrowserPages<C> {
    /// No pages.
    pub(super) const NONE: BrowserPages<C> =
        BrowserPages { pages: Vec::new(), functions: Vec::new(), assets: &[], refusal: |_, _| String::new() };

    /// True for a path that begins as that of a page or of a file does, in any letter case and with any number of
    /// slashes: who asks for it is a person, whose link may have been cut or changed.
    pub(super) fn begin_as(&self, path: &str) -> bool {
        let paths = self.pages.iter().map(|page| page.declaration().pattern);
        begins_as_one(path, paths.chain(self.assets.iter().map(|asset| (asset.path)())))
    }

    /// True for a path that begins as that of a page whose visitors sign in.
    pub(super) fn begins_as_of_session(&self, path: &str) -> bool {
        let pages = self.pages.iter().filter(|page| page.has_session());
        begins_as_one(path, pages.map(|page| page.declaration().pattern))
    }
}

/// True when a path has the first segment of one of these.
fn begins_as_one<'p>(path: &str, mut known: impl Iterator<Item = &'p str>) -> bool {
    let first = |path: &str| path.split('/').find(|segment| !segment.is_empty()).map(str::to_ascii_lowercase);
    first(path).is_some_and(|begun| known.any(|known| first(known).as_ref() == Some(&begun)))
}

/// The limit of fields of a form: contract, section 15.
const FORM_FIELDS_MAX: usize = 64;

/// The limit of bytes of the name of a field, as it is sent. No page has a longer one.
const FIELD_NAME_BYTES_MAX: usize = 64;

/// The form that a browser posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedForm(Vec<PostedField>);

/// A field of a form. Its value is decoded once it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PostedField {
    name: String,
    encoded: String,
    value: OnceCell<String>,
}

impl PostedField {
    /// The field in a part of a form; None when no page has one of its name.
    fn read(encoded: &str) -> Option<PostedField> {
        let name = encoded.split('=').next().filter(|name| name.len() <= FIELD_NAME_BYTES_MAX)?;
        let (name, _) = form_urlencoded::parse(name.as_bytes()).next()?;
        Some(PostedField { name: name.into_owned(), encoded: encoded.to_owned(), value: OnceCell::new() })
    }

    fn value(&self) -> &str {
        let decoded = || form_urlencoded::parse(self.encoded.as_bytes()).next().map(|(_, value)| value.into_owned());
        self.value.get_or_init(|| decoded().unwrap_or_default())
    }
}

impl PostedForm {
    /// True when a form has more fields than any page has. Nothing of it is read for that.
    pub(super) fn has_too_many_fields(bytes: &[u8]) -> bool {
        bytes.iter().filter(|byte| **byte == b'&').count() >= FORM_FIELDS_MAX
    }

    /// Reads a form in the media type `application/x-www-form-urlencoded`. None when its text is not UTF-8.
    pub(super) fn read(bytes: &[u8]) -> Option<PostedForm> {
        let text = std::str::from_utf8(bytes).ok()?;
        Some(PostedForm(text.split('&').filter_map(PostedField::read).collect()))
    }

    /// The only value of a field; None when there is none, or several.
    #[must_use]
    pub fn single(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|field| field.name == name).map(PostedField::value);
        values.next().filter(|_| values.next().is_none())
    }

    /// The names and values of all fields.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|field| (field.name.as_str(), field.value()))
    }
}

/// A request for a page that has passed every check before those of the page itself.
pub struct BrowserRequest<C> {
    pub(super) texts: Vec<String>,
    pub(super) query: String,
    pub(super) form: Option<PostedForm>,
    pub(super) accept_language: Option<String>,
    pub(super) origin: String,
    pub(super) path: String,
    pub(super) is_private: bool,
    pub(super) cookies: PageCookies,
    pub(super) calls: PageCalls<C>,
}

/// The field of a form whose value is the Idempotency-Key of the calls that change something.
pub const IDEMPOTENCY_FIELD: &str = "idempotency_key";

impl<C: AuthenticatedCaller> BrowserRequest<C> {
    /// The text at a segment in braces of the pattern, counted from 0.
    #[must_use]
    pub fn text(&self, place: usize) -> &str {
        self.texts.get(place).map_or("", String::as_str)
    }

    /// The first value of a name in the query.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<String> {
        let mut pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// The query as it came, without the question mark.
    #[must_use]
    pub fn whole_query(&self) -> &str {
        &self.query
    }

    /// The path of the address, as it came.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True when nobody between the browser and this server can read what they send: it came by TLS, `public_url` is an
    /// https address, or both are on one machine.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    /// The cookies of a page whose visitors sign in. Every other page knows none.
    #[must_use]
    pub fn cookies(&self) -> &PageCookies {
        &self.cookies
    }

    /// The address from which the browser comes.
    #[must_use]
    pub fn peer(&self) -> Option<IpAddr> {
        self.calls.peer
    }

    /// The languages that the browser asks for: the header `Accept-Language`.
    #[must_use]
    pub fn accept_language(&self) -> Option<&str> {
        self.accept_language.as_deref()
    }

    /// The address of this server as the browser reaches it, without a slash at its end.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The form, when the browser posted one.
    #[must_use]
    pub fn form(&self) -> Option<&PostedForm> {
        self.form.as_ref()
    }

    /// Makes a call inside the process, in the name of this caller, and reads its answer. The arguments are an object,
    /// as in a body. Where visitors sign in, a form's field [`IDEMPOTENCY_FIELD`] is the call's Idempotency-Key.
    ///
    /// # Errors
    /// The refusal of the call.
    pub async fn call(
        &self,
        declaration: &'static Declaration,
        caller: Option<C>,
        arguments: &Value,
    ) -> Result<Value, ApiError> {
        self.call_for(declaration, caller, arguments).await
    }

    /// The same, and reads of the answer what a type has.
    ///
    /// # Errors
    /// As [`BrowserRequest::call`].
    pub async fn call_for<T: DeserializeOwned>(
        &self,
        declaration: &'static Declaration,
        caller: Option<C>,
        arguments: &Value,
    ) -> Result<T, ApiError> {
        let form = self.form.as_ref().filter(|_| self.cookies.are_known());
        let key =
            form.filter(|_| declaration.flags.takes_idempotency_key).and_then(|form| form.single(IDEMPOTENCY_FIELD));
        let json = self.calls.call(declaration, caller, &self.origin, arguments, idempotency_key::of_text(key)).await?;
        serde_json::from_str(&json).map_err(|_| ApiError::unhandled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_counts_when_it_is_given_once() {
        let form = |text: &str| PostedForm::read(text.as_bytes()).expect("UTF-8");
        assert_eq!(form("a=1+2%2F&b=").single("a"), Some("1 2/"));
        assert_eq!((form("%61%62=1=2&").single("ab"), form("&&=1&a").single("a")), (Some("1=2"), Some("")));
        assert_eq!((form("b=").single("b"), form("a=1&a=1").single("a"), form("").single("a")), (Some(""), None, None));
        assert_eq!(form("a=1&b=%32&a=").fields().collect::<Vec<_>>(), [("a", "1"), ("b", "2"), ("a", "")]);
        assert_eq!(PostedForm::read(b"a=\xff"), None);
    }

    #[test]
    fn a_form_has_at_most_64_fields() {
        let of = |fields: usize| vec!["a"; fields].join("&");
        assert!(
            !PostedForm::has_too_many_fields(of(64).as_bytes()) && PostedForm::has_too_many_fields(of(65).as_bytes())
        );
    }
}
