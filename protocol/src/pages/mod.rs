//! Pages for people below `/docs`: the documents of this repository, and Swagger UI, on which calls can be tried.

mod served;
mod guide_page;
mod guides;
mod page_file;
mod markdown;
mod layout;
mod swagger_ui;

pub(super) use page_file::{Audience, PageFile};
pub(super) use served::page;
