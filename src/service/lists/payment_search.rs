//! The operator's search for payments, of one merchant or of all.

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::records::{PaymentsByExternalId, Rows};
use till_domain::text::ExternalId;
use till_protocol::api_error::ApiError;
use till_protocol::field::ListPageRequest;
use till_storage::rows::ScanDirection;
use till_storage::shapes::PaymentIndex;

use super::every_merchant::EveryMerchant;
use super::filtered_page::page_of;
use super::id_span::IdSpan;
use super::page::ListPage;
use crate::service::submission::{Reader, Service};

/// The property by which a payment is looked for.
#[derive(Debug, Clone)]
pub(crate) enum PaymentClue {
    /// Its id.
    Id(PaymentId),
    /// The identifier that its merchant gave it.
    ExternalId(ExternalId),
    /// The last four digits of its card.
    LastDigits([u8; 4]),
}

/// A payment and its merchant. The ids of payments tell the order of time, whatever their merchants.
pub(crate) type OwnedPayment = (PaymentId, MerchantId);

/// A search for payments.
pub(crate) struct PaymentSearch<'s> {
    /// The service, which the rows are read through.
    pub service: &'s Service,
    pub clue: PaymentClue,
    /// The merchant whose payments are looked at; all merchants when absent.
    pub merchant_id: Option<MerchantId>,
}

impl PaymentSearch<'_> {
    /// The page that a call asks for, of payments whose ids are in a span.
    ///
    /// # Errors
    /// [`ApiError::for_worker_pool`] for a search over all merchants on a thread that reads requests; `UNAVAILABLE`
    /// when a row cannot be read.
    pub(crate) async fn page(
        &self,
        request: ListPageRequest<PaymentId>,
        span: Option<IdSpan<PaymentId>>,
    ) -> Result<ListPage<OwnedPayment>, ApiError> {
        page_of(
            request,
            span,
            |(id, _)| *id,
            async |span, direction, wanted| self.collect(span, direction, wanted).await,
        )
        .await
    }

    /// At most `wanted` payments, in a direction.
    async fn collect(
        &self,
        span: Option<IdSpan<PaymentId>>,
        direction: ScanDirection,
        wanted: usize,
    ) -> Result<Vec<OwnedPayment>, ApiError> {
        let mut nearest = Nearest { rest: span, direction, wanted, found: Vec::new() };
        if let Some(merchant_id) = self.merchant_id {
            nearest.add(&self.service.reader(merchant_id).await?, &self.clue)?;
            return Ok(nearest.found);
        }
        let mut merchants = EveryMerchant::begin(self.service).await?;
        while !nearest.is_complete(&self.clue)
            && let Some(reader) = merchants.next().await?
        {
            nearest.add(&reader, &self.clue)?;
        }
        Ok(nearest.found)
    }
}

/// The payments that come first in a direction, among those of the merchants so far.
struct Nearest {
    /// The span in which others may still come before the last of them.
    rest: Option<IdSpan<PaymentId>>,
    direction: ScanDirection,
    wanted: usize,
    found: Vec<OwnedPayment>,
}

impl Nearest {
    /// Adds the payments of a merchant.
    fn add(&mut self, reader: &Reader<'_>, clue: &PaymentClue) -> Result<(), ApiError> {
        let Some(span) = self.rest else { return Ok(()) };
        let ids = ids_of(reader, clue, span, self.direction, self.wanted)?;
        self.found.extend(ids.into_iter().map(|id| (id, reader.merchant_id())));
        self.found.sort_unstable();
        if self.direction == ScanDirection::Backward {
            self.found.reverse();
        }
        self.found.truncate(self.wanted);
        if let Some((last, _)) = self.found.last().filter(|_| self.found.len() == self.wanted) {
            self.rest = match self.direction {
                ScanDirection::Backward => span.newer_than(*last),
                ScanDirection::Forward => span.older_than(*last),
            };
        }
        Ok(())
    }

    /// True when no other merchant has one that comes before these. An id belongs to one merchant.
    fn is_complete(&self, clue: &PaymentClue) -> bool {
        self.rest.is_none() || (matches!(clue, PaymentClue::Id(_)) && !self.found.is_empty())
    }
}

/// At most `wanted` payments of a merchant within a span, in a direction. That is one seek.
fn ids_of(
    reader: &Reader<'_>,
    clue: &PaymentClue,
    span: IdSpan<PaymentId>,
    direction: ScanDirection,
    wanted: usize,
) -> Result<Vec<PaymentId>, ApiError> {
    let id = match clue {
        PaymentClue::LastDigits(digits) => {
            let ends = (span.oldest, span.newest);
            let entries = reader.index_entries(&PaymentIndex::LastDigits(*digits), ends, direction, wanted)?;
            return Ok(entries.into_iter().map(|entry| entry.id).collect());
        }
        PaymentClue::Id(id) => reader.index_has(&PaymentIndex::All, *id)?.then_some(*id),
        PaymentClue::ExternalId(external_id) => reader.get::<PaymentsByExternalId>(external_id.clone())?,
    };
    Ok(id.filter(|id| span.range().contains(id)).into_iter().collect())
}
