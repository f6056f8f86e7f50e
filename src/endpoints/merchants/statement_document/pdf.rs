//! The summary of a statement as PDF: the sums by type on one page.
//!
//! All characters of the font have the same width, so columns are counted in whole characters. Characters that the font
//! does not have are shown as boxes; the ids next to the name identify the merchant.

use std::sync::LazyLock;

use jiff::Timestamp;
use krilla::Document;
use krilla::geom::Point;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::surface::Surface;
use krilla::text::{Font, TextDirection};
use till_domain::ids::MerchantId;
use till_domain::ledger::Direction;
use till_domain::merchant::Profile;
use till_domain::statement::Statement;
use till_domain::time::Millis;

use crate::endpoints::created_at::zone;
use crate::protocol::api_error::ApiError;

/// The font, from the DejaVu project; its licence is beside it.
static FONT: LazyLock<Option<Font>> = LazyLock::new(|| {
    let bytes = include_bytes!("DejaVuSansMono.ttf").as_slice();
    Font::new(bytes.to_vec().into(), 0)
});

/// A4 in points.
const PAGE: (u16, u16) = (595, 842);
const MARGIN: u16 = 56;
const FONT_SIZE: u16 = 10;
const TITLE_SIZE: u16 = 16;
const LINE_HEIGHT: u16 = 15;
/// The width of a character at [`FONT_SIZE`], in points.
const CHARACTER: u16 = 6;
const LINE_CHARACTERS: usize = 80;
/// The character positions at which the columns of numbers end.
const COUNT_END: usize = 36;
const CREDITS_END: usize = 58;
const DEBITS_END: usize = 80;

/// The file's bytes.
///
/// # Errors
/// `UNHANDLED_ERROR` when it cannot be made.
pub(in super::super) fn pdf(
    statement: &Statement,
    merchant_id: MerchantId,
    profile: &Profile,
) -> Result<Vec<u8>, ApiError> {
    let mut document = Document::new();
    let title = format!("Statement {}", statement.month);
    document.set_metadata(Metadata::new().title(title.clone()).language("en".to_owned()));
    let settings = PageSettings::from_wh(f32::from(PAGE.0), f32::from(PAGE.1)).ok_or_else(ApiError::unhandled)?;
    let mut page = document.start_page_with(settings);
    let mut sheet = Sheet { surface: page.surface(), font: FONT.clone().ok_or_else(ApiError::unhandled)?, y: MARGIN };
    sheet.text(0, TITLE_SIZE, &title);
    sheet.skip(2);
    for line in heading(statement, merchant_id, profile) {
        sheet.text(0, FONT_SIZE, &line);
        sheet.skip(1);
    }
    sheet.skip(1);
    table(statement).iter().for_each(|row| sheet.row(row));
    drop(sheet); // Dropping it ends the page's content.
    page.finish();
    document.finish().map_err(|error| {
        tracing::error!(?error, statement_id = %statement.id, "a statement could not be laid out");
        ApiError::unhandled()
    })
}

/// A page that is written from top to bottom.
struct Sheet<'a> {
    surface: Surface<'a>,
    font: Font,
    /// The distance of the next line from the top, in points.
    y: u16,
}

impl Sheet<'_> {
    /// Writes a text that begins at this character position of the line.
    fn text(&mut self, character: usize, size: u16, text: &str) {
        let right = u16::try_from(character).unwrap_or(0).saturating_mul(CHARACTER);
        let start = Point::from_xy(f32::from(MARGIN.saturating_add(right)), f32::from(self.y));
        self.surface.draw_text(start, self.font.clone(), f32::from(size), text, false, TextDirection::Auto);
    }

    /// Writes a text of digits that ends before this character position of the line.
    fn number(&mut self, end: usize, text: &str) {
        self.text(end.saturating_sub(text.chars().count()), FONT_SIZE, text);
    }

    fn row(&mut self, SumRow { name, count, credits, debits }: &SumRow) {
        self.text(0, FONT_SIZE, name);
        self.number(COUNT_END, count);
        self.number(CREDITS_END, credits);
        self.number(DEBITS_END, debits);
        self.skip(1);
    }

    fn skip(&mut self, lines: u16) {
        self.y = self.y.saturating_add(lines.saturating_mul(LINE_HEIGHT));
    }
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct SumRow {
    name: String,
    count: String,
    credits: String,
    debits: String,
}

/// The merchant and the period of the statement, in lines that fit the page.
fn heading(statement: &Statement, merchant_id: MerchantId, profile: &Profile) -> Vec<String> {
    let name: Vec<char> = profile.name.as_str().chars().collect();
    let mut lines: Vec<String> = name.chunks(LINE_CHARACTERS).map(|line| line.iter().collect()).collect();
    let time = |at: Millis| local_time(at, profile);
    lines.extend([
        format!("Merchant   {merchant_id}"),
        format!("Statement  {}", statement.id),
        format!("Currency   {}", statement.currency),
        format!("Time zone  {}", profile.time_zone.as_str()),
        format!("From       {}", time(statement.starts_at)),
        format!("Until      {} (not included)", time(statement.ends_at)),
        format!("Closed     {}", time(statement.closed_at)),
    ]);
    lines
}

