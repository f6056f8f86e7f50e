//! Everything that depends on the time, over HTTP with a clock that the test sets.

mod actions;
mod advance;
mod created_at;
mod ends;
mod order;
mod statements;
