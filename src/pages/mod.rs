//! Pages for customers' browsers. They hold no rules: each shows what the service knows, and its form has the service
//! or the sandbox do something. They are the feature `pages` of the binary.

mod all;
mod amount;
mod checkout;
mod refusal;
mod returning;
mod sandbox;
mod style;

pub use all::browser_pages;
