//! Who is signed in at pages, and the pages that such a person has.

use till_protocol::api_error::ApiError;
use till_protocol::declaration::{Declaration, ObjectType};
use till_protocol::dispatch::{AuthenticatedCaller, BrowserRequest};

use super::cell::Merchant;
use super::forms::FormPage;
use super::lists::{ListPage, Part};

/// The pages of one kind of visitors.
pub(in crate::pages) struct Site {
    /// The pattern of the first page. All others are below it.
    pub(in crate::pages) base: &'static str,
    /// The words for the first page in the navigation.
    pub(in crate::pages) first: &'static str,
    /// What the navigation has after the lists: words, and the path below the first page.
    pub(in crate::pages) last: &'static [(&'static str, &'static str)],
    pub(in crate::pages) lists: &'static [ListPage],
    pub(in crate::pages) parts: &'static [Part],
    pub(in crate::pages) forms: &'static [FormPage],
    /// The declaration of the call of a name.
    pub(in crate::pages) declared: fn(&str) -> Option<&'static Declaration>,
}

impl Site {
    /// The declaration of a call.
    pub(in crate::pages) fn declaration(&self, name: &str) -> Result<&'static Declaration, ApiError> {
        (self.declared)(name).ok_or_else(ApiError::unhandled)
    }

    /// The object that a call finds, or lists.
    pub(in crate::pages) fn object_of(&self, name: &str) -> Result<&'static ObjectType, ApiError> {
        self.declaration(name)?.returns.objects().first().copied().ok_or_else(ApiError::unhandled)
    }
}

/// Somebody who is signed in.
pub(in crate::pages) trait Seat {
    /// The caller in whose name pages make their calls.
    type Who: AuthenticatedCaller;

    /// The pages.
    const SITE: &'static Site;

    fn who(&self) -> Self::Who;

    /// The name above the navigation.
    fn name(&self) -> &str;

    /// Who is signed in, and as what.
    fn signed_in_as(&self) -> (&str, &str);

    /// The merchant whose amounts and times the page shows.
    fn merchant(&self) -> &Merchant;

    /// Refuses a call that the caller may not make.
    ///
    /// # Errors
    /// `FORBIDDEN`.
    fn check(&self, call: &str) -> Result<(), ApiError>;

    /// True when the caller may make a call.
    fn may(&self, call: &str) -> bool {
        self.check(call).is_ok()
    }

    /// True when a form that makes this call asks for a code of the authenticator. Without authenticators none does.
    fn asks_for_code(&self, _call: &str) -> bool {
        false
    }

    /// What is wrong with such a code; None when it is right. It is used up by that.
    ///
    /// # Errors
    /// `RATE_LIMITED` after too many wrong ones, and any other refusal.
    async fn fault_of_code(
        &self,
        _request: &BrowserRequest<Self::Who>,
        _code: &str,
    ) -> Result<Option<String>, ApiError> {
        Ok(None)
    }
}
