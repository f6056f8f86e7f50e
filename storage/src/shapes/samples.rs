//! A value of every shape that is always the same, for tests of bytes.

use std::collections::HashSet;

use till_domain::card::{Card, Token};
use till_domain::customer::Customer;
use till_domain::event::{Answer, Event, Mutation};
use till_domain::ids::MerchantId;
use till_domain::key::ApiKey;
use till_domain::merchant::Installation;
use till_domain::payment::Payment;
use till_domain::records::{AnyKey, AnyRow, MerchantState, Unreadable};
use till_domain::session::Session;
use till_domain::team::{Invitation, User};
use till_domain::text::{Email, Mobile};

use crate::vault::{SubjectId, SubjectKind};

use super::activity::{InvitationV1, UserV1};
use super::card::{CardV1, TokenV1};
use super::codec::ShapeError;
use super::customer::CustomerV1;
use super::drawn::{Draw, Drawn};
use super::merchant::{ApiKeyV1, InstallationV1};
use super::mutation::{AnswerV1, EventV1};
use super::payment::PaymentV1;
use super::personal::Personal;
use super::session::SessionV1;
use super::tables::{TableKind, draw_row};

/// The merchant of the samples.
pub(super) const MERCHANT: MerchantId = MerchantId::from_bytes([0xa1; 16]);
/// The next merchant after it.
pub(super) const OTHER_MERCHANT: MerchantId = MerchantId::from_bytes([0xa2; 16]);

/// Seals legibly, `C` for a customer's data and so on, so that golden bytes do not depend on a cipher.
#[derive(Debug, Default)]
pub(super) struct TestPersonal {
    /// The erased subjects.
    pub(super) erased: HashSet<SubjectId>,
}

fn seal_head(subject: SubjectId, label: &str) -> String {
    let kind = match subject.kind {
        SubjectKind::Customer => 'C',
        SubjectKind::Session => 'S',
        SubjectKind::Payment => 'P',
        SubjectKind::Token => 'T',
        SubjectKind::Checkout => 'K',
        SubjectKind::AcquirerPage => 'A',
    };
    format!("{kind}{:02x}{:02x}|{label}|", subject.id[0], subject.id[15])
}

impl Personal for TestPersonal {
    fn seal(&mut self, subject: SubjectId, label: &'static str, plain: &str) -> Result<Vec<u8>, Unreadable> {
        let reversed: String = plain.chars().rev().collect();
        Ok(format!("{}{reversed}", seal_head(subject, label)).into_bytes())
    }

    fn open(&self, subject: SubjectId, label: &'static str, sealed: &[u8]) -> Result<Option<String>, ShapeError> {
        let sealed = std::str::from_utf8(sealed).expect("sealed as text");
        let plain = sealed.strip_prefix(&seal_head(subject, label)).expect("opened where it was sealed");
        Ok((!self.erased.contains(&subject)).then(|| plain.chars().rev().collect()))
    }

    fn email_digest(&self, email: &Email) -> [u8; 32] {
        *blake3::hash(email.as_str().as_bytes()).as_bytes()
    }

    fn mobile_digest(&self, mobile: &Mobile) -> [u8; 32] {
        *blake3::hash(mobile.as_str().as_bytes()).as_bytes()
    }
}

/// The sample of a shape.
pub(super) fn sample<S: Drawn<D>, D>() -> D {
    S::draw(&mut Draw::sample(None))
}

/// A sample of an enum at each of its positions.
fn each<S: Drawn<D>, D>(variants: &[&str]) -> Vec<D> {
    (0..variants.len()).map(|position| S::draw(&mut Draw::sample(Some(position)))).collect()
}

macro_rules! samples {
    ($($name:ident: $domain:ty as $shape:ty;)+) => {$(
        pub(super) fn $name() -> $domain {
            sample::<$shape, _>()
        }
    )+};
}

samples! {
    api_key: ApiKey as ApiKeyV1;
    card: Card as CardV1;
    customer: Customer as CustomerV1;
    installation: Installation as InstallationV1;
    invitation: Invitation as InvitationV1;
    payment: Payment as PaymentV1;
    session: Session as SessionV1;
    token: Token as TokenV1;
    user: User as UserV1;
}

pub(super) fn payment_without_customer() -> Payment {
    Payment { customer_id: None, ..payment() }
}

/// One event of every kind, in the order of the kinds.
pub(super) fn events() -> Vec<Event> {
    each::<EventV1, _>(EventV1::VARIANTS)
}

/// One answer of every kind, in the order of the kinds.
pub(super) fn answers() -> Vec<Answer> {
    each::<AnswerV1, _>(AnswerV1::VARIANTS)
}

pub(super) fn mutation(events: Vec<Event>) -> Mutation {
    Mutation { events, ..Draw::sample(None).mutation() }
}

/// A row of every table, in the order of the tables.
pub(super) fn rows() -> Vec<(AnyKey, AnyRow)> {
    TableKind::ALL.iter().map(|table| draw_row(*table, &mut Draw::sample(None))).collect()
}

pub(super) fn state() -> MerchantState {
    Draw::sample(None).state()
}
