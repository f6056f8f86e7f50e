//! `till verify`

use anyhow::bail;

use crate::configuration::Configuration;

/// Replays every merchant's log and compares what was derived from it byte for byte; gives the report to
/// print.
pub(super) fn verify(configuration: &Configuration) -> anyhow::Result<String> {
    let database = configuration.data.join("db");
    if !database.exists() {
        bail!("there is no data to verify in {}", configuration.data.display());
    }
    bail!("this build cannot verify {} yet", database.display());
}
