//! The shapes of answered objects: for each its declared members and how it is made of the domain's.

pub(super) mod activity;
pub(super) mod contact;
pub(super) mod entry;
pub(super) mod key;
pub(super) mod merchant;
pub(super) mod metadata;
pub(super) mod payment;
pub(super) mod team;
