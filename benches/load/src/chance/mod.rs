//! Pseudo-random numbers, and the choice of the next merchant.

mod dice;
mod distribution;

pub(crate) use dice::Dice;
pub(crate) use distribution::Distribution;
