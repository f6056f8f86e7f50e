//! The rules of Till: what a merchant's command may change, and what follows from it.
//!
//! Nothing here waits, reads a clock, draws a random number or touches a disk: time, entropy and records
//! come in, events come out.

#![warn(clippy::arithmetic_side_effects, clippy::wildcard_enum_match_arm)]

// What things are.
pub mod activity;
pub mod card;
pub mod card_number;
pub mod customer;
pub mod dispute;
pub mod effect;
pub mod ids;
pub mod key;
pub mod ledger;
pub mod merchant;
pub mod metadata;
pub mod money;
pub mod payment;
pub mod payout;
pub mod plan;
pub mod refund;
pub mod session;
pub mod statement;
pub mod team;
pub mod text;
pub mod time;
pub mod webhook;

// What may be asked, what is answered, what is recorded.
pub mod command;
pub mod event;
pub mod refusal;

// How a command becomes events, and events become state and rows.
pub mod apply;
pub mod decide;
pub mod records;
