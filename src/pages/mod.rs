//! Pages for browsers of customers, of members of a team, and of the operator. They hold no rules and know no rows: a
//! page is a call, made inside the process in its caller's name, and shows the object that the call answers; its form
//! makes a call, too. They are the feature `pages` of the binary.

mod all;
mod amount;
mod answered;
mod checkout;
mod dashboard;
mod operator;
mod parts;
mod refusal;
mod returning;
mod sandbox;
mod style;

pub use all::browser_pages;
pub(crate) use all::operator_pages;
