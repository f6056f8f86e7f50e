//! The shapes of answered objects: for each its declared members, and the conversion from the domain's type.

pub(crate) mod activity;
pub(super) mod card;
pub(super) mod contact;
pub(super) mod dispute;
pub(crate) mod delivery;
pub(crate) mod entry;
pub(crate) mod event;
pub(super) mod installation;
pub(super) mod key;
pub(super) mod merchant;
pub(super) mod metadata;
pub(crate) mod payment;
pub(super) mod payout;
pub(super) mod refund;
pub(super) mod statement;
pub(super) mod team;
pub(super) mod topup;
pub(crate) mod webhook;
