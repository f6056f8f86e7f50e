//! Shapes of payment sessions and of their instruments.

use till_domain::money::Money;
use till_domain::session::{Instrument, Session};

use crate::vault::SubjectId;

use super::card::{CardAtAcquirerV1, InstrumentCardV1};
use super::customer::{CustomerFieldsV1, OF_SESSION};
use super::declared::{shape_enum, shape_struct};
use super::tag::Tag;

shape_struct! {
    /// An amount in a currency.
    MoneyV1 of Money {
        amount: u64,
        currency: [u8; 3],
    }
}

shape_enum! {
    /// The instrument that pays.
    InstrumentV1 of Instrument {
        UnnamedCard,
        Token { token_id: [u8; 16], usage: Tag, card: InstrumentCardV1 },
        SavedCard { card_id: [u8; 16], owner: [u8; 16], card: InstrumentCardV1 },
        Installment { plan: Tag, interest_bearer: Tag },
        PromptPay,
        MobileBanking,
        AcquirerPage { card: Option<CardAtAcquirerV1> },
    }
}

shape_struct! {
    /// A payment session. The subject of its customer fields is the session, since the customer to whom they lead is
    /// known only when a payment is initiated.
    SessionV1 of Session {
        id: [u8; 16],
        installation_id: [u8; 16],
        money: MoneyV1,
        instrument: InstrumentV1,
        customer: CustomerFieldsV1 as OF_SESSION,
        created_at: u64,
        expires_at: u64,
        payment_id: Option<[u8; 16]>,
    } sealed under SubjectId::session(*id)
}
