//! The rules of Till: the changes that a merchant's command may make, and their consequences.
//!
//! Nothing here waits, reads a clock, draws a random number or touches a disk: time, entropy and records
//! are inputs, events are the output.

#![warn(clippy::arithmetic_side_effects, clippy::wildcard_enum_match_arm)]

#[macro_use]
mod word_enum;

// The objects of the domain.
pub mod acquirer;
pub mod activity;
pub mod address_secret;
pub mod card;
pub mod card_number;
pub mod checkout;
pub mod cursor;
pub mod customer;
pub mod customer_action;
pub mod dispute;
pub mod effect;
pub mod failure;
pub mod ids;
pub mod key;
pub mod ledger;
pub mod merchant;
pub mod metadata;
pub mod money;
pub mod payment;
pub mod payment_method;
pub mod payout;
pub mod plan;
pub mod preparation;
pub mod refund;
pub mod role;
pub mod session;
pub mod statement;
pub mod team;
pub mod text;
pub mod time;
pub mod webhook;

// Commands, answers and records.
pub mod command;
pub mod event;
pub mod refusal;

// Commands become events, and events become state and rows.
pub mod apply;
pub mod decide;
pub mod records;
pub mod open_call;
