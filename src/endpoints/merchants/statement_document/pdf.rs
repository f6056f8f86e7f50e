//! The summary of a statement as PDF: the balances, and the sums by type between them, on one page.
//!
//! All characters of the main font have the same width, so columns are counted in whole characters.

use jiff::{Timestamp, Zoned};
use krilla::Document;
use krilla::geom::{PathBuilder, Point};
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla::paint::Stroke;
use krilla::surface::Surface;
use till_domain::ids::MerchantId;
use till_domain::ledger::Direction;
use till_domain::merchant::Profile;
use till_domain::money::decimal;
use till_domain::statement::Statement;
use till_domain::time::Millis;
use till_protocol::api_error::ApiError;
use till_protocol::request_thread;

use super::fonts::{FILE_BYTES_MAX, FONTS, Fonts, is_east_asian};
use super::glyphs::{self, ratio};
use crate::endpoints::created_at::zone;

/// A4 in points.
const PAGE: (i32, i32) = (595, 842);
const MARGIN: i32 = 56;
const FONT_SIZE: i32 = 10;
const NAME_SIZE: i32 = 12;
const TITLE_SIZE: i32 = 16;
const LINE_HEIGHT: i32 = 15;
/// The width of a character at [`FONT_SIZE`], in points.
const CHARACTER: i32 = 6;
/// The length of a line in points: 80 characters at [`FONT_SIZE`].
const LINE: i32 = 480;
/// The character positions at which the columns of numbers end.
const COUNT_END: i32 = 50;
const AMOUNT_END: i32 = 80;
/// Thousandths, the unit of lengths on the page.
const THOUSAND: i32 = 1_000;

/// The file's bytes.
///
/// # Errors
/// `UNHANDLED_ERROR` when it cannot be made; [`ApiError::for_worker_pool`] when the merchant's name needs a large font
/// and this thread reads requests.
pub(in super::super) fn pdf(
    statement: &Statement,
    merchant_id: MerchantId,
    profile: &Profile,
) -> Result<Vec<u8>, ApiError> {
    if is_east_asian(profile.name.as_str()) {
        request_thread::check_bytes(FILE_BYTES_MAX)?;
    }
    file(&FONTS, statement, merchant_id, profile)
}

fn file(fonts: &Fonts, statement: &Statement, merchant_id: MerchantId, profile: &Profile) -> Result<Vec<u8>, ApiError> {
    let mut document = Document::new();
    let title = format!("Statement for {}", month_name(statement, profile));
    document.set_metadata(Metadata::new().title(title.clone()).language("en".to_owned()));
    let settings = PageSettings::from_wh(ratio(PAGE.0, 1), ratio(PAGE.1, 1)).ok_or_else(ApiError::unhandled)?;
    let mut page = document.start_page_with(settings);
    let mut sheet = Sheet { surface: page.surface(), fonts, y: MARGIN };
    sheet.line(TITLE_SIZE, &title);
    sheet.skip(1);
    sheet.name(profile.name.as_str());
    sheet.skip(1);
    heading(statement, merchant_id, profile).iter().for_each(|line| sheet.line(FONT_SIZE, line));
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
    fonts: &'a Fonts,
    /// The distance of the next line from the top, in points.
    y: i32,
}

impl Sheet<'_> {
    /// Writes a line.
    fn line(&mut self, size: i32, text: &str) {
        self.text(0, size, text);
        self.skip(1);
    }

    /// Writes the merchant's name, with a note below it when characters of it are replaced.
    ///
    /// The note is written first: from then on the sign that replaces a character means itself, and where it stands for
    /// another the file says so, for readers that copy or search the text.
    fn name(&mut self, name: &str) {
        let fonts = self.fonts;
        let lines = glyphs::lines(fonts, name, LINE * THOUSAND / NAME_SIZE);
        let top = self.y;
        let below = top.saturating_add(LINE_HEIGHT.saturating_mul(i32::try_from(lines.len()).unwrap_or(0)));
        let note = note(fonts, name);
        if let Some(note) = note {
            self.y = below;
            self.text(0, FONT_SIZE, note);
        }
        self.y = top;
        lines.iter().for_each(|line| self.line(NAME_SIZE, line));
        self.skip(note.map_or(0, |_| 1));
    }

    /// Writes a text that begins at this distance from the margin, in thousandths of a point.
    fn text(&mut self, mut x: i32, size: i32, text: &str) {
        for run in glyphs::runs(self.fonts, text) {
            let start = Point::from_xy(ratio(MARGIN * THOUSAND + x, THOUSAND), ratio(self.y, 1));
            let (font, size_points) = (run.face.font.clone(), ratio(size, 1));
            self.surface.draw_glyphs(start, &run.glyphs, font, &run.text, size_points, false);
            x = x.saturating_add(run.width.saturating_mul(size));
        }
    }

    /// Writes a text that ends at this character position of the line.
    fn number(&mut self, end: i32, text: &str) {
        let width = glyphs::width(self.fonts, text).saturating_mul(FONT_SIZE);
        self.text((end * CHARACTER * THOUSAND).saturating_sub(width), FONT_SIZE, text);
    }

    fn row(&mut self, Row { name, count, amount, is_underlined }: &Row) {
        self.text(0, FONT_SIZE, name);
        self.number(COUNT_END, count);
        self.number(AMOUNT_END, amount);
        if *is_underlined {
            self.rule();
        }
        self.skip(1);
    }

    /// Draws a line below the present one, with a gap below it.
    fn rule(&mut self) {
        let y = ratio(self.y.saturating_add(LINE_HEIGHT / 3), 1);
        let mut path = PathBuilder::new();
        path.move_to(ratio(MARGIN, 1), y);
        path.line_to(ratio(MARGIN + LINE, 1), y);
        let Some(path) = path.finish() else { return };
        self.surface.set_stroke(Some(Stroke { width: ratio(1, 2), ..Stroke::default() }));
        self.surface.draw_path(&path);
        self.surface.set_stroke(None);
        self.y = self.y.saturating_add(LINE_HEIGHT / 3);
    }

    fn skip(&mut self, lines: i32) {
        self.y = self.y.saturating_add(lines.saturating_mul(LINE_HEIGHT));
    }
}