fn table(statement: &Statement) -> Vec<SumRow> {
    let digits = statement.currency.minor_digits();
    let amount = |minor: u64| decimal(i128::from(minor), digits);
    let balance = |name: &str, minor: i64| {
        let text = decimal(i128::from(minor), digits);
        SumRow { name: name.to_owned(), credits: text, ..SumRow::default() }
    };
    let heads = ["Type", "Entries", "Credits", "Debits"].map(str::to_owned);
    let [name, count, credits, debits] = heads;
    let mut rows = vec![
        balance("Opening balance", statement.opening_minor),
        SumRow::default(),
        SumRow { name, count, credits, debits },
    ];
    rows.extend(statement.entries.sums.iter().map(|sum| {
        let (name, count, amount) = (sum.entry_type.name().to_owned(), sum.count.to_string(), amount(sum.amount_minor));
        match sum.direction {
            Direction::Credit => SumRow { name, count, credits: amount, debits: String::new() },
            Direction::Debit => SumRow { name, count, credits: String::new(), debits: amount },
        }
    }));
    let total = |direction: Direction| amount(statement.entries.total_minor(direction));
    let (credits, debits) = (total(Direction::Credit), total(Direction::Debit));
    let count = statement.entries.count().to_string();
    rows.push(SumRow { name: "Total".to_owned(), count, credits, debits });
    rows.push(SumRow::default());
    rows.push(balance("Closing balance", statement.closing_minor()));
    rows
}

/// An amount in minor units as a decimal number with this number of digits after the point.
fn decimal(minor: i128, digits: u16) -> String {
    let sign = if minor < 0 { "-" } else { "" };
    let (digits, minor) = (usize::from(digits), minor.unsigned_abs().to_string());
    let padded = format!("{minor:0>width$}", width = digits.saturating_add(1));
    let (whole, fraction) = padded.split_at(padded.len().saturating_sub(digits));
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn local_time(at: Millis, profile: &Profile) -> String {
    let instant = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let local = instant.map(|instant| instant.to_zoned(zone(profile)).strftime("%Y-%m-%d %H:%M:%S %:z").to_string());
    local.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use till_domain::ids::StatementId;
    use till_domain::ledger::EntryType;
    use till_domain::statement::{EntrySum, Month, MonthEntries};
    use till_domain::text::{Name, TimeZone};

    use super::*;

    fn profile(name: &str) -> Profile {
        Profile {
            name: Name::new(name.to_owned()).expect("a name"),
            currency: "THB".parse().expect("a currency"),
            time_zone: TimeZone::from_stored("Asia/Bangkok".to_owned()),
            settlement_delay_seconds: 0,
            support_email: None,
            created_at: Millis(0),
            suspended: false,
            card_numbers_in_identifiers: false,
        }
    }

    fn statement(currency: &str) -> Statement {
        let sum = |entry_type, direction, count, amount_minor| EntrySum { entry_type, direction, count, amount_minor };
        let sums = vec![
            sum(EntryType::AddPrefund, Direction::Credit, 2, 9_007_199_254_740_991),
            sum(EntryType::PayOut, Direction::Debit, 1, 5),
        ];
        Statement {
            id: StatementId::from_bytes([0x29; 16]),
            month: Month { year: 2026, number: 11 },
            starts_at: Millis(1_793_466_000_000),
            ends_at: Millis(1_796_058_000_000),
            currency: currency.parse().expect("a currency"),
            opening_minor: -1_250,
            entries: MonthEntries { first: 1, sums },
            closed_at: Millis(1_796_058_000_017),
        }
    }

    fn file(name: &str) -> Vec<u8> {
        pdf(&statement("THB"), MerchantId::from_bytes([1; 16]), &profile(name)).expect("it can be laid out")
    }

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        assert_eq!(decimal(123_456, 2), "1234.56");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(0, 2), "0.00");
        assert_eq!(decimal(123_456, 0), "123456");
        assert_eq!(decimal(1, 3), "0.001");
        let closing = |currency: &str| table(&statement(currency)).pop().expect("the last line").credits;
        assert_eq!(closing("THB"), "90071992547397.36");
        assert_eq!(closing("JPY"), "9007199254739736");
        assert_eq!(closing("KWD"), "9007199254739.736");
    }

    #[test]
    fn the_table_has_each_type_between_the_balances() {
        let shown: Vec<[String; 4]> =
            table(&statement("THB")).into_iter().map(|row| [row.name, row.count, row.credits, row.debits]).collect();
        let row =
            |name: &str, count: &str, credits: &str, debits: &str| [name, count, credits, debits].map(str::to_owned);
        let expected = [
            row("Opening balance", "", "-12.50", ""),
            row("", "", "", ""),
            row("Type", "Entries", "Credits", "Debits"),
            row("ADD_PREFUND", "2", "90071992547409.91", ""),
            row("PAY_OUT", "1", "", "0.05"),
            row("Total", "3", "90071992547409.91", "0.05"),
            row("", "", "", ""),
            row("Closing balance", "", "90071992547397.36", ""),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_heading_says_the_month_in_the_time_of_the_merchant() {
        let lines = heading(&statement("THB"), MerchantId::from_bytes([1; 16]), &profile("Shop"));
        assert_eq!(lines[0], "Shop");
        assert_eq!(lines[5], "From       2026-11-01 00:00:00 +07:00");
        assert_eq!(lines[6], "Until      2026-12-01 00:00:00 +07:00 (not included)");
    }

    #[test]
    fn a_name_in_any_script_gives_a_file() {
        let long = "\u{0E23}\u{0E49}\u{0E32}\u{0E19}".repeat(60);
        let names = [
            "Shop",
            "Caf\u{E9} \u{141}\u{F3}d\u{17A}",
            "\u{5546}\u{5E97}",
            "\u{5D7}\u{5E0}\u{5D5}\u{5EA} shop",
            "\u{1F4B3}\u{200D}\u{1F4B3}",
            &long,
        ];
        for name in names {
            let file = file(name);
            assert!(file.starts_with(b"%PDF-"), "{name}");
            assert!(file.len() < 100_000, "{} bytes: the font is not made smaller", file.len());
        }
    }

    #[test]
    fn the_same_statement_gives_the_same_bytes() {
        assert_eq!(file("Shop"), file("Shop"));
    }
}
