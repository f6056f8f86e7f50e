//! Shapes of payment sessions and of their instruments.

use till_domain::ids::SessionId;
use till_domain::money::Money;
use till_domain::records::Unreadable;
use till_domain::session::{InstallmentPlan, Instrument, InterestBearer, Session};

use crate::vault::SubjectId;

use super::card::{CardFactsV1, TokenUsageV1};
use super::codec::{Decode, Out, ShapeError};
use super::customer::{CustomerFieldsV1, OF_SESSION};
use super::personal::Personal;
use super::shape::{Shape, shape_enum, shape_struct};

shape_struct! {
    /// An amount in a currency.
    MoneyV1 of Money {
        amount: u64,
        currency: [u8; 3],
    }
}

shape_enum! {
    /// The party that pays the interest of instalments.
    InterestBearerV1 of InterestBearer {
        Customer,
        Merchant,
    }
}

shape_enum! {
    /// An instalment plan.
    InstallmentPlanV1 of InstallmentPlan {
        SandboxThreeMonths,
    }
}

shape_enum! {
    /// The instrument that pays.
    InstrumentV1 of Instrument {
        UnnamedCard,
        Token { token_id: [u8; 16], usage: TokenUsageV1, card: CardFactsV1 },
        SavedCard { card_id: [u8; 16], owner: [u8; 16], card: CardFactsV1 },
        Installment { plan: InstallmentPlanV1, interest_bearer: InterestBearerV1 },
    }
}

/// A payment session. The subject of its customer fields is the session, since the customer to whom they lead is
/// known only when a payment is initiated.
#[derive(Debug, Decode)]
pub(super) struct SessionV1 {
    id: [u8; 16],
    installation_id: [u8; 16],
    money: MoneyV1,
    instrument: InstrumentV1,
    customer: CustomerFieldsV1,
    created_at: u64,
    expires_at: u64,
    payment_id: Option<[u8; 16]>,
}

impl Shape<Session> for SessionV1 {
    fn write(session: &Session, personal: &mut dyn Personal, out: &mut Out) -> Result<(), Unreadable> {
        let Session { id, installation_id, money, instrument, customer, created_at, expires_at, payment_id } = session;
        <[u8; 16]>::write(id, personal, out)?;
        <[u8; 16]>::write(installation_id, personal, out)?;
        MoneyV1::write(money, personal, out)?;
        InstrumentV1::write(instrument, personal, out)?;
        CustomerFieldsV1::seal(customer, SubjectId::session(*id), &OF_SESSION, personal, out)?;
        u64::write(created_at, personal, out)?;
        u64::write(expires_at, personal, out)?;
        Option::<[u8; 16]>::write(payment_id, personal, out)
    }

    fn unpack(self, personal: &dyn Personal) -> Result<Session, ShapeError> {
        let id: SessionId = self.id.unpack(personal)?;
        Ok(Session {
            id,
            installation_id: self.installation_id.unpack(personal)?,
            money: self.money.unpack(personal)?,
            instrument: self.instrument.unpack(personal)?,
            customer: self.customer.open(SubjectId::session(id), &OF_SESSION, personal)?,
            created_at: self.created_at.unpack(personal)?,
            expires_at: self.expires_at.unpack(personal)?,
            payment_id: self.payment_id.unpack(personal)?,
        })
    }
}