/// The note below a name of which characters are replaced.
fn note(fonts: &Fonts, name: &str) -> Option<&'static str> {
    let is_replaced = glyphs::runs(fonts, name).iter().any(|run| run.is_replaced);
    is_replaced.then_some("\u{FFFD} stands for a character for which this server has no font.")
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Row {
    name: String,
    count: String,
    amount: String,
    is_underlined: bool,
}

impl Row {
    fn underlined(self) -> Row {
        Row { is_underlined: true, ..self }
    }
}

/// The merchant and the period of the statement.
fn heading(statement: &Statement, merchant_id: MerchantId, profile: &Profile) -> Vec<String> {
    vec![
        format!("Merchant   {merchant_id}"),
        format!("Statement  {}", statement.id),
        format!("Period     {}", period(statement, profile)),
        format!("Closed     {}", local_time(statement.closed_at, profile).strftime("%-d %B %Y, %H:%M:%S")),
        format!("Currency   {}", statement.currency),
    ]
}

/// The days of the month in the time of the merchant, such as `1 to 30 November 2026 (Asia/Bangkok)`.
fn period(statement: &Statement, profile: &Profile) -> String {
    let first = local_time(statement.starts_at, profile);
    let last = local_time(Millis(statement.ends_at.0.saturating_sub(1)), profile);
    let is_one_month = (first.year(), first.month()) == (last.year(), last.month());
    let first = first.strftime(if is_one_month { "%-d" } else { "%-d %B %Y" });
    format!("{first} to {} ({})", last.strftime("%-d %B %Y"), profile.time_zone.as_str())
}

/// The month, such as `November 2026`.
fn month_name(statement: &Statement, profile: &Profile) -> String {
    local_time(Millis(statement.ends_at.0.saturating_sub(1)), profile).strftime("%B %Y").to_string()
}

/// From the opening balance by credits and debits to the closing balance.
fn table(statement: &Statement) -> Vec<Row> {
    let [name, count, amount] = ["", "Entries", "Amount"].map(str::to_owned);
    let mut rows = vec![Row { name, count, amount, ..Row::default() }.underlined()];
    rows.push(balance("Opening balance", statement.opening_minor, statement));
    rows.extend(side("Credits", Direction::Credit, statement));
    rows.extend(side("Debits", Direction::Debit, statement));
    rows.push(Row::default().underlined());
    rows.push(balance("Closing balance", statement.closing_minor(), statement).underlined());
    rows
}

fn balance(name: &str, minor: i64, statement: &Statement) -> Row {
    let amount = decimal(i128::from(minor), statement.currency.minor_digits());
    Row { name: name.to_owned(), amount, ..Row::default() }
}

/// The sums of one side of the ledger with its total.
fn side(name: &str, direction: Direction, statement: &Statement) -> Vec<Row> {
    let digits = statement.currency.minor_digits();
    let row = |name: String, count: u64, minor: u64| Row {
        name,
        count: decimal(i128::from(count), 0),
        amount: decimal(i128::from(minor), digits),
        ..Row::default()
    };
    let sums = || statement.entries.sums.iter().filter(|sum| sum.direction == direction);
    let mut rows = vec![Row::default(), Row { name: name.to_owned(), ..Row::default() }];
    rows.extend(sums().map(|sum| row(format!("  {}", sum.entry_type.title()), sum.count, sum.amount_minor)));
    let count = sums().fold(0_u64, |count, sum| count.saturating_add(sum.count));
    rows.push(row(format!("  Total {}", name.to_lowercase()), count, statement.entries.total_minor(direction)));
    rows
}

