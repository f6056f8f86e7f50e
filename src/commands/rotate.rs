//! Replacing the secrets of a running server: `till admin-token` and `till vault`.
//!
//! During a rotation a secret's file holds two secrets. The new one is in the file, durably, before the server is told,
//! and the old one is removed only when the server does not need it any more. So the file always has a secret that
//! opens the data, wherever a rotation is cut off. Only one command at a time replaces the secrets of a file: otherwise
//! each of two commands would give the server a secret of its own, and the file might keep the other one's.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use till_storage::vault::RootKey;

use super::admin_client::AdminClient;
use crate::configuration::{Configuration, SecretFile, SecretFileLock, Secrets, fresh_secret};

/// Replacing the admin token of a running server.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(super) enum AdminTokenCommand {
    /// Makes a new token; the server accepts both from then on
    Rotate,
    /// Makes the server accept the new token only
    Retire,
}

/// Commands on the vault.
#[derive(Debug, Subcommand)]
pub(super) enum VaultCommand {
    /// Re-encrypts the vault's key ring of a running server under a new key, and stores that key in the old one's file
    Rotate(RotateVault),
}

/// Options of a rotation of the vault key.
#[derive(Debug, Args)]
pub(super) struct RotateVault {
    /// The file of the vault key [default: the one that the server reads]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

/// Replaces the admin token, one stage at a time. Returns the text to print.
pub(super) fn admin_token(configuration: &Configuration, command: AdminTokenCommand) -> anyhow::Result<String> {
    let file = Secrets::admin_token_file(configuration);
    let file = SecretFile::new(file.context("TILL_ADMIN_TOKEN is set: unset it, a token in a file can be replaced")?);
    let _lock = lock(&file)?;
    let tokens = read(&file)?;
    match (command, tokens.as_slice()) {
        (AdminTokenCommand::Rotate, [old]) => {
            let new = fresh_secret();
            file.replace(&[&new, old]).with_context(|| format!("failed to write {}", file.path().display()))?;
            have_token_read(configuration, old)?;
            Ok(format!(
                "the server takes both tokens; the new one is the first line of {}. When nobody uses the old one any \
                 more: till admin-token retire",
                file.path().display()
            ))
        }
        (AdminTokenCommand::Retire, [new, old]) => {
            // A rotation that was cut off may have left the server with the old token alone, so the server reads both
            // first. A failure of this reload is ignored here: the reload below reports it.
            let _both = have_token_read(configuration, old);
            file.replace(&[new]).with_context(|| format!("failed to write {}", file.path().display()))?;
            have_token_read(configuration, new)?;
            Ok("the server accepts only the new token".to_owned())
        }
        (AdminTokenCommand::Rotate, _) => {
            bail!("{} holds two tokens already: till admin-token retire", file.path().display())
        }
        (AdminTokenCommand::Retire, _) => bail!("{} holds one token: there is none to retire", file.path().display()),
    }
}

/// Makes the server read its token, and checks that it did.
fn have_token_read(configuration: &Configuration, token: &SecretString) -> anyhow::Result<()> {
    let answer = AdminClient::of(configuration, token.clone())?.call_admin("reload", &json!({}), None);
    let answer = answer.context("the file is written, but the server was not told: send it SIGHUP, or restart it")?;
    let read = answer["read"].as_array().is_some_and(|read| read.iter().any(|what| what == "admin_token"));
    if read { Ok(()) } else { bail!("the server did not read its admin token: {}", answer["kept"]) }
}

/// Replaces the vault key. Returns the text to print.
pub(super) fn vault(configuration: &Configuration, command: &VaultCommand) -> anyhow::Result<String> {
    let VaultCommand::Rotate(RotateVault { key_file }) = command;
    let file = key_file.clone().or_else(|| Secrets::vault_key_file(configuration));
    let file = SecretFile::new(file.context("TILL_VAULT_KEY is set: name the file with --key-file")?);
    let _lock = lock(&file)?;
    let (old, new) = both_keys(&file)?;
    let client = AdminClient::of(configuration, Secrets::find_admin_token(configuration)?)?;
    let answer = client
        .call_admin("rotate-vault-key", &json!({ "vault_key": new.expose_secret() }), None)
        .with_context(|| {
            let file = file.path().display();
            format!(
                "{file} has the old key and the new one, either of which may open the vault: run this command again"
            )
        })?;
    let retired = name(&old)?;
    let kept = file.keep_beside(&format!(".retired-{retired}"), &old).context("failed to keep the old key")?;
    file.replace(&[&new]).with_context(|| format!("failed to write {}", file.path().display()))?;
    rotated(&file, &new, &retired, &kept, &answer)
}

fn rotated(
    file: &SecretFile,
    new: &SecretString,
    retired: &str,
    kept: &Path,
    answer: &Value,
) -> anyhow::Result<String> {
    let done = if answer == &Value::Bool(true) { "opens from now on" } else { "opened already" };
    Ok(format!(
        "the vault {done} under the key {} in {}; keep a copy of it\ncheckpoints that were taken before need the key \
         {retired}, which is kept in {}: remove it with the last of them",
        name(new)?,
        file.path().display(),
        kept.display()
    ))
}

/// The present key and the new one, both of them in the file. A rotation that was cut off continues with the new key
/// that it began with.
fn both_keys(file: &SecretFile) -> anyhow::Result<(SecretString, SecretString)> {
    match read(file)?.as_slice() {
        [old] => {
            let new = RootKey::generate()?.expose_hex();
            let new = SecretString::from(new.as_str());
            name(old)?;
            file.replace(&[old, &new]).with_context(|| format!("failed to write {}", file.path().display()))?;
            Ok((old.clone(), new))
        }
        [old, new] => Ok((old.clone(), new.clone())),
        _ => bail!("{} holds neither one key nor two", file.path().display()),
    }
}

/// Fails while another command replaces the secrets of the file.
fn lock(file: &SecretFile) -> anyhow::Result<SecretFileLock> {
    let path = file.path().display();
    match file.lock() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            bail!(
                "another command is replacing the content of {path}: wait until it has ended, then check whether this \
                    is still needed"
            )
        }
        lock => lock.with_context(|| format!("failed to lock {path}")),
    }
}

fn name(key: &SecretString) -> anyhow::Result<String> {
    Ok(RootKey::from_hex(key.expose_secret())?.name())
}

fn read(file: &SecretFile) -> anyhow::Result<Vec<SecretString>> {
    file.read().with_context(|| format!("failed to read {}", file.path().display()))
}
