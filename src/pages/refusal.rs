//! The page of a refusal: contract, section 15.

use askama::Template;
use till_protocol::api_error::{ApiError, Code};
use till_protocol::dispatch::RequestId;

use crate::pages::style;

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    title: &'a str,
    text: &'a str,
    request_id: &'a str,
}

/// The page of a refusal. It names no shop.
pub(super) fn page(error: &ApiError, request_id: &RequestId) -> String {
    let (title, text) = match error.details() {
        Some(_) if error.code() == Code::Forbidden => ROLE,
        _ => words(error.code()),
    };
    let page = RefusalPage { title, text, request_id: request_id.as_str() };
    page.render().expect("a template into a text cannot fail")
}

/// The words for what the role of a member does not allow.
const ROLE: (&str, &str) = ("You may not see this page", "Your role does not allow it. Ask an owner of the team.");

/// The title of the page, and what to do.
fn words(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::NotFound | Code::UnknownEndpoint => {
            ("Page not found", "Check the address, or go back to where you came from.")
        }
        Code::InvalidState => (
            "This page has expired",
            "Nothing was changed by opening it. Go back to the shop to see how the payment went.",
        ),
        Code::MethodNotAllowed => ("This page cannot be used in this way", "Open its address in a browser."),
        Code::UnsupportedMediaType | Code::InvalidArguments => {
            ("The form is not valid", "Nothing was changed. Go back and use a button of the page.")
        }
        Code::BodyTooLarge => ("The form is too large", "Nothing was changed. Go back and send less."),
        Code::AddressTooLong => ("The address is too long", "Open the page by the link that you were given."),
        Code::HeadTooLarge => {
            ("The request is too large", "Nothing was changed. Delete the cookies of this page and try again.")
        }
        Code::Forbidden => {
            ("The form came from another site", "Nothing was changed. Open the page itself and try again.")
        }
        Code::MisdirectedRequest => {
            ("This is another server", "Call the admin listener by its own name: `admin_listen` in its settings.")
        }
        Code::RateLimited => ("Too many requests", "Wait a moment, then try again."),
        Code::Unavailable => {
            ("This page is not available at the moment", "Try again in a moment. A payment is not lost by that.")
        }
        _ => ("Something went wrong", "Try again in a moment."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_section_15_has_words_of_its_own() {
        let codes = [
            (Code::InvalidArguments, 400),
            (Code::Forbidden, 403),
            (Code::NotFound, 404),
            (Code::MethodNotAllowed, 405),
            (Code::InvalidState, 410),
            (Code::BodyTooLarge, 413),
            (Code::AddressTooLong, 414),
            (Code::UnsupportedMediaType, 415),
            (Code::MisdirectedRequest, 421),
            (Code::HeadTooLarge, 431),
            (Code::RateLimited, 429),
            (Code::Unavailable, 503),
        ];
        for (code, status) in codes {
            let text = page(&ApiError::new(code, "<b>"), &RequestId::from_header(Some("req-1")));
            assert!(text.contains("<h1>") && text.contains("req-1") && !text.contains("<b>"), "{text}");
            assert!(!text.contains("Something went wrong"), "{code}");
            assert_eq!(code.page_status().as_u16(), status);
        }
    }
}
