//! A file of secrets, one a line, that is replaced as a whole: a reader finds either everything that was written last,
//! or everything that was there before.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

/// The permission bits of a file's mode.
const MODE_BITS: u32 = 0o777;

#[derive(Debug)]
pub(crate) struct SecretFile {
    path: PathBuf,
}

/// While it lives, no other command replaces the secrets.
#[derive(Debug)]
pub(crate) struct SecretFileLock(#[expect(dead_code, reason = "its lock goes with it")] File);

impl SecretFile {
    /// The file at a path.
    #[must_use]
    pub(crate) fn new(path: PathBuf) -> SecretFile {
        SecretFile { path }
    }

    /// The path of the file.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The secrets in the file, in order.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn read(&self) -> io::Result<Vec<SecretString>> {
        Ok(lines(&Zeroizing::new(fs::read_to_string(&self.path)?)))
    }

    /// Keeps every other command from replacing the secrets while the returned lock lives. The lock is on a file beside
    /// the secrets' file and stays there: the secrets' own file is a new one after each replacement.
    ///
    /// [`io::ErrorKind::WouldBlock`] while another command holds the lock; or an error of the system.
    /// [`io::ErrorKind::WouldBlock`] while another command has it; the system's.
    pub(crate) fn lock(&self) -> io::Result<SecretFileLock> {
        let secrets = fs::metadata(&self.path)?;
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(self.path_with(".lock"))?;
        // So that the owner can lock it after root did.
        let _ = fchown(&lock, Some(secrets.uid()), Some(secrets.gid()));
        lock.try_lock()?;
        Ok(SecretFileLock(lock))
    }

    /// Replaces the secrets, durably. The file keeps its owner and its mode.
    ///
    /// # Errors
    /// An error of the system. The file is then unchanged.
    pub(crate) fn replace(&self, secrets: &[&SecretString]) -> io::Result<()> {
        let before = fs::metadata(&self.path)?;
        let beside = self.path_with(".new");
        let _ = fs::remove_file(&beside); // What a crash left.
        let file = write(&beside, secrets)?;
        file.set_permissions(Permissions::from_mode(before.mode() & MODE_BITS))?;
        fchown(&file, Some(before.uid()), Some(before.gid()))?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        sync_directory(&self.path)
    }

    /// Keeps a secret, durably, in a file of its own beside this one, under this file's name with the suffix. A file of
    /// that name that already holds the secret is left as it is; any other content was left by a crash and is replaced.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn keep_beside(&self, suffix: &str, secret: &SecretString) -> io::Result<PathBuf> {
        let beside = self.path_with(suffix);
        if holds(&beside, secret) {
            File::open(&beside)?.sync_all()?; // Whoever wrote it may have come no further.
            sync_directory(&beside)?;
        } else {
            write_whole(&beside, secret)?;
        }
        Ok(beside)
    }

    fn path_with(&self, suffix: &str) -> PathBuf {
        with_suffix(&self.path, suffix)
    }
}

/// One secret a line. Lines of white space are skipped.
pub(super) fn lines(text: &str) -> Vec<SecretString> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(SecretString::from).collect()
}

/// Writes a secret to a file that only its owner may read, durably. When it is cut off at any point, the name refers
/// either to the whole new file or to the previous one.
pub(super) fn write_whole(path: &Path, secret: &SecretString) -> io::Result<()> {
    let new = with_suffix(path, ".new");
    let _ = fs::remove_file(&new); // What a crash left.
    write(&new, &[secret])?;
    fs::rename(&new, path)?;
    sync_directory(path)
}

/// True when the file holds this secret and nothing else.
fn holds(path: &Path, secret: &SecretString) -> bool {
    let bytes = fs::read(path).map(Zeroizing::new);
    bytes.is_ok_and(|bytes| bytes.strip_suffix(b"\n") == Some(secret.expose_secret().as_bytes()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Writes a new file that only its owner may read.
fn write(path: &Path, secrets: &[&SecretString]) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    for secret in secrets {
        file.write_all(secret.expose_secret().as_bytes())?;
        file.write_all(b"\n")?;
    }
    file.sync_all()?;
    Ok(file)
}

/// Syncs the directory of a path, so that the names in it are durable.
pub(super) fn sync_directory(of: &Path) -> io::Result<()> {
    let directory = of.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_keeps_its_mode() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = SecretFile::new(directory.path().join("token"));
        assert!(file.replace(&[&"a".into()]).is_err(), "there is none");
        assert!(fs::write(file.path(), "old\n").is_ok());
        assert!(fs::set_permissions(file.path(), Permissions::from_mode(0o640)).is_ok());
        assert!(fs::write(directory.path().join("token.new"), "torn").is_ok());
        assert!(file.replace(&[&"new".into(), &"old".into()]).is_ok());
        assert_eq!(fs::read_to_string(file.path()).ok().as_deref(), Some("new\nold\n"));
        assert_eq!(fs::metadata(file.path()).map(|found| found.mode() & MODE_BITS).ok(), Some(0o640));
        assert_eq!(file.read().map(|secrets| secrets.len()).ok(), Some(2));
        assert_eq!(fs::read_dir(directory.path()).map(Iterator::count).ok(), Some(1), "nothing is left beside it");
    }

    #[test]
    fn a_file_is_locked_by_one_at_a_time_also_after_it_was_replaced() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = SecretFile::new(directory.path().join("key"));
        assert_eq!(file.lock().map_err(|error| error.kind()).err(), Some(io::ErrorKind::NotFound));
        assert!(fs::write(file.path(), "one\n").is_ok());
        let lock = file.lock().unwrap_or_else(|error| panic!("{error}"));
        assert!(file.replace(&[&"two".into()]).is_ok());
        assert_eq!(file.lock().map_err(|error| error.kind()).err(), Some(io::ErrorKind::WouldBlock));
        drop(lock);
        assert!(file.lock().is_ok());
    }

    #[test]
    fn a_secret_is_kept_whole_and_private_after_any_crash() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = SecretFile::new(directory.path().join("key"));
        for left in [&b""[..], b"on", b"\xff\xfe", b"one\n"] {
            assert!(fs::write(directory.path().join("key.retired"), left).is_ok());
            assert!(fs::write(directory.path().join("key.retired.new"), left).is_ok());
            let kept = file.keep_beside(".retired", &"one".into()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(fs::read_to_string(&kept).ok().as_deref(), Some("one\n"), "{left:?}");
        }
        let kept = file.keep_beside(".other", &"two".into()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(fs::metadata(&kept).map(|found| found.mode() & MODE_BITS).ok(), Some(0o600));
    }

    #[test]
    fn a_complete_file_beside_it_is_not_rewritten() {
        let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let file = SecretFile::new(directory.path().join("key"));
        let number = |path: &Path| fs::metadata(path).map(|found| found.ino()).ok();
        let kept = file.keep_beside(".retired", &"one".into()).unwrap_or_else(|error| panic!("{error}"));
        let before = number(&kept);
        assert!(file.keep_beside(".retired", &"one".into()).is_ok());
        assert!(before.is_some() && number(&kept) == before);
    }
}
