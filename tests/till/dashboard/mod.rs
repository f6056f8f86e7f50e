//! Signing in to the dashboard, without a browser: contract, section 13.

mod attacks;
mod credentials;
mod fairness;
mod member_pages;
mod operator;
mod seat;
mod sessions;
