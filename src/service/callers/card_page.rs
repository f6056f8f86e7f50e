//! The acquirer at whose page customers enter their cards: contract, sections 9.1 and 20.

use till_domain::acquirer::{AcquirerName, CardEntry};
use till_domain::payment_method::PaymentMethod;
use till_domain::records::{AcquirerAccounts, Integrations, Rows, Unreadable};

use crate::service::submission::Reader;

/// The acquirer at whose page customers enter the cards that pay now; none where they enter them in a form.
///
/// # Errors
/// [`Unreadable`] when a row cannot be read.
pub(crate) fn card_page(reader: &Reader<'_>) -> Result<Option<AcquirerName>, Unreadable> {
    let integration = reader.get::<Integrations>(PaymentMethod::Card)?;
    let account_id = integration.and_then(|integration| integration.acquirer.account_id());
    let account = account_id.map_or(Ok(None), |id| reader.get::<AcquirerAccounts>(id))?;
    Ok(account.filter(|account| account.card_entry == CardEntry::Page).map(|account| account.acquirer))
}
