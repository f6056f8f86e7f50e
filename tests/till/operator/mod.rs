//! What the operator does: calls, commands, configuration, secrets, and watching the server run.

mod calls;
mod checkpoints;
mod command_line;
mod configuration;
mod generate;
mod leaks;
mod running;
mod secrets;
