//! The pages of the dashboard.

use std::future::Future;
use std::sync::Arc;

use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{BrowserPage, PageDeclaration, PageReply, session_page};

use super::forms::FORMS;
use super::lists::{LISTS, OBJECTS};
use super::seat::MemberVisit;
use super::{account, files, home, joining, payment, session};
use crate::access::MerchantCaller;
use crate::pages::parts::{open_form, open_list, open_object};

type Page = Arc<dyn BrowserPage<MerchantCaller>>;

/// All of them. The first pattern that matches is taken: that of a form stands before that of an object.
pub(in crate::pages) fn pages() -> Vec<Page> {
    let mut pages = vec![
        session_page(&joining::INVITATION, "invitation", joining::open),
        session_page(&joining::CREDENTIALS, "credentials", joining::open),
        session_page(&session::SIGN_OUT, (), session::sign_out),
        page(&account::ACCOUNT, (), account::open),
        page(&home::FIRST, (), home::open),
        page(&files::PAYMENTS_FILE, (), files::export),
        page(&files::STATEMENT_FILE, (), files::statement),
    ];
    pages.extend(FORMS.iter().map(|form| page(&form.page, form, open_form)));
    pages.extend(LISTS.iter().map(|list| page(&list.page, list, open_list)));
    pages.extend(OBJECTS.iter().map(|shown| page(&shown.page, shown, open_object)));
    pages.push(page(&payment::PAYMENT, (), payment::open));
    pages
}

/// A page of members who are signed in.
fn page<S, F, R>(declaration: &'static PageDeclaration, state: S, open: F) -> Page
where
    S: Copy + Send + Sync + 'static,
    F: Fn(S, MemberVisit) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    session_page(declaration, state, move |state, request| async move {
        match session::signed_in(&request).await? {
            Ok(seat) => open(state, MemberVisit { request, seat, pattern: declaration.pattern }).await,
            Err(reply) => Ok(reply),
        }
    })
}
