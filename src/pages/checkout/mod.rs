//! The page on which a customer pays, and the payment form in a frame of a shop's own page: contract, sections 9.6 and
//! 9.7. Everything here makes texts of plain data; who may see what, and what a form does, is decided elsewhere.

mod view;
mod frame_view;
mod form;
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
mod page;
mod choice;
mod frame;
mod shown;
mod paying;
mod framed;
mod qr_file;
mod files;

pub(super) use files::{ASSETS, files};
pub(super) use framed::{FRAMED, framed};
pub(super) use paying::{PAYING, open};
pub(super) use qr_file::{QR_FILE, qr_file};

#[cfg(test)]
mod examples;
#[cfg(test)]
mod markup;
#[cfg(test)]
mod page_tests;
