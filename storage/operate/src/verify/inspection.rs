//! The rules for a merchant's stored rows that hold regardless of its log: the ledger, and the numbers of cards that
//! may still be charged. The inspection also adds up captures and payouts, for the comparison with the acquirer's book.

use std::collections::BTreeMap;

use till_domain::ids::{MerchantId, PaymentId};
use till_domain::ledger::{BalanceTotals, Cause, Direction, Entry, EntryStatus, Transaction};
use till_domain::payment::Payment;
use till_domain::payout::PayoutStatus;
use till_domain::records::{AnyKey, AnyRow, Balances, Entries, Payments, Rows, Single, Table, Transactions};
use till_domain::time::Millis;
use till_storage::family::Family;
use till_storage::shapes::{KeyParts, TableKind, decode_key, decode_row, row_key, table_range};
use till_storage::vault::{CardNumberOf, VaultKey};

use super::fault::{BookSums, FaultLocation, Wrong};
use super::job::Job;
use super::personal::ReplayPersonal;
use super::row_name::RowName;
use super::statements::StatementSums;
use super::walk::{RowWalk, WalkStep};

/// Inspects one merchant's rows.
pub(super) struct Inspection<'a, 'p> {
    pub(super) merchant_id: MerchantId,
    pub(super) personal: &'a ReplayPersonal<'p>,
    /// Time of the merchant's last event: tokens that had expired by then may have been removed.
    pub(super) now: Millis,
}

/// The sums of the rows.
#[derive(Debug, Default)]
struct Sums {
    entries: BalanceTotals,
    /// Refunds and disputes on hold of each payment, in minor units.
    held_debits: BTreeMap<PaymentId, u64>,
    entry_count: u64,
    /// The number of entries that the transactions have.
    entries_expected: u64,
    captures: BookSums,
    statements: StatementSums,
    /// True when a row could not be read, and so is not in the sums.
    incomplete: bool,
}

impl Inspection<'_, '_> {
    /// Inspects everything. Returns the captures, unless a row could not be read.
    pub(super) fn run(&self, job: &mut Job<'_>) -> Option<BookSums> {
        let mut sums = Sums::default();
        // Statements before entries, which are added to them.
        let of_the_ledger = [TableKind::Transactions, TableKind::Statements, TableKind::Entries];
        let of_the_acquirer = [TableKind::Tokens, TableKind::Payments, TableKind::Payouts, TableKind::Cards];
        for table in of_the_acquirer.into_iter().chain(of_the_ledger) {
            self.inspect_table(table, &mut sums, job);
        }
        if !sums.incomplete {
            self.add_uncovered(&mut sums);
            self.check_totals(&sums, job);
            self.check_strays(&sums, job);
            self.check_statements(&sums.statements, job);
        }
        (!sums.incomplete).then_some(sums.captures)
    }

    fn inspect_table(&self, table: TableKind, sums: &mut Sums, job: &mut Job<'_>) {
        for step in RowWalk::new(job.rows, table.family(), table_range(self.merchant_id, table)) {
            let WalkStep::Row(key, value) = step else {
                sums.incomplete = true;
                continue;
            };
            match self.decode(table.family(), &key, &value) {
                Ok(Some(row)) => self.inspect(row, sums, job),
                Ok(None) => {}
                Err(reason) => {
                    sums.incomplete = true;
                    job.row_fault(Some(self.merchant_id), table.family(), &key, Wrong::Undecodable { reason });
                }
            }
        }
    }

