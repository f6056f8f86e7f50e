//! Chance: numbers, and which merchant is next.

mod dice;
mod distribution;

pub(crate) use dice::Dice;
pub(crate) use distribution::Distribution;
