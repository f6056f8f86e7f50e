//! The ways in which a text of `terms` is found in the list of payments.

use till_domain::ids::{CustomerId, DisputeId, PaymentId, RefundId};
use till_domain::payment::Payment;
use till_domain::records::{
    Customers, CustomersByEmail, Disputes, Payments, PaymentsByExternalId, Refunds, Rows, Unreadable,
};
use till_domain::text::{EXTERNAL_ID_MAX_BYTES, Email, ExternalId};
use till_storage::rows::ScanDirection;
use till_storage::shapes::{MerchantView, PaymentIndex};

use super::merge::EntrySource;
use super::payment_filters::known;
use super::search::Selection;

/// The payments that a text leads to. It is any of these: the beginning of an `external_id`, in the letter case in which the
/// merchant wrote it; the whole id of a payment, of one of its refunds or disputes, or of its customer; the customer's
/// e-mail address; the last four digits of the card.
pub(super) struct PaymentTerms {
    /// The payment that an id leads to.
    payment_id: Option<PaymentId>,
    /// The customer that an id or an address leads to.
    customer_id: Option<CustomerId>,
    /// The text, where it is four digits.
    last_digits: Option<[u8; 4]>,
    /// The text as the beginning of an `external_id`.
    prefix: String,
    /// The payments whose `external_id` begins with it; none when they are too many.
    with_prefix: Option<EntrySource<PaymentIndex>>,
}

impl PaymentTerms {
    /// The payments that `text` leads to.
    ///
    /// # Errors
    /// [`Unreadable`] when a row cannot be read.
    pub(super) fn find(text: &str, view: &MerchantView<'_>) -> Result<PaymentTerms, Unreadable> {
        let lower_case = text.to_lowercase();
        let last_digits =
            text.as_bytes().try_into().ok().filter(|digits: &[u8; 4]| digits.iter().all(u8::is_ascii_digit));
        Ok(PaymentTerms {
            payment_id: payment_of(&lower_case, view)?,
            customer_id: customer_of(&lower_case, view)?,
            last_digits,
            with_prefix: known(|limit| ids_with_prefix(text, view, limit))?,
            prefix: text.to_owned(),
        })
    }

    /// Keeps the payments of a selection that the text leads to.
    pub(super) fn select(self, selection: &mut Selection<PaymentIndex>) {
        let PaymentTerms { payment_id, customer_id, last_digits, prefix, with_prefix } = self;
        let Some(with_prefix) = with_prefix else {
            selection.passing(move |payment: &Payment| {
                payment.external_id.as_ref().is_some_and(|own| own.as_str().starts_with(&prefix))
                    || Some(payment.id) == payment_id
                    || (customer_id.is_some() && payment.customer_id == customer_id)
                    || last_digits.is_some_and(|digits| has_last_digits(payment, digits))
            });
            return;
        };
        let by_id = payment_id.map(|id| EntrySource::Known([id].into()));
        let by_customer = customer_id.map(|id| EntrySource::Index(PaymentIndex::Customer(id)));
        let by_card = last_digits.map(|digits| EntrySource::Index(PaymentIndex::LastDigits(digits)));
        selection.any_source([with_prefix].into_iter().chain(by_id).chain(by_customer).chain(by_card).collect());
    }
}

fn has_last_digits(payment: &Payment, digits: [u8; 4]) -> bool {
    payment.instrument.card().is_some_and(|card| card.last_digits.as_bytes() == digits)
}

/// The payment with this id, or with a refund or dispute with this id.
fn payment_of(id: &str, view: &MerchantView<'_>) -> Result<Option<PaymentId>, Unreadable> {
    if let Ok(payment_id) = id.parse::<PaymentId>() {
        return Ok(view.get::<Payments>(payment_id)?.map(|payment| payment.id));
    }
    if let Ok(refund_id) = id.parse::<RefundId>() {
        return Ok(view.get::<Refunds>(refund_id)?.map(|refund| refund.payment_id));
    }
    let Ok(dispute_id) = id.parse::<DisputeId>() else { return Ok(None) };
    Ok(view.get::<Disputes>(dispute_id)?.map(|dispute| dispute.payment_id))
}

/// The customer with this id or e-mail address.
fn customer_of(text: &str, view: &MerchantView<'_>) -> Result<Option<CustomerId>, Unreadable> {
    if let Ok(customer_id) = text.parse::<CustomerId>() {
        return Ok(view.get::<Customers>(customer_id)?.map(|customer| customer.id));
    }
    Email::new(text).map_or(Ok(None), |email| view.get::<CustomersByEmail>(email))
}

/// At most `limit` payments whose `external_id` begins with a text.
fn ids_with_prefix(text: &str, view: &MerchantView<'_>, limit: usize) -> Result<Vec<PaymentId>, Unreadable> {
    // No text that begins with this one comes after this one with the last character there is, as often as it fits.
    let last = char::MAX.to_string().repeat(EXTERNAL_ID_MAX_BYTES / char::MAX.len_utf8());
    let keys = ExternalId::from_stored(text.to_owned())..=ExternalId::from_stored(format!("{text}{last}"));
    let rows = view.scan::<PaymentsByExternalId>(keys, ScanDirection::Forward, limit)?;
    Ok(rows.into_iter().map(|(_, id)| id).collect())
}
