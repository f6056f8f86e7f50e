//! Damage to the files of a stopped server: either it refuses to start and names the place, or nothing that was
//! acknowledged is missing; it never hangs. Damage to a table file affects only merchants whose rows are in it.
//!
//! `make damage ROUNDS=200` flips a bit in one file of every kind after another (`campaign`, `kinds`).
//!
//! `TILL_DAMAGE_FLIPS` sets the number of flipped bits, `TILL_DAMAGE_SEED` repeats the choices of a printed seed.

mod image;
mod logs;
mod tables;
mod refusals;
mod segments;
mod kinds;
mod restored;
mod given_up;
mod archive;
mod campaign;
