//! The work of the operator: calls, commands, configuration, secrets, and monitoring of the server.

mod archive;
mod archive_guide;
mod calls;
mod checkpoints;
mod command_line;
mod configuration;
mod damaged_deliveries;
mod damaged_tables;
mod files_in_place;
mod finding;
mod generate;
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
mod status;
mod supervision;
mod threads;
mod tls;
