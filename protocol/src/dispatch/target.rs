//! The target of a request: the endpoint, document or page to which its path leads.

use std::sync::Arc;

use actix_web::http::Method;

use super::call::{Function, Functions};
use super::hooks::Observe;
use super::page::BrowserPage;
use super::page_reply::PageReply;
use super::path::{OPENAPI_PATH, PAGES_PATH, Probe, ROOT_PATH};
use super::raw_endpoint::RawEndpoint;
use crate::declaration::{Declaration, Package};
use crate::pages::PageFile;

/// The name of files that pages load, in the log and in metrics.
const ASSETS_PATH: &str = "/assets";

/// The target of a request.
pub(super) enum Target<'d, C> {
    Function(&'d Arc<dyn Function<C>>),
    Pipeline(&'static Declaration),
    Package(Package, &'d Functions<C>),
    Probe(Probe, &'d Arc<dyn Observe>),
    Root,
    OpenApi,
    /// A document of this repository, as a page.
    Document(PageFile),
    DocumentsMoved,
    /// A page for a person's browser, with the texts at the segments in braces of its pattern.
    BrowserPage(&'d Arc<dyn BrowserPage<C>>, Vec<String>),
    /// A file that such pages load.
    Asset(PageReply),
    /// An endpoint that takes bodies in a form of their senders, with the texts at the segments in braces.
    Raw(&'d Arc<dyn RawEndpoint>, Vec<String>),
}

impl<C> Target<'_, C> {
    /// The name of the target in the log and in metrics. It is a constant, never text of the request.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Target::Function(function) => function.declaration().name,
            Target::Pipeline(declaration) => declaration.name,
            Target::Package(package, _) => package.segment(),
            Target::Probe(probe, _) => probe.path(),
            Target::Root => ROOT_PATH,
            Target::OpenApi => OPENAPI_PATH,
            Target::Document(_) | Target::DocumentsMoved => PAGES_PATH,
            Target::BrowserPage(page, _) => page.declaration().pattern,
            Target::Asset(_) => ASSETS_PATH,
            Target::Raw(endpoint, _) => endpoint.pattern(),
        }
    }

    /// True when an answer of the target reports a change or may report one.
    pub(super) fn changes_something(&self) -> bool {
        match self {
            Target::Function(function) => function.declaration().flags.changes_something,
            Target::Pipeline(_) => true,
            Target::Package(..)
            | Target::Probe(..)
            | Target::Root
            | Target::OpenApi
            | Target::Document(_)
            | Target::DocumentsMoved
            | Target::BrowserPage(..)
            | Target::Raw(..)
            | Target::Asset(_) => false,
        }
    }

    /// True when web pages call the target, so that browsers send a preflight request first.
    pub(super) fn is_for_pages(&self) -> bool {
        let package = match self {
            Target::Function(function) => Some(function.declaration().package),
            Target::Pipeline(declaration) => Some(declaration.package),
            Target::Package(..)
            | Target::Probe(..)
            | Target::Root
            | Target::OpenApi
            | Target::Document(_)
            | Target::DocumentsMoved
            | Target::BrowserPage(..)
            | Target::Raw(..)
            | Target::Asset(_) => None,
        };
        package == Some(Package::Sdk)
    }

    /// The HTTP methods that the target accepts, and the value of the `Allow` header that lists them.
    pub(super) fn methods(&self) -> (&'static [Method], &'static str) {
        match self {
            Target::BrowserPage(page, _) if page.declaration().has_form => {
                (&[Method::GET, Method::HEAD, Method::POST], "GET, HEAD, POST")
            }
            Target::Root
            | Target::Probe(..)
            | Target::OpenApi
            | Target::Document(_)
            | Target::DocumentsMoved
            | Target::BrowserPage(..)
            | Target::Asset(_) => (&[Method::GET, Method::HEAD], "GET, HEAD"),
            Target::Package(..) => (&[Method::GET, Method::HEAD, Method::POST], "GET, HEAD, POST"),
            Target::Function(_) | Target::Pipeline(_) if self.is_for_pages() => (&[Method::POST], "POST, OPTIONS"),
            Target::Function(_) | Target::Pipeline(_) | Target::Raw(..) => (&[Method::POST], "POST"),
        }
    }
}
