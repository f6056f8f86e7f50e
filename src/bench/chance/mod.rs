//! Chance: numbers, and which merchant is next.

mod dice;
mod distribution;

pub(in crate::bench) use dice::Dice;
pub(in crate::bench) use distribution::Distribution;
