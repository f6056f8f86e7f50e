use std::cell::Cell;
use std::collections::BTreeMap;

use till_domain::ids::{CustomerId, SessionId};

use super::super::reader::MerchantReader;
use super::super::samples::{MERCHANT, OTHER_MERCHANT};
use super::*;
use crate::rows::{RowError, RowRange, Visit};
use crate::vault::RootKey;

const CUSTOMER: SubjectId = SubjectId::customer(CustomerId::from_bytes([3; 16]));
const LABEL: &str = "customer.name";
const NAME: &str = "Somchai Jaidee";

/// A vault in memory that counts its reads.
#[derive(Default)]
struct Vault {
    rows: RefCell<BTreeMap<Vec<u8>, Vec<u8>>>,
    reads: Cell<usize>,
}

impl Vault {
    fn store(&self, rows: Vec<(Vec<u8>, Vec<u8>)>) {
        self.rows.borrow_mut().extend(rows);
    }
}

impl RowReader for Vault {
    fn get(&self, _: Family, key: &[u8]) -> Result<Option<Vec<u8>>, RowError> {
        self.reads.set(self.reads.get() + 1);
        Ok(self.rows.borrow().get(key).cloned())
    }

    fn visit(&self, _: RowRange<'_>, _: &mut Visit<'_>) -> Result<(), RowError> {
        Ok(())
    }
}

fn keyring() -> Arc<Keyring> {
    let root = RootKey::from_hex(&"a".repeat(64)).expect("64 hexadecimal characters");
    Arc::new(Keyring::create(&root).expect("randomness").0)
}

fn customer(number: u16) -> SubjectId {
    let [high, low] = number.to_be_bytes();
    SubjectId::customer(CustomerId::from_bytes(std::array::from_fn(|index| if index == 0 { high } else { low })))
}

fn seal(personal: &mut impl Personal, subject: SubjectId) -> Vec<u8> {
    personal.seal(subject, LABEL, NAME).expect("a key can be had")
}

fn name() -> Result<Option<String>, ShapeError> {
    Ok(Some(NAME.to_owned()))
}

#[test]
fn a_sealed_text_opens_at_once_and_after_a_restart() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    assert_eq!(sealed.len(), TAG_LEN + 41 + NAME.len());
    assert_eq!(actor.open(CUSTOMER, LABEL, &sealed), name());
    let pending = actor.take_pending();
    assert_eq!(pending.len(), 1);
    assert!(actor.take_pending().is_empty());
    vault.store(pending);
    let restarted = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    assert_eq!(restarted.open(CUSTOMER, LABEL, &sealed), name());
    assert_eq!(MerchantReader::new(MERCHANT, Some(keyring), &vault).open(CUSTOMER, LABEL, &sealed), name());
}

#[test]
fn sealing_twice_gives_equal_bytes_and_makes_one_key() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    assert_eq!(seal(&mut actor, CUSTOMER), sealed);
    vault.store(actor.take_pending());
    assert_eq!(seal(&mut actor, CUSTOMER), sealed);
    assert!(actor.take_pending().is_empty());
    let mut reader = MerchantReader::new(MERCHANT, Some(keyring), &vault);
    assert_eq!(seal(&mut reader, CUSTOMER), sealed, "what `till verify` compares");
}

#[test]
fn a_forgotten_pending_key_is_not_used_again() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, keyring, &vault);
    let refused = seal(&mut actor, CUSTOMER);
    actor.forget_pending();
    assert!(actor.take_pending().is_empty());
    assert_eq!(actor.open(CUSTOMER, LABEL, &refused), Ok(None), "its key is nowhere");
    let sealed = seal(&mut actor, CUSTOMER);
    assert_ne!(sealed, refused);
    vault.store(actor.take_pending());
    assert_eq!(actor.open(CUSTOMER, LABEL, &sealed), name());
}

#[test]
fn after_a_failed_write_a_new_object_uses_no_unstored_key() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut dropped = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let lost = seal(&mut dropped, CUSTOMER);
    let failed_batch = dropped.take_pending();
    drop((dropped, failed_batch));
    let mut reloaded = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut reloaded, CUSTOMER);
    vault.store(reloaded.take_pending());
    let restarted = MerchantPersonal::new(MERCHANT, keyring, &vault);
    assert_eq!(restarted.open(CUSTOMER, LABEL, &sealed), name());
    assert_eq!(restarted.open(CUSTOMER, LABEL, &lost), Ok(None));
}

#[test]
fn a_handed_out_key_stays_in_use_until_it_is_stored() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, keyring, &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    let mut in_flight = actor.take_pending();
    for number in 1_000..2_000 {
        seal(&mut actor, customer(number));
        in_flight.extend(actor.take_pending());
    }
    assert_eq!(seal(&mut actor, CUSTOMER), sealed, "the vault does not show the key yet");
    assert_eq!(actor.fresh.len(), 1_001);
    vault.store(in_flight);
    for number in 2_000..3_100 {
        seal(&mut actor, customer(number));
        vault.store(actor.take_pending());
    }
    assert!(actor.fresh.len() <= HANDED_OUT_KEPT + 1, "{} are kept", actor.fresh.len());
    assert!(actor.opened.borrow().len() <= OPENED_KEYS_MAX);
    assert_eq!(seal(&mut actor, CUSTOMER), sealed);
}

