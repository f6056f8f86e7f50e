//! `till head`

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use till_operate::head::{head_of_archive, head_of_store};
use till_storage::engine::refuse_unfit;

use super::verify::VerificationTarget;
use crate::configuration::Configuration;

/// The store or archive whose head is printed.
#[derive(Debug, Args)]
pub struct HeadArguments {
    /// Print the head of this archive instead of the data directory's; the server may run meanwhile
    #[arg(long, value_name = "DIR")]
    pub archive: Option<PathBuf>,
}

/// The line that names the last commit of a store, or of an archive.
pub(super) fn head(configuration: &Configuration, arguments: &HeadArguments) -> anyhow::Result<String> {
    match &arguments.archive {
        Some(archive) => Ok(head_of_archive(archive)?.to_string()),
        None => head_of_data(configuration),
    }
}

fn head_of_data(configuration: &Configuration) -> anyhow::Result<String> {
    let directory = &configuration.data;
    if !directory.join("db").exists() {
        refuse_unfit(directory)?;
        bail!("there is no data in {}", directory.display());
    }
    let store = VerificationTarget::of_data(configuration).open_store()?;
    Ok(head_of_store(&store)?.to_string())
}
