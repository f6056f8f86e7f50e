//! `till webhook`: for developers of webhook receivers.

mod event_line;
mod forwarding;
mod judgement;
mod listener;

use std::net::SocketAddr;

use anyhow::Context;
use clap::{Args, Subcommand};
use secrecy::SecretString;

use super::ExitCode;

/// The default address of the listener.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 4000);

/// Commands for developers of webhook receivers.
#[derive(Debug, Subcommand)]
pub(super) enum WebhookCommand {
    /// Receives webhooks, verifies their signatures and prints their events: a receiver to develop with
    Listen(ListenArguments),
}

/// The options of the listener.
#[derive(Debug, Args)]
#[command(after_help = "It listens on 127.0.0.1:4000 unless --listen names another address.")]
pub(super) struct ListenArguments {
    /// The webhook's secret, whsec_...; several may be given, as during a rotation
    #[arg(
        long = "secret",
        value_name = "SECRET",
        env = "TILL_WEBHOOK_SECRET",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(super) secrets: Vec<SecretString>,
    /// The webhook's public key, whpk_..., for a receiver that keeps no secret; several may be given
    #[arg(long = "public-key", value_name = "KEY")]
    pub(super) public_keys: Vec<SecretString>,
    /// Posts deliveries on to this address of the machine, and answers with its status
    #[arg(long, value_name = "URL")]
    pub(super) forward_to: Option<String>,
    /// Prints the bodies as they were received, one a line, and everything else on standard error
    #[arg(long)]
    pub(super) json: bool,
}

/// Carries the command out. `listen` is the address that the command line names.
pub(super) fn webhook(command: &WebhookCommand, listen: Option<&str>) -> anyhow::Result<ExitCode> {
    let WebhookCommand::Listen(arguments) = command;
    let address = listen.map(str::parse).transpose().context("--listen is not an address with a port")?;
    listener::listen(address.unwrap_or(ADDRESS), arguments)?;
    Ok(ExitCode::SUCCESS)
}
