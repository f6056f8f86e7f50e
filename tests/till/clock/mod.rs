//! What depends on the time, over HTTP with a clock that the test moves.

mod advance;
mod created_at;
mod ends;
mod order;
mod statements;
