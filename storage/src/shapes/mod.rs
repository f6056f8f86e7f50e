//! Frozen, versioned shapes on disk of mutations, rows and snapshots, with written conversions
//! to and from the domain, and the keys of rows.
//!
//! Rules:
//! - A shape whose name ends in a version (`PaymentV1`) is on disk. It is never changed: no field is added,
//!   removed, retyped or moved, no variant is inserted or moved. Golden bytes in `golden_v1.txt` detect a change.
//! - A variant added to an enum of the domain is added at its end. A changed field is a new shape (`TokenV2`), reached
//!   from events by a new variant (`CardTokenizedV2`) at the end of the event shape, and from rows by a new row format.
//!   Values that the first shape can hold are still written in it.
//! - Stored records are never encoded again: the conversion of an old shape leads to today's domain.
//! - Customers' names, e-mails and mobiles, and the names on cards, are always sealed, see [`Personal`].
//!
//! Shapes are declared in the modules of this directory; the encoding of numbers, texts and lists is in `codec`.

mod codec;
mod declared;
mod sealed;
mod shape;
mod shown;
pub(crate) mod tag;
pub mod frozen;

// The parts.
mod acquirer;
mod activity;
mod card;
mod checkout;
mod customer;
mod ledger;
mod merchant;
mod metadata;
mod payment;
mod session;
mod statement;
mod webhook;

// The whole.
mod fold;
mod key_bytes;
mod tables;
mod keys;
mod mutation;
mod personal;
mod rows;
mod reader;
mod scan;
mod list_index;
mod activity_index;
mod payment_index;
mod statement_finder;
mod external_id_finder;
mod state;

#[cfg(test)]
mod drawn;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod second_form_tests;

pub use activity_index::ActivityIndex;
pub use codec::{DECODE_LIMIT_BYTES, ShapeError};
pub use external_id_finder::ExternalIdFinder;
pub use fold::{ChangedRow, Stored, fold_mutation};
pub use keys::{KeyError, decode_key, push_row_key, range_before_id, row_key, table_range};
pub use list_index::{ListEntry, ListIndex, ListKey};
pub use mutation::{MUTATION_FORMAT, decode_mutation, encode_mutation};
pub use payment_index::PaymentIndex;
pub use personal::{MerchantPersonal, Personal, StaysSealed};
pub use reader::{MerchantReader, MerchantView, read_row};
pub use rows::{decode_row, decode_row_of, encode_row, is_same_row, push_row};
pub use scan::{KeyedRow, next_merchant_with_timers, open_calls};
pub use shown::{Disclosure, SEALED, Shown};
pub use state::{STATE_FORMAT, decode_state, encode_state};
pub use statement_finder::StatementFinder;
pub use tables::{KeyParts, ROW_FORMAT, StoredTable, TableKind};
