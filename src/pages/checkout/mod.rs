//! The page on which a customer pays, and the payment form in a frame of a shop's own page: contract, sections 9.6 and
//! 9.7. `pay.rs` and `frame.rs` make the calls, `page.rs` and `choice.rs` make texts of what they answer.

mod locale;
mod message;
mod words;
mod amount;
mod failure;
mod color;
mod luminance;
mod text_cache;
mod qr;
mod png;
mod assets;
mod choice;
mod page;
mod pay;
mod frame;
mod qr_file;
mod files;

pub(super) use files::{ASSETS, files};
pub(super) use frame::{FRAME, frame};
pub(super) use pay::{PAY, pay};
pub(super) use qr::QrDrawing;
pub(super) use qr_file::{QR_FILE, qr_file};

#[cfg(test)]
mod examples;
#[cfg(test)]
mod markup;
#[cfg(test)]
mod page_tests;