fn local_time(at: Millis, profile: &Profile) -> Zoned {
    let instant = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    instant.unwrap_or(Timestamp::MAX).to_zoned(zone(profile))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;
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
            color: None,
        }
    }

    fn statement(currency: &str) -> Statement {
        let sum = |entry_type, direction, count, amount_minor| EntrySum { entry_type, direction, count, amount_minor };
        let sums = vec![
            sum(EntryType::AddPrefund, Direction::Credit, 1_002, 9_007_199_254_740_991),
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

    fn laid_out(name: &str) -> Vec<u8> {
        let fonts = Fonts::in_directories(Vec::new());
        file(&fonts, &statement("THB"), MerchantId::from_bytes([1; 16]), &profile(name)).expect("it can be laid out")
    }

    #[test]
    fn amounts_have_the_digits_of_their_currency() {
        let closing = |currency: &str| table(&statement(currency)).pop().expect("the last line").amount;
        assert_eq!(closing("THB"), "90,071,992,547,397.36");
        assert_eq!(closing("JPY"), "9,007,199,254,739,736");
        assert_eq!(closing("KWD"), "9,007,199,254,739.736");
    }

    #[test]
    fn the_table_has_each_type_between_the_balances() {
        let shown: Vec<[String; 3]> =
            table(&statement("THB")).into_iter().map(|row| [row.name, row.count, row.amount]).collect();
        let expected = [
            ["", "Entries", "Amount"],
            ["Opening balance", "", "-12.50"],
            ["", "", ""],
            ["Credits", "", ""],
            ["  Top-ups", "1,002", "90,071,992,547,409.91"],
            ["  Total credits", "1,002", "90,071,992,547,409.91"],
            ["", "", ""],
            ["Debits", "", ""],
            ["  Payouts", "1", "0.05"],
            ["  Total debits", "1", "0.05"],
            ["", "", ""],
            ["Closing balance", "", "90,071,992,547,397.36"],
        ];
        assert_eq!(shown, expected.map(|row| row.map(str::to_owned)));
    }

    #[test]
    fn the_heading_says_the_month_in_the_time_of_the_merchant() {
        let lines = heading(&statement("THB"), MerchantId::from_bytes([1; 16]), &profile("Shop"));
        assert_eq!(lines[2], "Period     1 to 30 November 2026 (Asia/Bangkok)");
        assert_eq!(lines[3], "Closed     1 December 2026, 00:00:00");
        assert_eq!(month_name(&statement("THB"), &profile("Shop")), "November 2026");
    }

    #[test]
    fn a_period_that_is_not_one_month_names_both() {
        let utc = Profile { time_zone: TimeZone::from_stored("UTC".to_owned()), ..profile("Shop") };
        assert_eq!(period(&statement("THB"), &utc), "31 October 2026 to 30 November 2026 (UTC)");
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
            "\u{301}\u{E48}",
            "\u{202E}\u{FE0F}",
            &long,
        ];
        for name in names {
            let file = laid_out(name);
            assert!(file.starts_with(b"%PDF-"), "{name}");
            assert!(file.len() < 100_000, "{} bytes: the font is not made smaller", file.len());
        }
    }

    #[test]
    fn a_statement_embeds_only_the_fonts_that_it_needs() {
        let has = |name: &str, font: &[u8]| laid_out(name).windows(font.len()).any(|bytes| bytes == font);
        let (main, thai): (&[u8], &[u8]) = (b"+DejaVuSansMono", b"+NotoSansThai");
        assert!(has("Shop", main) && !has("Shop", thai));
        let name = "\u{E23}\u{E49}\u{E32}\u{E19}";
        assert!(has(name, main) && has(name, thai));
    }

    /// The page's content and everything else that is compressed.
    fn inflated(file: &[u8]) -> Vec<u8> {
        const START: &[u8] = b"stream\n";
        let starts = (0..file.len()).filter(|at| file[*at..].starts_with(START));
        let mut text = Vec::new();
        for start in starts {
            // The bytes after the end of the stream are not read.
            let _ = ZlibDecoder::new(&file[start + START.len()..]).read_to_end(&mut text);
        }
        text
    }

    #[test]
    fn a_name_without_a_font_is_noted_and_can_be_copied() {
        let fonts = Fonts::in_directories(Vec::new());
        assert!(note(&fonts, "\u{682A}\u{5F0F} Shop").is_some_and(|note| note.starts_with('\u{FFFD}')));
        assert!(note(&fonts, "\u{E23}\u{E49}\u{E32}\u{E19} Shop").is_none());
        let content = inflated(&laid_out("\u{682A}\u{5F0F}"));
        let content = String::from_utf8_lossy(&content);
        assert!(content.contains("/ActualText<FEFF682A>") && content.contains("/ActualText<FEFF5F0F>"), "{content}");
    }

    #[test]
    fn the_same_statement_gives_the_same_bytes() {
        assert_eq!(laid_out("Shop"), laid_out("Shop"));
    }
}
