//! `till-bench compare`

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::output::{print, write};
use crate::report::{Comparison, Document, comparison_page, comparison_text};
use till::ExitCode;

/// Reports of one side, as they are written on the command line.
#[derive(Debug, Clone)]
pub struct ReportFiles(Vec<PathBuf>);

/// `compare`
#[derive(Debug, Clone, Args)]
pub struct CompareArguments {
    /// The reports of the first side: files with a comma between them, or a directory
    pub first: ReportFiles,
    /// The reports of the second side, in the same form
    pub second: ReportFiles,
    /// Write the comparison as a page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

pub(super) fn compare(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let (first, second) = (arguments.first.paths()?, arguments.second.paths()?);
    if let Some(path) = given_twice(&first, &second) {
        bail!("{}: is given twice", path.display());
    }
    let read = |paths: Vec<PathBuf>| paths.iter().map(|path| Document::read(path)).collect::<Result<Vec<_>, _>>();
    let comparison = Comparison::new(read(first)?, read(second)?)?;
    print(&comparison_text(&comparison));
    write(arguments.html.as_deref(), || comparison_page(&comparison))?;
    Ok(ExitCode::SUCCESS)
}

impl FromStr for ReportFiles {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<ReportFiles, &'static str> {
        // A comma may be a part of a name.
        let is_one = Path::new(text).exists();
        let parts = if is_one { vec![text] } else { text.split(',').collect() };
        if parts.contains(&"") {
            Err("is not a list of files")
        } else {
            Ok(ReportFiles(parts.into_iter().map(PathBuf::from).collect()))
        }
    }
}

impl ReportFiles {
    /// The files; of a directory those whose names end in `.json`, in the order of their names.
    fn paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for part in &self.0 {
            if part.is_dir() {
                let found = reports_in(part).with_context(|| format!("failed to read {}", part.display()))?;
                ensure!(!found.is_empty(), "{}: holds no file whose name ends in .json", part.display());
                paths.extend(found);
            } else {
                paths.push(part.clone());
            }
        }
        Ok(paths)
    }
}

fn reports_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// The first file that is given twice: a run that counts twice would narrow no range, and seem to.
fn given_twice<'p>(first: &'p [PathBuf], second: &'p [PathBuf]) -> Option<&'p PathBuf> {
    let mut seen = BTreeSet::new();
    first.iter().chain(second).find(|path| !seen.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone())))
}
