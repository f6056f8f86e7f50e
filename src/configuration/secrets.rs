//! The two secrets of a server: the sources that they are read from, and their creation at the first start.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use till_storage::vault::RootKey;
use zeroize::Zeroizing;

use super::effective::Configuration;
use super::secret_file::{SecretFile, lines, sync_directory, write_whole};
use super::settings::{ADMIN_TOKEN_VARIABLE, VAULT_KEY_VARIABLE};

/// Bytes of a generated secret.
const SECRET_BYTES: usize = 32;

/// The limit of secrets of one kind in one source: the present one, and the one that replaces it.
const SECRETS_MAX: usize = 2;

/// The directory of generated secrets, below the data directory.
const DIRECTORY: &str = "secrets";
const ADMIN_TOKEN_FILE: &str = "admin-token";
const VAULT_KEY_FILE: &str = "vault-key";

/// The database, below the data directory. Once it exists, only its own vault key opens the data in it.
const DATABASE: &str = "db";

/// The operator's tokens, and the keys that card data is sealed under.
#[derive(Debug)]
pub struct Secrets {
    /// The bearer tokens of the admin listener: one, or two during a rotation.
    pub admin_tokens: Vec<SecretString>,
    /// The root keys of the vault: one, or two during a rotation, either of which may open the vault.
    pub vault_keys: Vec<RootKey>,
    /// The files that this start created; the operator is told of them.
    pub made: Vec<PathBuf>,
}

/// A reason why the secrets cannot be used. No message shows a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// A secret has the wrong form.
    #[error("{origin}: {remedy}")]
    Malformed {
        /// The source of the secret.
        origin: String,
        /// Advice on the correct form.
        remedy: &'static str,
    },
    /// A file cannot be read or made.
    #[error("failed to {action} {}", path.display())]
    File {
        /// The attempted action.
        action: &'static str,
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The data is sealed under a key that is missing.
    #[error("{} holds data, but its vault key is neither in TILL_VAULT_KEY, nor in vault_key_file, nor in {}; put it \
        back, a new one would not open the data", data.display(), file.display())]
    VaultKeyLost {
        /// The data directory.
        data: PathBuf,
        /// The file in which the key is expected.
        file: PathBuf,
    },
    /// The data directory is no place for the vault key.
    #[error(
        "the log is in a database, and its vault key is kept with neither: set TILL_VAULT_KEY, or vault_key_file to a \
            file outside of the data directory"
    )]
    VaultKeyWanted,
    /// There is no admin token yet.
    #[error("there is no admin token: set TILL_ADMIN_TOKEN, or name the server's data directory ({} does not exist)",
        file.display())]
    NoAdminToken {
        /// The file in which it is expected.
        file: PathBuf,
    },
}

impl Secrets {
    /// Finds the secrets, and generates those that are missing: random, in files that only the owner may read.
    ///
    /// # Errors
    /// Fails when one has the wrong form, a file cannot be used, or the vault key of existing data is missing.
    pub fn load_or_make(configuration: &Configuration) -> Result<Secrets, SecretsError> {
        let mut made = Vec::new();
        let found_admin_tokens = find_admin_tokens(configuration)?;
        let vault_keys = match given_vault_keys(configuration)? {
            Some(keys) => keys,
            None if configuration.data.join(DATABASE).exists() => return Err(vault_key_lost(configuration)),
            None if !configuration.deployment.keeps_vault_key() => return Err(SecretsError::VaultKeyWanted),
            None => {
                let file = made_vault_key(configuration);
                vault_keys(&[make(&file, &mut made)?], &file.display().to_string())?
            }
        };
        // Last, since a start that is refused must not create anything.
        let admin_tokens = match found_admin_tokens {
            Some(tokens) => tokens,
            None => vec![make(&made_admin_token(configuration), &mut made)?],
        };
        Ok(Secrets { admin_tokens, vault_keys, made })
    }

