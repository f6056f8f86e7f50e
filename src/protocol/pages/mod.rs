//! Pages for people below `/docs`: the documents of this repository, and Swagger UI, on which calls can be tried.

mod served;
mod guides;
mod markdown;
mod layout;
mod swagger_ui;

pub(super) use served::{Audience, PageFile, page};