#[test]
fn a_customer_who_comes_often_costs_one_read() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut first = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut first, CUSTOMER);
    vault.store(first.take_pending());
    vault.reads.set(0);
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let reader = MerchantReader::new(MERCHANT, Some(keyring), &vault);
    for _ in 0..10 {
        seal(&mut actor, CUSTOMER);
        assert_eq!(actor.open(CUSTOMER, LABEL, &sealed), name());
        assert_eq!(reader.open(CUSTOMER, LABEL, &sealed), name());
    }
    assert_eq!(vault.reads.get(), 2, "one for each object");
}

#[test]
fn an_erased_person_stays_erased_under_a_new_key() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    vault.store(actor.take_pending());
    let mut restarted = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    assert_eq!(restarted.open(CUSTOMER, LABEL, &sealed), name());
    vault.rows.borrow_mut().clear();
    for actor in [&mut actor, &mut restarted] {
        actor.forget_subject(CUSTOMER);
        assert_eq!(actor.open(CUSTOMER, LABEL, &sealed), Ok(None));
    }
    assert_eq!(
        MerchantReader::new(MERCHANT, Some(Arc::clone(&keyring)), &vault).open(CUSTOMER, LABEL, &sealed),
        Ok(None)
    );
    assert!(actor.seal(CUSTOMER, LABEL, NAME).is_err(), "who erased a customer makes no new key");
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let again = seal(&mut actor, CUSTOMER);
    vault.store(actor.take_pending());
    assert_eq!(actor.open(CUSTOMER, LABEL, &sealed), Ok(None), "erased, not damaged");
    assert_eq!(MerchantReader::new(MERCHANT, Some(keyring), &vault).open(CUSTOMER, LABEL, &again), name());
}

#[test]
fn a_remembered_field_is_only_for_its_text_label_and_subject() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let texts = ["one", "two", "one"].map(|text| (text, actor.seal(CUSTOMER, LABEL, text).expect("a key can be had")));
    let email = actor.seal(CUSTOMER, "customer.email", "one").expect("a key can be had");
    vault.store(actor.take_pending());
    let reader = MerchantReader::new(MERCHANT, Some(keyring), &vault);
    for (text, sealed) in &texts {
        assert_eq!(actor.open(CUSTOMER, LABEL, sealed), Ok(Some((*text).to_owned())));
        assert_eq!(reader.open(CUSTOMER, LABEL, sealed), Ok(Some((*text).to_owned())));
    }
    assert_eq!(reader.open(CUSTOMER, "customer.email", &email), Ok(Some("one".to_owned())));
    for number in 0..2_000 {
        seal(&mut actor, customer(number));
    }
    assert!(actor.fields.borrow().last.len() <= FIELDS_MAX);
}

#[test]
fn a_field_opens_at_its_label_of_its_subject_and_merchant_only() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    let same_bits = SubjectId::session(SessionId::from_bytes([3; 16]));
    seal(&mut actor, same_bits);
    vault.store(actor.take_pending());
    let moved = ShapeError::Sealed { label: "customer.email", source: SealedError::Refused };
    assert_eq!(actor.open(CUSTOMER, "customer.email", &sealed), Err(moved));
    assert_eq!(actor.open(same_bits, LABEL, &sealed), Ok(None), "sealed under another key");
    let other = MerchantReader::new(OTHER_MERCHANT, Some(keyring), &vault);
    assert_eq!(other.open(CUSTOMER, LABEL, &sealed), Ok(None), "a merchant that has no such subject");
}

#[test]
fn a_damaged_field_or_key_is_an_error_and_not_an_erasure() {
    let (keyring, vault) = (keyring(), Vault::default());
    let mut actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let sealed = seal(&mut actor, CUSTOMER);
    vault.store(actor.take_pending());
    for index in TAG_LEN..sealed.len() {
        let mut damaged = sealed.clone();
        damaged[index] ^= 0x40;
        assert!(actor.open(CUSTOMER, LABEL, &damaged).is_err(), "byte {index}");
    }
    assert!(actor.open(CUSTOMER, LABEL, &sealed[..TAG_LEN - 1]).is_err());
    vault.rows.borrow_mut().values_mut().for_each(|row| row[40] ^= 1);
    let error = ShapeError::Sealed { label: "subject key", source: SealedError::Refused };
    assert_eq!(MerchantReader::new(MERCHANT, Some(keyring), &vault).open(CUSTOMER, LABEL, &sealed), Err(error));
}

#[test]
fn a_reader_makes_no_keys() {
    let vault = Vault::default();
    let mut reader = MerchantReader::new(MERCHANT, Some(keyring()), &vault);
    assert!(reader.seal(CUSTOMER, LABEL, NAME).is_err());
}

