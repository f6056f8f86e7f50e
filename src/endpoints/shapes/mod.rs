//! The answered objects, each of which declares its members with their values.

pub(crate) mod activity;
pub(crate) mod card;
pub(in crate::endpoints) mod checkout;
pub(crate) mod contact;
pub(crate) mod dispute;
pub(crate) mod delivery;
pub(crate) mod entry;
pub(crate) mod event;
pub(super) mod installation;
pub(super) mod key;
pub(super) mod merchant;
pub(super) mod metadata;
pub(in crate::endpoints) mod object;
pub(crate) mod payment;
pub(crate) mod payout;
pub(crate) mod refund;
pub(super) mod statement;
pub(super) mod team;
pub(super) mod topup;
mod values;
pub(crate) mod webhook;
