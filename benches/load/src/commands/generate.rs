//! `till-bench generate`

use clap::Args;

use super::output::say;
use crate::generate::{self, GenerationPlan, Share, Summary};
use till::{Configuration, Secrets, check_directory};

/// The size and the contents of the store that is to be generated.
#[derive(Debug, Clone, Copy, Args)]
pub struct GenerateArguments {
    /// Merchants
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub merchants: u64,
    /// Payments of all merchants
    #[arg(long)]
    pub payments: u64,
    /// The share of the payments that the first merchant has; the others have the rest in equal parts
    #[arg(long, default_value = "0.5")]
    pub hot_share: Share,
    /// Changes of the team and the plan for each payment, from 0 to 1
    #[arg(long, default_value = "0.01")]
    pub team_share: Share,
    /// The days up to now over which everything is spread
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    pub days: u64,
}

/// Fills the data directory. Progress goes to standard error.
pub(super) fn generate(configuration: &Configuration, arguments: GenerateArguments) -> anyhow::Result<Summary> {
    let GenerateArguments { merchants, payments, hot_share, team_share, days } = arguments;
    check_directory(configuration)?;
    let secrets = Secrets::load_or_make(configuration)?;
    for file in &secrets.made {
        say(&format!("till-bench: made the secret {}; keep a copy of it", file.display()));
    }
    generate::generate(configuration, &secrets, &GenerationPlan { merchants, payments, hot_share, team_share, days })
}
