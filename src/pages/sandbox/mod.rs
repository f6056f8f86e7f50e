//! The pages on which the sandbox plays issuer, bank and wallet: contract, section 9.5. The address of each is the
//! capability to act on it.

mod action;
mod declared;
mod scan;

pub(super) use declared::pages;
