//! Pseudo-random numbers, and the choice of the next merchant.

mod dice;
mod distribution;

pub(crate) use dice::SeededDice;
pub(crate) use distribution::Distribution;