    /// The vault key of a server that has been started before, or both keys during a rotation. Generates nothing.
    ///
    /// # Errors
    /// Fails when there is none, or it cannot be read.
    pub fn find_vault_keys(configuration: &Configuration) -> Result<Vec<RootKey>, SecretsError> {
        given_vault_keys(configuration)?.ok_or_else(|| vault_key_lost(configuration))
    }

    /// The one or two admin tokens that a running server is to accept. Generates nothing.
    ///
    /// # Errors
    /// Fails when there is none, or it cannot be read.
    pub fn find_admin_tokens(configuration: &Configuration) -> Result<Vec<SecretString>, SecretsError> {
        let missing = || SecretsError::NoAdminToken { file: made_admin_token(configuration) };
        find_admin_tokens(configuration)?.ok_or_else(missing)
    }

    /// The admin token for calls to a server that has been started before: the first one when there are two.
    ///
    /// # Errors
    /// Fails when there is none, or it cannot be read.
    pub fn find_admin_token(configuration: &Configuration) -> Result<SecretString, SecretsError> {
        let mut tokens = Secrets::find_admin_tokens(configuration)?;
        Ok(tokens.swap_remove(0))
    }

    /// The file that the admin token is read from, unless the environment gives it.
    #[must_use]
    pub fn admin_token_file(configuration: &Configuration) -> Option<PathBuf> {
        let file = configuration.admin_token_file.clone().unwrap_or_else(|| made_admin_token(configuration));
        configuration.admin_token.is_none().then_some(file)
    }

    /// The file that the vault key is read from, unless the environment gives it.
    #[must_use]
    pub fn vault_key_file(configuration: &Configuration) -> Option<PathBuf> {
        let file = configuration.vault_key_file.clone().unwrap_or_else(|| made_vault_key(configuration));
        configuration.vault_key.is_none().then_some(file)
    }
}

fn made_admin_token(configuration: &Configuration) -> PathBuf {
    configuration.data.join(DIRECTORY).join(ADMIN_TOKEN_FILE)
}

fn made_vault_key(configuration: &Configuration) -> PathBuf {
    configuration.data.join(DIRECTORY).join(VAULT_KEY_FILE)
}

fn vault_key_lost(configuration: &Configuration) -> SecretsError {
    SecretsError::VaultKeyLost { data: configuration.data.clone(), file: made_vault_key(configuration) }
}

fn given_vault_keys(configuration: &Configuration) -> Result<Option<Vec<RootKey>>, SecretsError> {
    let (given, named) = (configuration.vault_key.as_ref(), configuration.vault_key_file.as_deref());
    let found = find(given, VAULT_KEY_VARIABLE, named, &made_vault_key(configuration))?;
    found.map(|(texts, origin)| vault_keys(&texts, &origin)).transpose()
}

fn find_admin_tokens(configuration: &Configuration) -> Result<Option<Vec<SecretString>>, SecretsError> {
    let (given, named) = (configuration.admin_token.as_ref(), configuration.admin_token_file.as_deref());
    let found = find(given, ADMIN_TOKEN_VARIABLE, named, &made_admin_token(configuration))?;
    let Some((tokens, origin)) = found else { return Ok(None) };
    let is_sendable = |token: &SecretString| {
        !token.expose_secret().is_empty() && token.expose_secret().bytes().all(|byte| byte.is_ascii_graphic())
    };
    let remedy = "an admin token is visible ASCII characters without spaces; give one, or two, each on a line";
    let is_sound = !tokens.is_empty() && tokens.len() <= SECRETS_MAX && tokens.iter().all(is_sendable);
    if is_sound { Ok(Some(tokens)) } else { Err(SecretsError::Malformed { origin, remedy }) }
}

/// The lines of a secret and their source: the environment, else the file that the configuration names, else the file
/// that an earlier start generated.
fn find(
    given: Option<&SecretString>,
    variable: &str,
    named: Option<&Path>,
    made: &Path,
) -> Result<Option<(Vec<SecretString>, String)>, SecretsError> {
    if let Some(secret) = given {
        return Ok(Some((lines(secret.expose_secret()), variable.to_owned())));
    }
    let path = named.unwrap_or(made);
    match SecretFile::new(path.to_owned()).read() {
        Ok(secrets) => Ok(Some((secrets, path.display().to_string()))),
        Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SecretsError::File { action: "read", path: path.to_owned(), source }),
    }
}

