//! The shapes of answered objects: for each its declared members, and the conversion from the domain's type.

pub(crate) mod activity;
pub(crate) mod card;
pub(crate) mod contact;
pub(crate) mod dispute;
pub(crate) mod delivery;
pub(crate) mod entry;
pub(crate) mod event;
pub(super) mod installation;
pub(super) mod key;
pub(super) mod merchant;
pub(super) mod metadata;
pub(crate) mod payment;
pub(crate) mod payout;
pub(crate) mod refund;
pub(super) mod statement;
pub(super) mod team;
pub(super) mod topup;
pub(crate) mod webhook;
