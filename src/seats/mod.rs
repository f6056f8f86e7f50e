//! Signing in: passwords and their hashes, codes, sessions in sealed cookies, and limits on wrong attempts. Nothing of
//! it is kept here but the counts of attempts: credentials are rows of the vault, and a session is its cookie.

mod base32;
mod attempts;
mod hashing;
mod password;
mod recovery_codes;
mod totp;
mod sealed_values;
mod state;

pub(crate) use password::check_password;
pub(crate) use sealed_values::{Draft, OperatorSession, Session};
pub(crate) use state::Seats;
pub(crate) use totp::{provisioning_uri, secret_text};
