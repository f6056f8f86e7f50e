//! `till-bench generate`

use super::output::say;
use crate::generate::{self, GenerationPlan, Summary};
use till::{Configuration, Secrets, check_directory};

/// Fills the data directory. Progress goes to standard error.
pub(super) fn generate(configuration: &Configuration, plan: &GenerationPlan) -> anyhow::Result<Summary> {
    check_directory(configuration)?;
    let secrets = Secrets::load_or_make(configuration)?;
    for file in &secrets.made {
        say(&format!("till-bench: made the secret {}; keep a copy of it", file.display()));
    }
    generate::generate(configuration, &secrets, plan)
}
