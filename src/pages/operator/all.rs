//! The pages of the operator.

use std::future::Future;
use std::sync::Arc;

use till_protocol::api_error::ApiError;
use till_protocol::dispatch::{BrowserPage, PageDeclaration, PageReply, session_page};

use super::seat::OperatorVisit;
use super::tables::{FORMS, LISTS, OBJECTS};
use super::{merchant, overview, session};
use crate::access::Operator;
use crate::pages::parts::{open_form, open_list, open_object};

type Page = Arc<dyn BrowserPage<Operator>>;

/// All of them, with the settings in force as text. The first pattern that matches is taken.
pub(in crate::pages) fn pages(settings: &str) -> Vec<Page> {
    let mut pages = vec![
        session_page(&session::SIGN_OUT, (), session::sign_out),
        page(&overview::OVERVIEW, Arc::<str>::from(settings), overview::open),
    ];
    pages.extend(FORMS.iter().map(|form| page(&form.page, form, open_form)));
    pages.extend(LISTS.iter().map(|list| page(&list.page, list, open_list)));
    pages.extend(OBJECTS.iter().map(|shown| page(&shown.page, shown, open_object)));
    pages.push(page(&merchant::MERCHANT, (), merchant::open));
    pages
}

/// A page of the operator who is signed in.
fn page<S, F, R>(declaration: &'static PageDeclaration, state: S, open: F) -> Page
where
    S: Clone + Send + Sync + 'static,
    F: Fn(S, OperatorVisit) -> R + Copy + Send + Sync + 'static,
    R: Future<Output = Result<PageReply, ApiError>> + 'static,
{
    session_page(declaration, state, move |state, request| async move {
        match session::signed_in(&request, declaration).await? {
            None => open(state, OperatorVisit::begin(request, declaration.pattern).await?).await,
            Some(reply) => Ok(reply),
        }
    })
}
