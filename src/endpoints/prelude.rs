//! The names that every file of endpoints uses: of declarations, arguments, kinds of objects, calls and answers.

pub(super) use super::endpoint::{Endpoint, Endpoints, MerchantEndpoint, MerchantEndpoints};
pub(super) use super::kinds::{Kind, NamedKind, find, kind, list, named_kind, row_of, row_under};
pub(super) use super::shapes::object::object;
pub(super) use crate::access::{MerchantCaller, Operator};
pub(super) use crate::service::{Reader, Service, Shared};
pub(super) use till_domain::ids::IdOrExternalId;
pub(super) use till_domain::role::Act;
pub(super) use till_protocol::api_error::{ApiError, Code};
pub(super) use till_protocol::arguments::{ArgumentSet, Field, Optional, Required, arguments, list_page};
pub(super) use till_protocol::declaration::{
    Declaration, DeclaredError, Flags, Package, Returns, Text, ValueType, list_page_arguments, words_of,
};
pub(super) use till_protocol::dispatch::{Call, Reply};
pub(super) use till_protocol::field::ListPageRequest;
