//! The kinds of objects that merchants' calls find and list.

use std::fmt::Display;

use serde::Serialize;
use till_domain::each_id;
use till_domain::ids::{CheckoutId, Id, IdOrExternalId, SessionId};
use till_domain::records::{Rows, Table};
use till_domain::text::ExternalId;
use till_protocol::api_error::ApiError;
use till_protocol::arguments::{ArgumentSet, Required, list_page};
use till_protocol::dispatch::{Call, Reply};
use till_protocol::field::ListPageRequest;
use till_storage::shapes::StoredTable;

use super::created_at::{CreatedAt, MerchantClock};
use crate::access::MerchantCaller;
use crate::service::{Reader, Service, Shared, read_index_span, read_list_page, read_span};

/// A kind of object, by the table of its rows.
pub(super) trait Kind: StoredTable<Key: Id> {
    /// The data that the forms of objects need besides their rows; it is read once a call.
    type Context;

    /// Reads what the forms need.
    fn context(service: &Service, reader: &Reader<'_>) -> Result<Self::Context, ApiError>;

    /// The form in which an object is answered.
    fn form<'r>(
        row: &'r Self::Row,
        context: &'r Self::Context,
        reader: &Reader<'_>,
    ) -> Result<impl Serialize + use<'r, Self>, ApiError>;
}

/// A kind of object that calls name.
pub(super) trait NamedKind: StoredTable<Key: Id> {
    /// The type of the names of objects in calls.
    type Name: Display;

    /// The argument that names an object.
    const ARGUMENT: Required<Self::Name>;

    /// The row of the object of that name.
    fn row(reader: &Reader<'_>, name: &Self::Name) -> Result<Option<Self::Row>, ApiError>;

    /// The refusal of a name that no object has.
    fn unknown() -> ApiError;

    /// The row of the object of that name, or the refusal.
    fn find_row(reader: &Reader<'_>, name: Self::Name) -> Result<Self::Row, ApiError> {
        Self::row(reader, &name)?.ok_or_else(|| {
            let hint = misplaced::<Self::Key>(&name.to_string());
            hint.map_or_else(Self::unknown, |hint| Self::unknown().with_note(&hint))
        })
    }
}

/// Makes a table a [`Kind`], in a file that uses the prelude: by the form of its objects, or by what the form needs
/// besides the row, how that is read, and the form.
///
/// ```ignore
/// kind!(Statements => StatementShape::new);
/// kind!(Topups, Currency: |_, reader| currency(reader) => |topup, currency, _| Ok(TopupShape::new(topup, *currency)));
/// ```
macro_rules! kind {
    ($table:ty => $form:expr) => {
        kind!($table, (): |_, _| Ok(()) => |row, _, _| Ok($form(row)));
    };
    ($table:ty, $context:ty: |$service:pat_param, $reader:pat_param| $read:expr
        => |$row:pat_param, $known:pat_param, $beside:pat_param| $form:expr) => {
        impl Kind for $table {
            type Context = $context;

            fn context($service: &Service, $reader: &Reader<'_>) -> Result<$context, ApiError> {
                $read
            }

            fn form<'r>(
                $row: &'r Self::Row,
                $known: &'r $context,
                $beside: &Reader<'_>,
            ) -> Result<impl serde::Serialize + use<'r>, ApiError> {
                $form
            }
        }
    };
}

pub(super) use kind;

/// Makes a table a [`NamedKind`], in a file that uses the prelude: by the argument that names an object by its id, or
/// by an index as well, and the refusal of a name that no object has.
///
/// ```ignore
/// named_kind!(Statements, STATEMENT_ARGUMENT, ApiError::not_found("statement_id", UNKNOWN));
/// named_kind!(Topups, by TopupsByExternalId, TOPUP_ARGUMENT, ApiError::not_found("topup_id", UNKNOWN));
/// ```
macro_rules! named_kind {
    ($table:ty, $argument:expr, $unknown:expr) => {
        named_kind!(@$table, Self::Key, $argument, $unknown, row_under::<$table>);
    };
    ($table:ty, by $index:ty, $argument:expr, $unknown:expr) => {
        named_kind!(@$table, IdOrExternalId<Self::Key>, $argument, $unknown, row_of::<$index, $table>);
    };
    (@$table:ty, $name:ty, $argument:expr, $unknown:expr, $row:expr) => {
        impl NamedKind for $table {
            type Name = $name;

            const ARGUMENT: Required<$name> = $argument;

            fn row(reader: &Reader<'_>, name: &$name) -> Result<Option<Self::Row>, ApiError> {
                ($row)(reader, name)
            }

            fn unknown() -> ApiError {
                $unknown
            }
        }
    };
}

