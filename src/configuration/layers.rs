//! The sources of settings, in layers: a later one overrides those below it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use secrecy::SecretString;

use super::settings::{
    ADMIN_TOKEN_FILE, ADMIN_TOKEN_VARIABLE, ALL, CONFIG_VARIABLE, Setting, VAULT_KEY_FILE, VAULT_KEY_VARIABLE,
    WEBHOOK_SECRET_VARIABLE,
};

/// Variables that are read though they are no settings of the file.
const BESIDE_SETTINGS: [&str; 4] = [CONFIG_VARIABLE, ADMIN_TOKEN_VARIABLE, VAULT_KEY_VARIABLE, WEBHOOK_SECRET_VARIABLE];

/// The values that the operator has given, by source. Only their syntax is checked here.
#[derive(Debug, Default)]
pub struct Layers {
    flags: BTreeMap<&'static str, String>,
    environment: BTreeMap<&'static str, String>,
    file: BTreeMap<&'static str, String>,
    pub(super) admin_token: Option<SecretString>,
    pub(super) vault_key: Option<SecretString>,
    pub(super) faults: Vec<String>,
}

/// The source of a value.
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
            Ok(text) => self.with_text_of(&path.display().to_string(), &text),
            Err(error) => self.with_fault(format!("{}: cannot be read: {error}", path.display())),
        }
    }

    /// Lays a configuration file's text over the defaults.
    #[must_use]
    pub fn with_file_text(self, text: &str) -> Layers {
        self.with_text_of("the configuration file", text)
    }

    fn with_text_of(mut self, file: &str, text: &str) -> Layers {
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => return self.with_fault(not_toml(file, text, &error)),
        };
        for (key, value) in table {
            match (find_setting(&key), scalar(&value)) {
                (None, _) => self.faults.push(unknown_key(&key, &value)),
                (Some(setting), Err(fault)) => self.faults.push(format!("{}: {fault}", setting.key)),
                (Some(setting), Ok(text)) => drop(self.file.insert(setting.key, text)),
            }
        }
        self
    }

    /// Lays the environment over the file. Only `TILL_*` is read. A variable that is no setting is a fault of a
    /// server's configuration, like an unknown key of the file, since a misspelt setting would be ignored silently. An
    /// empty variable is a fault as well, since a failed substitution leaves one.
    #[must_use]
    pub fn with_environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Layers {
        for (name, value) in variables.into_iter().filter(|(name, _)| name.starts_with("TILL_")) {
            let setting = ALL.iter().find(|setting| setting.variable() == name);
            if !Layers::reads(&name) {
                self.faults.push(unknown_variable(&name));
            } else if value.is_empty() {
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

    /// True for a variable that has a setting or a secret.
    #[must_use]
    pub fn reads(variable: &str) -> bool {
        BESIDE_SETTINGS.contains(&variable) || ALL.iter().any(|setting| setting.variable() == variable)
    }

    /// Lays one flag over everything else.
    ///
    /// # Panics
    /// When there is no such setting.
    #[must_use]
    pub fn with_flag(mut self, key: &str, value: Option<String>) -> Layers {
        let setting = find_setting(key).expect("flags are named after settings");
        if let Some(value) = value {
            self.flags.insert(setting.key, value);
        }
        self
    }

    fn with_fault(mut self, fault: String) -> Layers {
        self.faults.push(fault);
        self
    }

    /// The effective value, and its source.
    pub(super) fn value(&self, setting: &Setting) -> Option<(&str, Origin)> {
        let layers =
            [(&self.flags, Origin::Flag), (&self.environment, Origin::Environment), (&self.file, Origin::File)];
        let said =
            layers.into_iter().find_map(|(layer, origin)| layer.get(setting.key).map(|value| (value.as_str(), origin)));
        said.or_else(|| setting.default.map(|value| (value, Origin::Default)))
    }
}

impl Origin {
    /// The setting's name in that source, for a message.
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

fn find_setting(key: &str) -> Option<Setting> {
    ALL.iter().copied().find(|setting| setting.key == key)
}

fn unknown_key(key: &str, value: &toml::Value) -> String {
    if value.is_table() {
        return format!(
            "[{key}]: the file has no sections: write each setting on a line of its own, without a heading"
        );
    }
    for (secret, file) in [(ADMIN_TOKEN_VARIABLE, ADMIN_TOKEN_FILE), (VAULT_KEY_VARIABLE, VAULT_KEY_FILE)] {
        if format!("TILL_{}", key.to_uppercase()) == secret {
            let file = file.key;
            return format!(
                "{key}: a secret is not written into this file: name a file that has it as {file}, or set {secret}"
            );
        }
    }
    unknown(key, ALL.iter().map(|setting| setting.key.to_owned()), "")
}

fn unknown_variable(name: &str) -> String {
    let variables = ALL.iter().map(Setting::variable).chain(BESIDE_SETTINGS.map(str::to_owned));
    let keys = variables.map(|variable| variable.trim_start_matches("TILL_").to_owned());
    unknown(name.trim_start_matches("TILL_"), keys, "TILL_")
}

/// Reports that there is no setting of this name, and suggests the closest one.
fn unknown(name: &str, known: impl Iterator<Item = String>, prefix: &str) -> String {
    let distances = known.map(|known| (strsim::damerau_levenshtein(name, &known), known));
    match distances.min().filter(|(distance, near)| distance * 2 < near.len()) {
        Some((_, near)) => format!("{prefix}{name}: there is no such setting; did you mean {prefix}{near}?"),
        None => format!("{prefix}{name}: there is no such setting"),
    }
}

/// Reports the position at which a file is not TOML, and the reason. Values are not repeated: one may be a secret that
/// was put there by mistake.
fn not_toml(file: &str, text: &str, error: &toml::de::Error) -> String {
    let offset = error.span().map_or(text.len(), |span| span.start);
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    let of_key = match text[start..].lines().next().and_then(|line| line.split_once('=')) {
        Some((key, _)) if find_setting(key.trim()).is_some() => format!(", {}", key.trim()),
        _ => String::new(),
    };
    let remedy = if error.message().contains("duplicate key") {
        "each setting is written once: remove this line or the one before"
    } else {
        "write key = value, with text in quotes: data = \"/var/lib/till\""
    };
    format!("{file}, line {line}{of_key}: is not TOML ({}): {remedy}", error.message())
}

/// The value as text. What cannot be one is a fault that says what it is.
fn scalar(value: &toml::Value) -> Result<String, String> {
    let fault = |what: &str| Err(format!("must be one string, number or boolean, and is {what}"));
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(integer) => Ok(integer.to_string()),
        toml::Value::Boolean(boolean) => Ok(boolean.to_string()),
        toml::Value::Array(_) => fault("a list: write its parts into one string, with commas between them"),
        toml::Value::Float(_) => fault("a number with a fraction: write a whole one"),
        toml::Value::Datetime(_) => fault("a time"),
        toml::Value::Table(_) => fault("a table"),
    }
}