#[test]
fn actor_and_reader_digest_alike_and_kinds_never_collide() {
    let (keyring, vault) = (keyring(), Vault::default());
    let actor = MerchantPersonal::new(MERCHANT, Arc::clone(&keyring), &vault);
    let reader = MerchantReader::new(MERCHANT, Some(Arc::clone(&keyring)), &vault);
    let other = MerchantReader::new(OTHER_MERCHANT, Some(keyring), &vault);
    let email = Email::from_stored("same".to_owned());
    let mobile = Mobile::from_stored("same".to_owned());
    assert_eq!(actor.email_digest(&email), reader.email_digest(&email));
    assert_eq!(actor.mobile_digest(&mobile), reader.mobile_digest(&mobile));
    assert_ne!(actor.email_digest(&email), actor.mobile_digest(&mobile));
    assert_ne!(actor.email_digest(&email), other.email_digest(&email), "tells nothing across merchants");
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|character| character.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("two digits")).collect()
}

/// A key ring under the root key `aa..`.
const GOLDEN_KEYRING: &str = "\
    54494c4c4b455953010834a79c63895cea18e71ebeb5dbf9b4a9013db1e9ddc9cb44e2b7e3d84a001a7eb3e8f1836df20275\
    310017d83a8fb2324feef4bf7a0c157eacf16293c18eb263ba2ff8414e3c245e5262bb6a815d6787154f44b860253b01cf02\
    bf140d4d9dc38ed8a9afbf498cc2c9430544d01a62460b81aa375cf1e13c769741a06f7184b24b171ce200616e324dfa79e5\
    30a5006695887577204beb2c0dd6903ba30bba0a3d8903a75fd1b0798b5fe740616da1f67dc4c3a55ab166a3632ce9561301\
    c13ffc6d9a5f313da32b451acdb0b12b7838b0d32adcb7188a454f6dac25aa2188ea51b06d5e39c1f6a8090094047e95f2fe\
    5222d36474a76d7289a39105b7fcb2a43bd7d88465708de1fba2c7da1357dffa85c3f3fb7d00db4ba4b35998f339dd6ea311\
    05bfc1f79d89f2dbafa8e4b5d137c558791705ac8833cacd3d0a2f7ed18f5bb1a69b0ba59b352c33908f9295f4cf7202a6da\
    a003e151aa348c1be8aee81f49e0b3476a10162d4c502b484731b771e1a2e32323486ced30de521a8b06bd43ccd701df22e3\
    aa2967c78c0dc73f39f8f08d119b5125190126abdfae1ac70f5e9ad23f7161256ea01e153711b407126b859029cd159b30c7\
    5456cffd60516520d0378a610acf07de88cdbd2e0c9d18d5284fc1f43912ac0a2fa175a1de123e12c36a7cddc2ccd063c7ec\
    4568d5fba28ef4bc04e25bfa68b0bc1a80b2a560a86cc6480208cd440fb6ad87f9849f925608101112131415161718191a1b\
    1c1d1e1f2021222324252627646d4f81b070044ba2db0876ffbd2c105aa9b7a6885a0b0d038f23cfa04f72dbf8890b7f3d74\
    ae62a48b08acdd72bde35dcc3db7";
/// The key of the vault row of [`CUSTOMER`].
const GOLDEN_VAULT_KEY: &str = "\
    a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a10303030303030303030303030303030303";
/// The wrapped key of [`CUSTOMER`].
const GOLDEN_SUBJECT_KEY: &str = "\
    014bd8ad6c6f60b37ea21c06bd5848556609a9d46560b3c383414e57311ec0b0b584db3c1e7ee5ef08662cfd634c8b025fb7\
    1cdba938b34a52ff699cbbbd1761e0a05d919a198c5aab";
/// [`NAME`], sealed with [`LABEL`] under that key.
const GOLDEN_SEALED: &str = "\
    e4236fc0a67a6647015ca5919f689bfa18f432e1f270629c3b62e8d4b8d0ed22d06e8739ffeb62555397d4d7b582b7f89e9d\
    efc99d201c6b8ff4af5472265e";

#[test]
fn a_sealed_field_is_the_bytes_that_format_1_wrote() {
    let root = RootKey::from_hex(&"a".repeat(64)).expect("64 hexadecimal characters");
    let keyring = Arc::new(Keyring::open(&root, &bytes(GOLDEN_KEYRING)).expect("its root key"));
    let vault = Vault::default();
    vault.store(vec![(bytes(GOLDEN_VAULT_KEY), bytes(GOLDEN_SUBJECT_KEY))]);
    let mut actor = MerchantPersonal::new(MERCHANT, keyring, &vault);
    assert_eq!(actor.open(CUSTOMER, LABEL, &bytes(GOLDEN_SEALED)), name());
    assert_eq!(seal(&mut actor, CUSTOMER), bytes(GOLDEN_SEALED), "a changed byte needs a new format of the field");
}

#[test]
fn an_actor_may_take_its_personal_data_to_another_thread() {
    fn check<T: Send>() {}
    check::<MerchantPersonal<Arc<dyn RowReader + Send + Sync>>>();
    check::<MerchantReader<Arc<dyn RowReader + Send + Sync>>>();
}
