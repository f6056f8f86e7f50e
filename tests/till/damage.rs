//! Damage to the files of a server that is down: either it refuses to start and says where, or nothing that was
//! acknowledged is missing; it never hangs. Damage to a table file concerns only those whose rows stand there.
//!
//! `make damage ROUNDS=200` flips a bit in one file of every kind after another (`campaign`, `kinds`).
//!
//! `TILL_DAMAGE_FLIPS` sets how many bits are flipped in all, `TILL_DAMAGE_SEED` repeats the chances of a printed seed.

mod image;
mod logs;
mod tables;
mod refusals;
mod segments;
mod kinds;
mod restored;
mod archive;
mod campaign;