fn vault_keys(texts: &[SecretString], origin: &str) -> Result<Vec<RootKey>, SecretsError> {
    let remedy = "a vault key is 64 hexadecimal characters; give one, or two, each on a line";
    let malformed = || SecretsError::Malformed { origin: origin.to_owned(), remedy };
    if texts.is_empty() || texts.len() > SECRETS_MAX {
        return Err(malformed());
    }
    texts.iter().map(|text| RootKey::from_hex(text.expose_secret()).map_err(|_| malformed())).collect()
}

/// A random secret, in hexadecimal characters.
pub(crate) fn fresh_secret() -> SecretString {
    let mut bytes = Zeroizing::new([0_u8; SECRET_BYTES]);
    getrandom::fill(bytes.as_mut()).expect("the operating system gives randomness once it is up");
    let mut text = Zeroizing::new(String::with_capacity(2 * SECRET_BYTES));
    for byte in bytes.iter() {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    SecretString::from(text.as_str())
}

/// Generates a secret in a new file that only the owner may read. It is durable before it is used.
fn make(path: &Path, made: &mut Vec<PathBuf>) -> Result<SecretString, SecretsError> {
    let secret = fresh_secret();
    write_new(path, &secret).map_err(|source| SecretsError::File { action: "make", path: path.to_owned(), source })?;
    made.push(path.to_owned());
    Ok(secret)
}

/// Never replaces a file, since another start may use its content at this moment.
fn write_new(path: &Path, secret: &SecretString) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    if let Some(data) = directory.parent() {
        fs::create_dir_all(data)?;
    }
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
        Ok(()) => sync_directory(directory)?,
    }
    let one_at_a_time = File::open(directory)?;
    one_at_a_time.lock()?;
    if path.try_exists()? { Err(io::ErrorKind::AlreadyExists.into()) } else { write_whole(path, secret) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::configuration::Layers;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eFF";

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"))
    }

    fn configuration(data: &Path, variables: &[(&str, &str)]) -> Configuration {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let layers = Layers::new().with_environment(variables).with_flag("data", Some(data.display().to_string()));
        Configuration::from_layers(layers).unwrap_or_else(|error| panic!("{error}"))
    }

    fn loaded(configuration: &Configuration) -> Secrets {
        Secrets::load_or_make(configuration).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn the_first_start_makes_both_secrets_and_the_next_finds_them() {
        let data = directory();
        let configuration = configuration(&data.path().join("new"), &[]);
        assert!(matches!(Secrets::find_admin_token(&configuration), Err(SecretsError::NoAdminToken { .. })));
        let first = loaded(&configuration);
        assert_eq!(first.made.len(), 2);
        for file in &first.made {
            assert_eq!(fs::metadata(file).map(|metadata| metadata.permissions().mode() & 0o777).ok(), Some(0o600));
        }
        let second = loaded(&configuration);
        assert!(second.made.is_empty());
        assert_eq!(first.admin_tokens[0].expose_secret(), second.admin_tokens[0].expose_secret());
        assert_eq!(first.vault_keys[0].expose_hex(), second.vault_keys[0].expose_hex());
        assert_eq!(first.admin_tokens[0].expose_secret().len(), 64);
    }

    #[test]
    fn a_start_makes_whole_secrets_after_a_crash() {
        let data = directory();
        let configuration = configuration(data.path(), &[]);
        let secrets = data.path().join(DIRECTORY);
        assert!(fs::create_dir(&secrets).is_ok() && fs::write(secrets.join("vault-key.new"), "0123").is_ok());
        let first = loaded(&configuration);
        assert_eq!(first.vault_keys[0].expose_hex(), loaded(&configuration).vault_keys[0].expose_hex());
        assert_eq!(fs::read_dir(&secrets).map(Iterator::count).ok(), Some(2), "nothing is left beside them");
    }

    #[test]
    fn of_concurrent_starts_only_one_generates_the_secret() {
        let data = directory();
        let file = data.path().join(DIRECTORY).join(VAULT_KEY_FILE);
        let make_one = || make(&file, &mut Vec::new()).ok().map(|secret| secret.expose_secret().to_owned());
        let made: Vec<String> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(make_one)).collect();
            starts.into_iter().filter_map(|start| start.join().ok().flatten()).collect()
        });
        assert_eq!(made.len(), 1);
        assert_eq!(fs::read_to_string(&file).ok(), Some(format!("{}\n", made[0])));
    }

    #[test]
    fn the_environment_wins_and_nothing_is_made() {
        let data = directory();
        let secrets = loaded(&configuration(data.path(), &[("TILL_ADMIN_TOKEN", "token"), ("TILL_VAULT_KEY", KEY)]));
        assert_eq!((secrets.admin_tokens.len(), secrets.admin_tokens[0].expose_secret()), (1, "token"));
        assert_eq!((secrets.vault_keys.len(), &*secrets.vault_keys[0].expose_hex()), (1, &KEY.to_lowercase()));
        assert!(secrets.made.is_empty() && !data.path().join(DIRECTORY).exists());
    }

    #[test]
    fn a_named_file_is_read_and_must_be_there() {
        let data = directory();
        let file = data.path().join("key");
        assert!(fs::write(&file, format!("{KEY}\n")).is_ok());
        let name = file.display().to_string();
        let secrets = loaded(&configuration(data.path(), &[("TILL_VAULT_KEY_FILE", &name)]));
        assert_eq!(*secrets.vault_keys[0].expose_hex(), KEY.to_lowercase());
        let missing = configuration(data.path(), &[("TILL_ADMIN_TOKEN_FILE", "/nonexistent/token")]);
        assert!(matches!(Secrets::load_or_make(&missing), Err(SecretsError::File { .. })));
    }

    #[test]
    fn two_lines_are_two_secrets_and_three_are_refused() {
        let data = directory();
        let (two, three) = (format!("{KEY}\n\n {KEY} \n"), format!("{KEY}\n{KEY}\n{KEY}"));
        let secrets =
            loaded(&configuration(data.path(), &[("TILL_ADMIN_TOKEN", "new\nold\n"), ("TILL_VAULT_KEY", &two)]));
        let tokens: Vec<&str> = secrets.admin_tokens.iter().map(ExposeSecret::expose_secret).collect();
        assert_eq!((tokens, secrets.vault_keys.len()), (vec!["new", "old"], 2));
        for (variable, value) in
            [("TILL_ADMIN_TOKEN", "a\nb\nc"), ("TILL_VAULT_KEY", &three), ("TILL_ADMIN_TOKEN", "\n")]
        {
            let refused = Secrets::load_or_make(&configuration(data.path(), &[(variable, value)]));
            assert!(matches!(refused, Err(SecretsError::Malformed { .. })), "{variable}");
        }
    }

    #[test]
    fn a_secret_of_the_wrong_form_is_refused_without_showing_it() {
        let data = directory();
        for (variable, value) in
            [("TILL_VAULT_KEY", "0123"), ("TILL_VAULT_KEY", &KEY.replace('0', "g")), ("TILL_ADMIN_TOKEN", "two words")]
        {
            let error = Secrets::load_or_make(&configuration(data.path(), &[(variable, value)]))
                .err()
                .map(|error| error.to_string());
            assert!(error.is_some_and(|text| text.contains(variable) && !text.contains(value)), "{variable}");
        }
    }

    #[test]
    fn data_without_its_vault_key_is_not_given_a_new_one() {
        let data = directory();
        assert!(fs::create_dir(data.path().join(DATABASE)).is_ok());
        assert!(matches!(
            Secrets::load_or_make(&configuration(data.path(), &[])),
            Err(SecretsError::VaultKeyLost { .. })
        ));
        assert!(!data.path().join(DIRECTORY).exists(), "no admin token either");
    }
}
