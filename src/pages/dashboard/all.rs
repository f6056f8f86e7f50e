//! The pages of the dashboard.

use std::future::Future;
use std::sync::Arc;

use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{BrowserPage, PageDeclaration, PageReply, session_page};

use super::forms::FORMS;
use super::lists::{LISTS, OBJECTS};
use super::visit::Visit;
use super::{account, files, form, home, joining, list, payment, session};
use crate::access::MerchantCaller;

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
    pages.extend(FORMS.iter().map(|form| page(&form.page, form, form::open)));
    pages.extend(LISTS.iter().map(|list| page(&list.page, list, list::open)));
    pages.extend(OBJECTS.iter().map(|shown| page(&shown.page, shown, list::open_object)));
    pages.push(page(&payment::PAYMENT, (), payment::open));
    pages
}

/// A page of members who are signed in.
fn page<S, F, R>(declaration: &'static PageDeclaration, state: S, open: F) -> Page
where
    S: Copy + Send + Sync + 'static,
    F: Fn(S, Visit) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    session_page(declaration, state, move |state, request| async move {
        match Visit::begin(request).await? {
            Ok(visit) => open(state, visit).await,
            Err(reply) => Ok(reply),
        }
    })
}