    fn decode(&self, family: Family, key: &[u8], value: &[u8]) -> Result<Option<AnyRow>, String> {
        match decode_key(family, key) {
            Ok((_, KeyParts::Row(key))) => {
                let row = decode_row(&key, value, self.personal).map_err(|error| error.to_string())?;
                Ok(Some(row))
            }
            Ok((_, KeyParts::AppliedPosition | KeyParts::Digest { .. })) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn inspect(&self, row: AnyRow, sums: &mut Sums, job: &mut Job<'_>) {
        if let AnyRow::Tokens(token) = row {
            if token.can_be_selected(self.now) {
                self.check_number(CardNumberOf::Token(token.id), &AnyKey::Tokens(token.id), job);
            }
        } else if let AnyRow::Cards(card) = row {
            if card.deleted_at.is_none() {
                self.check_number(CardNumberOf::Card(card.id), &AnyKey::Cards(card.id), job);
            }
        } else if let AnyRow::Payments(payment) = row {
            if Some(payment.acquirer) == job.acquirer {
                sums.add_capture(&payment);
            }
        } else if let AnyRow::Payouts(payout) = row {
            let has_ended = Some(payout.acquirer) == job.acquirer && payout.status != PayoutStatus::Pending;
            sums.captures.payouts += u64::from(has_ended);
        } else if let AnyRow::Transactions(transaction) = row {
            self.check_transaction(&transaction, sums, job);
        } else if let AnyRow::Statements(statement) = row {
            sums.statements.add_statement(&statement);
        } else if let AnyRow::Entries(entry) = row {
            sums.add_entry(&entry);
            sums.statements.add_entry(&entry);
        }
    }

    fn fault(&self, key: &AnyKey, wrong: Wrong, job: &mut Job<'_>) {
        let (family, key) = row_key(self.merchant_id, key, self.personal);
        job.row_fault(Some(self.merchant_id), family, &key, wrong);
    }

    fn is_known_faulty(&self, key: &AnyKey, job: &Job<'_>) -> bool {
        let (family, key) = row_key(self.merchant_id, key, self.personal);
        job.faults.knows(Some(self.merchant_id), &FaultLocation::Row(RowName::of(family, &key)))
    }

    /// Checks that a card has a number. A number that cannot be read is reported when the vault is checked.
    fn check_number(&self, of: CardNumberOf, row: &AnyKey, job: &mut Job<'_>) {
        let key = VaultKey::CardNumber { merchant: self.merchant_id, of }.encode();
        if job.rows.get(Family::Vault, &key) == Ok(None) {
            self.fault(row, Wrong::NumberMissing, job);
        }
    }

    fn check_transaction(&self, transaction: &Transaction, sums: &mut Sums, job: &mut Job<'_>) {
        if !transaction.is_balanced() {
            self.fault(&AnyKey::Transactions(transaction.id), Wrong::Unbalanced, job);
        }
        if transaction.is_held_capture() {
            sums.entries = sums.entries.with_uncovered(transaction.missing_minor(0));
        }
        for expected in transaction.balance_entries() {
            sums.entries_expected += 1;
            let wrong = match self.personal.get::<Entries>(expected.id) {
                Ok(Some(entry)) if entry == expected => continue,
                Ok(Some(_)) => Wrong::NotAsTransaction,
                Ok(None) => Wrong::Missing,
                Err(_) => continue, // Reported where entries are walked.
            };
            self.fault(&AnyKey::Entries(expected.id), wrong, job);
        }
    }

    /// Adds the part of refunds and disputes on hold that the captures of their payments do not cover. A capture that
    /// has settled covers nothing.
    fn add_uncovered(&self, sums: &mut Sums) {
        for (payment_id, held_minor) in &sums.held_debits {
            let Ok(Some(payment)) = self.personal.get::<Payments>(*payment_id) else { continue };
            let capture = payment.capture.map(|capture| self.personal.get::<Transactions>(capture.transaction_id));
            let held = capture.and_then(Result::ok).flatten().filter(|found| found.status == EntryStatus::OnHold);
            // The excess of a capture's own costs was added with the capture.
            let uncovered_minor =
                held.map_or(*held_minor, |held| held.missing_minor(*held_minor) - held.missing_minor(0));
            sums.entries = sums.entries.with_uncovered(uncovered_minor);
        }
    }

    fn check_totals(&self, sums: &Sums, job: &mut Job<'_>) {
        let Ok(totals) = self.personal.get::<Balances>(Single) else { return };
        // Totals that match the log and not a faulty entry are not at fault.
        let entries_are_sound = !job.faults.knows_rows_of(self.merchant_id, TableKind::Entries);
        if totals.unwrap_or_default() != sums.entries && entries_are_sound {
            self.fault(&AnyKey::Balances(Single), Wrong::Totals { totals, sums: sums.entries }, job);
        }
    }

    fn check_statements(&self, sums: &StatementSums, job: &mut Job<'_>) {
        // Statements that match the log, and not a faulty entry or statement, are not at fault.
        let rests_on = [TableKind::Entries, TableKind::Statements];
        if !rests_on.into_iter().any(|table| job.faults.knows_rows_of(self.merchant_id, table)) {
            for statement in sums.wrong() {
                self.fault(&AnyKey::Statements(statement.id), Wrong::NotAsEntries, job);
            }
        }
    }

    /// Reports entries without a transaction. Every transaction's entries were looked up, so that equal numbers mean
    /// that there are none.
    fn check_strays(&self, sums: &Sums, job: &mut Job<'_>) {
        if sums.entry_count == sums.entries_expected {
            return;
        }
        for step in RowWalk::new(job.rows, Family::Rows, table_range(self.merchant_id, TableKind::Entries)) {
            let WalkStep::Row(key, value) = step else { continue };
            let entry = self.decode(Family::Rows, &key, &value).ok().flatten().and_then(Entries::unwrap);
            if let Some(entry) = entry
                && !self.is_of_a_transaction(&entry, job)
            {
                self.fault(&AnyKey::Entries(entry.id), Wrong::NoTransaction, job);
            }
        }
    }

    fn is_of_a_transaction(&self, entry: &Entry, job: &Job<'_>) -> bool {
        let transaction = self.personal.get::<Transactions>(entry.transaction_id);
        match transaction {
            Ok(Some(transaction)) => transaction.balance_entries().any(|other| other.id == entry.id),
            Ok(None) => self.is_known_faulty(&AnyKey::Transactions(entry.transaction_id), job),
            Err(_) => true, // Reported where transactions are walked.
        }
    }
}

impl Sums {
    fn add_capture(&mut self, payment: &Payment) {
        if let Some(capture) = payment.capture {
            self.captures.count += 1;
            self.captures.captured_minor += u128::from(capture.amount_minor);
        }
    }

    fn add_entry(&mut self, entry: &Entry) {
        self.entry_count += 1;
        let total = match (entry.status, entry.direction) {
            (EntryStatus::OnHold, Direction::Credit) => &mut self.entries.held_credit_minor,
            (EntryStatus::OnHold, Direction::Debit) => &mut self.entries.held_debit_minor,
            (EntryStatus::Effective, Direction::Credit) => &mut self.entries.effective_credit_minor,
            (EntryStatus::Effective, Direction::Debit) => &mut self.entries.effective_debit_minor,
            (EntryStatus::Canceled, Direction::Credit | Direction::Debit) => return,
        };
        *total = total.saturating_add(entry.amount.get());
        if let (EntryStatus::OnHold, Cause::Refund(payment_id, _) | Cause::Dispute(payment_id, _)) =
            (entry.status, entry.cause)
        {
            let held = self.held_debits.entry(payment_id).or_default();
            *held = held.saturating_add(entry.amount.get());
        } else if let (EntryStatus::OnHold, Cause::Payout(_)) = (entry.status, entry.cause) {
            self.entries = self.entries.with_uncovered(entry.amount.get());
        }
    }
}
