//! A dispatcher as the web server calls it: with the request as it was read. The web framework's own application, which
//! would look every path up in tables that are empty here, is left out.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::Arc;

use actix_http::Request;
use actix_web::HttpResponse;
use actix_web::dev::{Service, ServiceFactory, always_ready};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::dispatch::{Caller, Dispatcher, Entrance};

/// Makes a [`Serving`] for each thread.
pub(super) struct ServingFactory<C> {
    pub(super) dispatcher: Arc<Dispatcher<C>>,
    pub(super) entrance: Entrance,
}

/// Serves one thread's requests.
pub(super) struct Serving<C>(Rc<Here<C>>);

/// The dispatcher and where it is reached.
struct Here<C> {
    dispatcher: Arc<Dispatcher<C>>,
    entrance: Entrance,
}

impl<C: Caller> ServiceFactory<Request> for ServingFactory<C> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Config = ();
    type Service = Serving<C>;
    type InitError = ();
    type Future = Ready<Result<Serving<C>, ()>>;

    fn new_service(&self, (): ()) -> Self::Future {
        let here = Here { dispatcher: Arc::clone(&self.dispatcher), entrance: self.entrance.clone() };
        ready(Ok(Serving(Rc::new(here))))
    }
}

impl<C: Caller> Service<Request> for Serving<C> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = LocalBoxFuture<'static, Result<HttpResponse, Infallible>>;

    always_ready!();

    fn call(&self, request: Request) -> Self::Future {
        let here = Rc::clone(&self.0);
        async move { Ok(here.dispatcher.handle(request, &here.entrance).await) }.boxed_local()
    }
}