pub(super) use named_kind;

/// The row of an object by its id, or by the identifier that the index `I` has.
pub(super) fn row_of<I, T>(reader: &Reader<'_>, name: &IdOrExternalId<T::Key>) -> Result<Option<T::Row>, ApiError>
where
    I: Table<Key = ExternalId, Row = T::Key>,
    T: Table,
{
    let id = reader.id_of::<I>(name)?;
    Ok(id.map_or(Ok(None), |id| reader.get::<T>(id))?)
}

/// The row of an object by its id.
pub(super) fn row_under<T: Table>(reader: &Reader<'_>, id: &T::Key) -> Result<Option<T::Row>, ApiError> {
    Ok(reader.get::<T>(id.clone())?)
}

/// Declares the search for the kind of an id.
macro_rules! kinds_of_ids {
    ($($id:ty)+) => {
        /// The words for what a text names, when it is an id.
        fn description_of(text: &str) -> Option<&'static str> {
            $(if text.parse::<$id>().is_ok() {
                return Some(<$id>::DESCRIPTION);
            })+
            None
        }
    };
}

each_id!(kinds_of_ids);

/// The advice about a name that no object has and that is the address of a checkout, or an id of another kind.
fn misplaced<K: Id>(name: &str) -> Option<String> {
    if K::DESCRIPTION == CheckoutId::DESCRIPTION && name.contains("://") {
        return Some("Of an address, send the last segment alone.".to_owned());
    }
    let words = description_of(name).filter(|words| *words != K::DESCRIPTION)?;
    let taken_by = if words == SessionId::DESCRIPTION {
        ", which initiate-payment-flow takes, and retrieve-payment-session of /sdk: a payment has an id of its own"
    } else {
        ""
    };
    Some(format!("The one that was sent is {words}{taken_by}."))
}

/// Answers the object that a call names.
pub(super) async fn find<T: NamedKind + Kind>(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let name = call.fields().parse(&T::ARGUMENT)?;
    let reader = call.caller().reader(&service).await?;
    let row = T::find_row(&reader, name)?;
    let context = T::context(&service, &reader)?;
    Ok(Reply::new(&T::form(&row, &context, &reader)?))
}

/// Answers a page of all objects, newest first.
pub(super) async fn list<T: Kind>(service: Shared, call: Call<MerchantCaller>) -> Result<Reply, ApiError> {
    let request = call.fields().parse(&list_page::<T::Key>())?;
    let reader = call.caller().reader(&service).await?;
    let context = T::context(&service, &reader)?;
    let page = read_list_page::<T>(&reader, request)?;
    Reply::list_page(&page.try_map(|row| T::form(row, &context, &reader))?)
}

/// The arguments of a list of the objects with a status.
pub(super) type StatusFilters<K, S> = (ListPageRequest<K>, Option<S>, CreatedAt);

/// Answers a page of the objects of a time, with a status when one is given, by the index `I`.
pub(super) async fn list_by_status<I, T, S>(
    service: Shared,
    call: Call<MerchantCaller>,
    arguments: &ArgumentSet<StatusFilters<T::Key, S>, MerchantClock>,
    name: fn(S) -> &'static str,
) -> Result<Reply, ApiError>
where
    I: StoredTable<Key = (S, T::Key)>,
    T: Kind<Key: Ord>,
    S: Copy,
{
    let reader = call.caller().reader(&service).await?;
    let clock = MerchantClock::of(&service, &reader)?;
    let (request, status, created) = call.fields().parse_in(arguments, &clock)?;
    let page = match status {
        None => read_span::<T>(&reader, request, created.span()).await?,
        Some(status) => read_index_span::<I, T, _>(&reader, status, request, created.span()).await?,
    };
    let context = T::context(&service, &reader)?;
    let page = page.try_map(|row| T::form(row, &context, &reader))?;
    Reply::list_page(
        &page.with_filters(&[("status", status.map(|status| name(status).to_owned())), created.filter_text()]),
    )
}
