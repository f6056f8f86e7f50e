//! A dispatcher as the web server calls it: with the request as it was read. The web framework's own application, which
//! would look every path up in tables that are empty here, is left out.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::Arc;

use actix_http::Request;
use actix_web::HttpResponse;
use actix_web::dev::{AppConfig, Service, ServiceFactory, always_ready};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::dispatch::{Caller, Dispatcher};

/// Makes a [`Serving`] for each thread.
pub(super) struct ServingFactory<C>(pub(super) Arc<Dispatcher<C>>);

/// Serves one thread's requests.
pub(super) struct Serving<C>(Rc<Here<C>>);

/// The dispatcher and where it is reached.
struct Here<C> {
    dispatcher: Arc<Dispatcher<C>>,
    address: AppConfig,
}

impl<C: Caller> ServiceFactory<Request> for ServingFactory<C> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Config = AppConfig;
    type Service = Serving<C>;
    type InitError = ();
    type Future = Ready<Result<Serving<C>, ()>>;

    fn new_service(&self, address: AppConfig) -> Self::Future {
        ready(Ok(Serving(Rc::new(Here { dispatcher: Arc::clone(&self.0), address }))))
    }
}

impl<C: Caller> Service<Request> for Serving<C> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = LocalBoxFuture<'static, Result<HttpResponse, Infallible>>;

    always_ready!();

    fn call(&self, request: Request) -> Self::Future {
        let here = Rc::clone(&self.0);
        async move { Ok(here.dispatcher.handle(request, &here.address).await) }.boxed_local()
    }
}
