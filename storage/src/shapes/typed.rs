//! Typed look-ups over a store of bytes.

use till_domain::ids::MerchantId;
use till_domain::records::{Rows, Table, Unreadable};

use crate::family::Family;
use crate::rows::RowReader;

use super::keys::row_key;
use super::personal::{Personal, VaultReader};
use super::rows::decode_row;

/// A store of bytes by key.
pub trait ByteReader {
    /// The value under a key.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be told what stands there; an absent key is no error.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable>;
}

/// The committed rows as a store of bytes, and their vault.
#[derive(Clone, Copy)]
pub struct StoredRows<'a>(pub &'a dyn RowReader);

impl ByteReader for StoredRows<'_> {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.0.get(family, key).map_err(|error| Unreadable { reason: error.to_string() })
    }
}

impl VaultReader for StoredRows<'_> {
    fn get_vault(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        ByteReader::get(self, Family::Vault, key)
    }
}

/// Typed look-ups. `personal` is of the merchant that is asked for.
#[derive(Clone, Copy)]
pub struct TypedRows<'a> {
    reader: &'a dyn ByteReader,
    personal: &'a dyn Personal,
}

impl<'a> TypedRows<'a> {
    /// Over a store of bytes.
    #[must_use]
    pub fn new(reader: &'a dyn ByteReader, personal: &'a dyn Personal) -> TypedRows<'a> {
        TypedRows { reader, personal }
    }

    /// The row under `key`. A merchant's tables are read below that merchant; the tables of all merchants
    /// whatever merchant is named.
    ///
    /// # Errors
    /// [`Unreadable`] when it cannot be told what stands there: the store does not answer, or the bytes are
    /// not what was written.
    pub fn get<T: Table>(&self, merchant: MerchantId, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        let key = T::key(key);
        let (family, bytes) = row_key(merchant, &key, self.personal);
        let Some(value) = self.reader.get(family, &bytes)? else { return Ok(None) };
        let row = decode_row(&key, &value, self.personal)?;
        Ok(T::unwrap(row))
    }

    /// The look-ups of one merchant, as the domain asks for them.
    #[must_use]
    pub fn of_merchant(self, merchant: MerchantId) -> MerchantRows<'a> {
        MerchantRows { rows: self, merchant }
    }
}

/// The rows of one merchant.
#[derive(Clone, Copy)]
pub struct MerchantRows<'a> {
    rows: TypedRows<'a>,
    merchant: MerchantId,
}

impl Rows for MerchantRows<'_> {
    fn get<T: Table>(&self, key: T::Key) -> Result<Option<T::Row>, Unreadable> {
        self.rows.get::<T>(self.merchant, key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use till_domain::records::{Customers, CustomersByEmail, Payments, PaymentsByExternalId};

    use super::super::rows::encode_row;
    use super::super::samples::{self, MERCHANT, OTHER_MERCHANT, TestPersonal};
    use super::*;

    #[derive(Default)]
    struct Bytes {
        rows: BTreeMap<(Family, Vec<u8>), Vec<u8>>,
        broken: bool,
    }

    impl ByteReader for Bytes {
        fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
            if self.broken {
                return Err(Unreadable { reason: "the disk failed".to_owned() });
            }
            Ok(self.rows.get(&(family, key.to_vec())).cloned())
        }
    }

    fn filled() -> Bytes {
        let mut bytes = Bytes::default();
        for (key, row) in samples::rows() {
            let value = encode_row(&row, &key, &mut TestPersonal::default()).expect("samples encode");
            bytes.rows.insert(row_key(MERCHANT, &key, &TestPersonal::default()), value);
        }
        bytes
    }

    #[test]
    fn rows_are_found_by_typed_keys_of_their_merchant_only() {
        let (bytes, personal) = (filled(), TestPersonal::default());
        let rows = TypedRows::new(&bytes, &personal);
        let payment = samples::payment();
        assert_eq!(rows.get::<Payments>(MERCHANT, payment.id), Ok(Some(payment.clone())));
        assert_eq!(rows.get::<Payments>(OTHER_MERCHANT, payment.id), Ok(None));
        let external_id = payment.external_id.expect("the sample has one");
        assert_eq!(rows.of_merchant(MERCHANT).get::<PaymentsByExternalId>(external_id), Ok(Some(payment.id)));
        let email = samples::customer().email.expect("the sample has one");
        let customer_id = rows.get::<CustomersByEmail>(MERCHANT, email).expect("readable").expect("is there");
        assert_eq!(rows.get::<Customers>(MERCHANT, customer_id), Ok(Some(samples::customer())));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_an_error_and_never_absent() {
        let (mut bytes, personal) = (filled(), TestPersonal::default());
        bytes.rows.values_mut().for_each(|value| value.truncate(3));
        let found = TypedRows::new(&bytes, &personal).get::<Payments>(MERCHANT, samples::payment().id);
        assert!(found.is_err(), "{found:?}");
        bytes.broken = true;
        let found = TypedRows::new(&bytes, &personal).get::<Payments>(MERCHANT, samples::payment().id);
        assert_eq!(found, Err(Unreadable { reason: "the disk failed".to_owned() }));
    }
}
