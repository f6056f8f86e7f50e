//! A valid call of every endpoint that a server publishes, for the tests that visit all of them.

mod endpoint;
mod fixture;
mod objects;
mod values;

pub(crate) use endpoint::{DescribedEndpoint, is_look_up, object};
pub(crate) use fixture::{Fixture, PACKAGES};
