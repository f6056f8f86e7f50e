//! Checks the data directory before a start creates anything: an unusable one is refused with the reason.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::getuid;

/// Refuses a path that is not a directory, or in which this user may not write.
///
/// # Errors
/// The obstacle, and advice.
pub(super) fn check_data_directory(data: &Path) -> anyhow::Result<()> {
    let (there, metadata) = nearest(data).with_context(|| unusable(data))?;
    if !metadata.is_dir() {
        let there = there.display();
        bail!("{}: {there} is not a directory: move it away, or name another directory with --data", unusable(data));
    }
    if access(&there, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) == Err(Errno::ACCESS) {
        bail!("{}: {}", unusable(data), not_permitted(data, &there, metadata.uid()));
    }
    Ok(())
}

fn unusable(data: &Path) -> String {
    format!("the data directory {} cannot be used", data.display())
}

fn not_permitted(data: &Path, there: &Path, owner: u32) -> String {
    let (user, shown) = (getuid().as_raw(), data.display());
    let remedy = if there == data {
        format!("start the server as user {owner}, or give the directory to this one: chown -R {user} {shown}")
    } else {
        format!("make the directory for this user first: install -d -o {user} -m 0700 {shown}")
    };
    format!("user {user} may not write in {}, which is user {owner}'s; {remedy}", there.display())
}

/// The path itself, or its nearest existing ancestor.
fn nearest(path: &Path) -> std::io::Result<(PathBuf, Metadata)> {
    for there in path.ancestors() {
        let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        match fs::metadata(there) {
            Ok(metadata) => return Ok((there.to_owned(), metadata)),
            Err(error) if is_on_the_way(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::NotFound.into())
}

/// True for errors whose cause may be closer to the root.
fn is_on_the_way(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(data: &Path) -> Option<String> {
        check_data_directory(data).err().map(|error| format!("{error:#}"))
    }

    #[test]
    fn a_directory_and_one_that_can_be_made_are_taken() {
        let place = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        for data in [place.path().to_owned(), place.path().join("new/data"), PathBuf::from("new-data")] {
            assert_eq!(refusal(&data), None, "{}", data.display());
        }
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let place = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = place.path().join("file");
        assert!(fs::write(&file, "").is_ok());
        for data in [file.clone(), file.join("data")] {
            let expected = format!("{}: {} is not a directory", unusable(&data), file.display());
            assert!(refusal(&data).is_some_and(|said| said.starts_with(&expected)), "{:?}", refusal(&data));
        }
    }
}
