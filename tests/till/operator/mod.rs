//! What the operator does: calls, commands, configuration, secrets, and watching the server run.

mod archive;
mod archive_guide;
mod calls;
mod checkpoints;
mod command_line;
mod configuration;
mod files_in_place;
mod generate;
mod head;
mod hosts;
mod late_start;
mod leaks;
mod logs;
mod metrics;
mod owner_only;
mod refused_starts;
mod rotation;
mod running;
mod scrub;
mod secrets;
mod supervision;
mod tls;
