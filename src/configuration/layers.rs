//! The places that settings come from, laid over each other.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use secrecy::SecretString;

use super::settings::{ADMIN_TOKEN_VARIABLE, ALL, Setting, VAULT_KEY_VARIABLE};

/// What the operator has said, by place. Nothing is checked here but the form.
#[derive(Debug, Default)]
pub struct Layers {
    flags: BTreeMap<&'static str, String>,
    environment: BTreeMap<&'static str, String>,
    file: BTreeMap<&'static str, String>,
    pub(super) admin_token: Option<SecretString>,
    pub(super) vault_key: Option<SecretString>,
    pub(super) faults: Vec<String>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Flag,
    Environment,
    File,
    Default,
}

impl Layers {
    /// No layer but the defaults.
    #[must_use]
    pub fn new() -> Layers {
        Layers::default()
    }

    /// Lays the configuration file over the defaults. Unknown keys in it are faults.
    #[must_use]
    pub fn with_file(self, path: &Path) -> Layers {
        match std::fs::read_to_string(path) {
            Ok(text) => self.with_file_text(&text),
            Err(error) => self.with_fault(format!("{}: cannot be read: {error}", path.display())),
        }
    }

    /// Lays a configuration file's text over the defaults.
    #[must_use]
    pub fn with_file_text(mut self, text: &str) -> Layers {
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => return self.with_fault(format!("the configuration file is not TOML: {}", error.message())),
        };
        for (key, value) in table {
            match (known(&key), scalar(&value)) {
                (None, _) => self.faults.push(unknown_key(&key)),
                (Some(setting), None) => {
                    self.faults.push(format!("{}: must be a string, a number or a boolean", setting.key))
                }
                (Some(setting), Some(text)) => drop(self.file.insert(setting.key, text)),
            }
        }
        self
    }

    /// Lays the environment over the file. Only `TILL_*` is read; an empty variable is a fault, since it is
    /// what a failed substitution leaves behind.
    #[must_use]
    pub fn with_environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Layers {
        for (name, value) in variables.into_iter().filter(|(name, _)| name.starts_with("TILL_")) {
            let setting = ALL.iter().find(|setting| setting.variable() == name);
            if value.is_empty() && (setting.is_some() || name == ADMIN_TOKEN_VARIABLE || name == VAULT_KEY_VARIABLE) {
                self.faults.push(format!("{name}: is empty; give it a value or unset it"));
            } else if name == ADMIN_TOKEN_VARIABLE {
                self.admin_token = Some(value.into());
            } else if name == VAULT_KEY_VARIABLE {
                self.vault_key = Some(value.into());
            } else if let Some(setting) = setting {
                self.environment.insert(setting.key, value);
            }
        }
        self
    }

    /// Lays one flag over everything else.
    ///
    /// # Panics
    /// When there is no such setting.
    #[must_use]
    pub fn with_flag(mut self, key: &str, value: Option<String>) -> Layers {
        let setting = known(key).expect("flags are named after settings");
        if let Some(value) = value {
            self.flags.insert(setting.key, value);
        }
        self
    }

    fn with_fault(mut self, fault: String) -> Layers {
        self.faults.push(fault);
        self
    }

    /// The value that counts, and where it comes from.
    pub(super) fn value(&self, setting: &Setting) -> Option<(&str, Origin)> {
        let layers =
            [(&self.flags, Origin::Flag), (&self.environment, Origin::Environment), (&self.file, Origin::File)];
        let said =
            layers.into_iter().find_map(|(layer, origin)| layer.get(setting.key).map(|value| (value.as_str(), origin)));
        said.or_else(|| setting.default.map(|value| (value, Origin::Default)))
    }
}

impl Origin {
    /// The setting's name in that place, for a message.
    pub(super) fn name_of(self, setting: &Setting) -> String {
        match self {
            Origin::Flag => format!("--{}", setting.key.replace('_', "-")),
            Origin::Environment => setting.variable(),
            Origin::File | Origin::Default => setting.key.to_owned(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Origin::Flag => "command line",
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Default => "default",
        })
    }
}

fn known(key: &str) -> Option<Setting> {
    ALL.into_iter().find(|setting| setting.key == key)
}

fn unknown_key(key: &str) -> String {
    let distance = |setting: &Setting| strsim::damerau_levenshtein(key, setting.key);
    match ALL.into_iter().min_by_key(distance).filter(|setting| distance(setting) * 2 < setting.key.len()) {
        Some(near) => format!("{key}: there is no such setting; did you mean {}?", near.key),
        None => format!("{key}: there is no such setting"),
    }
}

fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(integer) => Some(integer.to_string()),
        toml::Value::Boolean(boolean) => Some(boolean.to_string()),
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}
